import { describe, expect, it } from 'vitest';
import { usedOf } from '../../bench/usage-load/namespace-model.ts';
import { type Change, type OperationKind, planLoad } from '../../bench/usage-load/plan.ts';
import { usedKey } from '../../bench/usage-load/used-key.ts';

const options = { quotas: 8, pods: 75, rates: [10, 50], seconds: 20, seed: 7 };
const plan = planLoad(options);
const changes: readonly Change[] = plan.phases.flatMap((phase) => phase.changes);

describe('the plan of a load test', () => {
  it('is the same for the same seed, and another one for another', () => {
    const streamOf = (seed: number): string => JSON.stringify(planLoad({ ...options, seconds: 2, seed }).phases);
    expect(streamOf(7)).toBe(streamOf(7));
    expect(streamOf(8)).not.toBe(streamOf(7));
  });

  it('has as many quotas, pods and changes as asked, at even distances', () => {
    expect(plan.namespaces.size).toBe(8);
    expect([...plan.namespaces.values()].reduce((sum, { pods }) => sum + pods.size, 0)).toBe(75);
    expect(plan.phases.map((phase) => phase.changes.length)).toEqual([200, 1000]);
    expect(plan.phases[1]?.changes.slice(0, 3).map(({ dueMs }) => dueMs)).toEqual([0, 20, 40]);
  });

  it('has every kind of change', () => {
    const kinds = new Set<OperationKind>(changes.map(({ operation }) => operation.kind));
    expect([...kinds].toSorted()).toEqual([
      'configMapCreated',
      'configMapDeleted',
      'podCreated',
      'podDeleted',
      'podFinished',
      'podGrown',
      'podShrunk',
      'serviceClosed',
      'serviceOpened',
    ]);
  });

  it('has no change that leaves the usage as it is, so that a status tells which one it knows', () => {
    const shown = new Map([...plan.namespaces].map(([name, model]) => [name, usedKey(usedOf(model))]));
    for (const { namespace, operation, expected } of changes) {
      expect(expected, `${operation.kind} in ${namespace}`).not.toBe(shown.get(namespace));
      shown.set(namespace, expected);
    }
  });
});

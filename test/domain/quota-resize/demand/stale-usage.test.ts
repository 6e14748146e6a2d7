import { describe, expect, it } from 'vitest';
import { computeRequirement } from '../../../../domain/quota-resize/sizing/requirement.ts';
import {
  believedUsage,
  contradictionsOf,
  staleRequirement,
} from '../../../../domain/quota-resize/demand/stale-usage.ts';
import { cpu, demand, observation } from '../model/observations.ts';

const contradicted = (used: string, counted: string, observed: Parameters<typeof observation>[0] = {}) =>
  observation({ quota: cpu(used), contradictions: [{ resource: 'requests.cpu', used, counted }], ...observed });

describe('status.used and the objects that are there', () => {
  it('contradict each other where both have a number and the numbers differ by value', () => {
    const used = { pods: '3', 'requests.cpu': '1000m', 'requests.storage': '1Gi' };
    expect(contradictionsOf(used, { pods: '2', 'requests.cpu': '1', persistentvolumeclaims: '4' })).toEqual([
      { resource: 'pods', used: '3', counted: '2' },
    ]);
  });

  it('count with the number that asks for less', () => {
    expect(believedUsage(contradicted('9', '4'))).toEqual({ 'requests.cpu': '4' });
    expect(believedUsage(contradicted('4', '9'))).toEqual({ 'requests.cpu': '4' });
    expect(believedUsage(observation({ quota: cpu('9') }))).toEqual({ 'requests.cpu': '9' });
  });
});

describe('a requirement by a number that the other side contradicts', () => {
  it('is none, and is said with both numbers, whichever side is the higher', () => {
    const stale = contradicted('9', '4');
    expect(computeRequirement(stale, null)).toBeNull();
    expect(staleRequirement(stale, null)).toEqual([
      "requests.cpu: the quota's status says 9 CPU, but the objects add up to 4 CPU. By the status alone it would be raised to 12 CPU.",
    ]);
    const behind = contradicted('4', '9');
    expect(computeRequirement(behind, null)).toBeNull();
    expect(staleRequirement(behind, null)).toEqual([
      "requests.cpu: the quota's status says 4 CPU, but the objects add up to 9 CPU. By the objects alone it would be raised to 12 CPU.",
    ]);
  });

  it('is smaller where a requirement is left, and the rest is said on the proposal', () => {
    const observed = contradicted('9', '6', { demand: [demand({ 'requests.cpu': '5' })] });
    const requirement = computeRequirement(observed, null);
    expect(requirement?.changes).toMatchObject([{ used: '6', to: '14' }]);
    expect(requirement?.notes).toEqual(staleRequirement(observed, null));
    expect(staleRequirement(observed, null)[0]).toContain('By the status alone it would be raised to 18 CPU.');
  });

  it('is not said where it makes no difference', () => {
    expect(staleRequirement(contradicted('9', '8500m'), null)).toEqual([]);
    expect(staleRequirement(contradicted('4', '3'), null)).toEqual([]);
    expect(computeRequirement(contradicted('9', '8500m'), null)?.notes).toEqual([]);
  });
});

/** Rules of the VPSie autoscaler that are options here. */
import { describe, expect, it } from 'vitest';
import { opensFor } from '../../../../domain/node-group/rules/exclusive.ts';
import { isCoolingDown } from '../../../../domain/node-group/rules/cooldown.ts';

describe('a group that is exclusive', () => {
  const group = { exclusive: true, labels: { env: 'production' } };
  const pod = (nodeSelector: Readonly<Record<string, string>>) => ({ nodeSelector, nodeAffinity: null });

  it('opens nodes for pods that select one of its labels, and for no others', () => {
    expect([{ env: 'production' }, { env: 'test' }, {}].map((of) => opensFor(group, pod(of)))).toEqual([
      true,
      false,
      false,
    ]);
    const nodeAffinity = [{ matchExpressions: [{ key: 'env', operator: 'Exists' as const }] }];
    expect(opensFor(group, { nodeSelector: {}, nodeAffinity })).toBe(true);
  });

  it('has nothing to keep where it has no labels', () => {
    expect(opensFor({ exclusive: true, labels: {} }, pod({}))).toBe(true);
    expect(opensFor({ ...group, exclusive: false }, pod({}))).toBe(true);
  });
});

it('a cooldown is over at its end', () => {
  expect([null, 0, 1].map((last) => isCoolingDown(last, 60, 60))).toEqual([false, false, true]);
});

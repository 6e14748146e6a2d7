/** Rules of the VPSie autoscaler that are options here, or answer for its cases only. */
import { describe, expect, it } from 'vitest';
import { opensFor } from '../../../../domain/node-group/rules/exclusive.ts';
import { failedMachineEnd } from '../../../../domain/node-group/rules/failed-machine.ts';
import { groupScore } from '../../../../domain/node-group/rules/group-score.ts';
import { constraintOf } from '../../../../domain/node-group/rules/scheduling-message.ts';
import { isCoolingDown } from '../../../../domain/node-group/rules/cooldown.ts';

it.each([
  ['pods', '0/3 nodes are available: 3 Too many pods.'],
  ['cpu', '0/3 nodes are available: 1 Insufficient memory, 2 Insufficient cpu.'],
  ['memory', '0/3 nodes are available: 3 Insufficient memory.'],
  ['taint', '0/3 nodes are available: 3 node(s) had untolerated taint {dedicated: gpu}.'],
  ['anti_affinity', "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."],
  ['affinity', "0/3 nodes are available: 3 node(s) didn't match pod affinity rules."],
  ['node_selector', "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector."],
  ['unknown', 'something else'],
])('a message is about %s: %s', (constraint, message) => {
  expect(constraintOf(message)).toBe(constraint);
});

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

it('the score of a group has a part for each reason to take it', () => {
  const group = { maxNodes: 5, desiredNodes: 3, preferredInstanceType: null };
  expect(groupScore(group, 2)).toBe(200 + 100 + 200);
  expect(groupScore({ ...group, desiredNodes: 5 }, 2)).toBe(200);
  expect(groupScore({ ...group, preferredInstanceType: 'small' }, 0)).toBe(100 + 200 + 100);
  expect([10, 50, 100, 100_000].map((price) => groupScore(group, 0, price) - 300)).toEqual([500, 500, 250, 10]);
});

it('a machine that failed is deleted half an hour later, or when its group says so', () => {
  const machine = { phase: 'Failed', phaseSince: 60_000 } as const;
  expect([failedMachineEnd(machine), failedMachineEnd(machine, 1), failedMachineEnd(machine, 0)]).toEqual([
    1_860_000,
    60_001,
    null,
  ]);
  expect(failedMachineEnd({ ...machine, phase: 'Ready' })).toBeNull();
});

it('a cooldown is over at its end', () => {
  expect([null, 0, 1].map((last) => isCoolingDown(last, 60, 60))).toEqual([false, false, true]);
});

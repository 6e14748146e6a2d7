import { describe, expect, it } from 'vitest';
import { nodesForDeficit, simpleScaleUp } from '../../../../domain/node-group/rules/simple-estimate.ts';

const GIB = 1024 ** 3;

describe('the simple estimate', () => {
  it.each([
    [0, { cpu: 0, memory: 0, pods: 0 }],
    [1, { cpu: 0, memory: 0, pods: 1 }],
    [1, { cpu: 4000, memory: 8 * GIB, pods: 1 }],
    [2, { cpu: 4001, memory: GIB, pods: 3 }],
    [3, { cpu: 1000, memory: 17 * GIB, pods: 3 }],
    [2, { cpu: 100, memory: GIB, pods: 111 }],
  ])('is %d nodes of 4 cores, 8 GiB and 110 pods for %j', (nodes, deficit) => {
    expect(nodesForDeficit(deficit)).toBe(nodes);
  });

  it('adds one node at a time, once all that were asked for are ready', () => {
    const group = { desired: 3, ready: 3, maxNodes: 5 };
    const deficit = { cpu: 40_000, memory: GIB, pods: 10 };
    expect(simpleScaleUp(group, deficit, false)).toBe(4);
    expect(simpleScaleUp(group, deficit, true)).toBeNull();
    expect(simpleScaleUp({ ...group, ready: 2 }, deficit, false)).toBeNull();
    expect(simpleScaleUp({ ...group, maxNodes: 3 }, deficit, false)).toBeNull();
    expect(simpleScaleUp(group, { pods: 0 }, false)).toBeNull();
  });
});

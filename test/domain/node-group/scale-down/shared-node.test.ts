/** A Node that several machines name: nobody knows which of them it is, so nothing is done for it. */
import { describe, expect, it } from 'vitest';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { groupOf, machineOf, NOW, nodeOf, stateOf, typeOf } from '../builders.ts';

const HOUR = 3_600_000;
const LABEL = 'autoscaler.vpsie.com/vpsienode';

function planOf({ second, node }: { readonly second?: Partial<Machine>; readonly node?: Partial<Node> } = {}) {
  const settled = { node: 'host-1', phase: 'Ready', createdAt: NOW - HOUR } as const;
  const state = stateOf({
    groups: [groupOf('web', { replaceBeforeDrain: true })],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    nodes: [{ ...nodeOf('host-1'), createdAt: NOW - HOUR, ...node }],
    machines: [
      machineOf('web-1', 'web', { ...settled, providerId: 'p-1' }),
      machineOf('web-2', 'web', { ...settled, providerId: 'p-2', ...second }),
    ],
  });
  const since = { [`uid-host-1`]: NOW - HOUR };
  return planCluster(state, { blocked: {}, memory: { ...freshPlanMemory, unready: since }, requested: [] }).plan;
}

const UNKNOWN =
  'host-1 may be any of the machines web-1 and web-2: neither its providerID nor its label autoscaler.vpsie.com/vpsienode says which';

describe('of two machines that name one Node', () => {
  it('none is drained, and the reason names both', () => {
    expect(planOf().removals).toEqual([]);
    expect(planOf().kept).toEqual([
      { group: 'web', node: 'host-1', reason: 'MachineUnknown', detail: UNKNOWN, until: null },
    ]);
  });

  it('the one that was deleted waits with a word, whichever it is', () => {
    const [kept] = planOf({ second: { isDrainRequested: true } }).kept;
    expect(kept?.detail).toBe(`its VPSieNode web-2 was deleted, and it waits: ${UNKNOWN}`);
  });

  it('no other comes in the place of a node that is not ready', () => {
    const ready = { status: 'False', since: NOW - HOUR } as const;
    const { removals, newNodes, kept } = planOf({ node: { ready } });
    expect({ removals, newNodes }).toEqual({ removals: [], newNodes: [] });
    expect(kept).toMatchObject([{ reason: 'MachineUnknown' }]);
  });

  it('the one goes that the provider names, whatever the label says', () => {
    const node = { providerId: 'p-2', labels: { [LABEL]: 'web-1' } };
    const { removals } = planOf({ node, second: { isDrainRequested: true } });
    expect(removals).toMatchObject([{ node: 'host-1', machine: 'web-2', reason: 'Requested' }]);
  });
});

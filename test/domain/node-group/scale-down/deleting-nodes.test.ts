import { expect, it } from 'vitest';
import type { Machine } from '../../../../domain/node-group/model/node-group.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import { readNode } from '../../../../domain/node-group/scheduling/read-objects.ts';
import { groupOf, machineOf, stateOf, typeOf } from '../builders.ts';

function keptOf(finalizers: readonly string[], machine: Partial<Machine> = {}) {
  const node = readNode({
    metadata: { name: 'n', uid: 'uid-n', deletionTimestamp: '2026-01-01T00:00:00Z', finalizers },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
  const state = stateOf({
    groups: [groupOf('web')],
    instanceTypes: { web: [typeOf('small', 4, 16)] },
    nodes: [node],
    machines: [machineOf('m', 'web', { node: 'n', phase: 'Ready', ...machine })],
  });
  return planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [] }).plan.kept;
}

it('a Node that is being deleted and that a finalizer keeps is named, with who has to act', () => {
  const kept =
    'the Node is being deleted, and is kept by example.com/storage: whoever put that there has to take it off';
  expect(keptOf(['example.com/storage'])).toMatchObject([{ group: 'web', node: 'n', reason: 'NodeDeleting' }]);
  expect(keptOf(['example.com/storage'])[0]?.detail).toBe(kept);
  const [waits] = keptOf(['example.com/storage'], { isDrainRequested: true });
  expect(waits?.detail).toBe(`${kept}; m, which was deleted, waits for that`);
});

it('a Node that goes, or whose machine goes, is not', () => {
  expect(keptOf([])).toEqual([]);
  expect(keptOf(['example.com/storage'], { phase: 'Deleting', isDeleting: true })).toEqual([]);
});

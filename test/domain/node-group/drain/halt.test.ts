import { describe, expect, it } from 'vitest';
import { haltBefore } from '../../../../domain/node-group/drain/halt.ts';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import { machineOf, NOW, nodeOf } from '../builders.ts';

type State = 'ready' | 'lost' | 'leaving' | 'leaving lost';

/** What stands in the way of the first of these nodes of a group, beside so many sound ones of another. */
function haltOf(states: readonly State[], others = 10): string | null {
  const own = states.map((state, index): Node => {
    const node = nodeOf(`n${index}`);
    const annotations = state.startsWith('leaving') ? markPatch(node, 'a drain', NOW).metadata.annotations : {};
    const status = state.endsWith('lost') ? 'Unknown' : 'True';
    return { ...node, annotations: annotations as Node['annotations'], ready: { status, since: NOW } };
  });
  const sound = Array.from({ length: others }, (_, index) => nodeOf(`other${index}`));
  const machines = own.map(({ name }) => machineOf(`m-${name}`, 'web', { node: name, phase: 'Ready' }));
  return haltBefore({ group: 'web', node: 'n0' }, [...own, ...sound], machines, NOW);
}

describe('a node that is about to go', () => {
  it.each<readonly [readonly State[], boolean]>([
    [['leaving lost', 'ready', 'ready', 'ready'], false],
    [['leaving lost', 'ready'], false],
    // The control plane lost sight of more of them since the plan.
    [['leaving lost'], true],
    [['leaving lost', 'lost'], true],
    [['leaving lost', 'lost', 'lost', 'ready'], true],
    [['leaving', 'lost', 'lost', 'ready'], true],
    // One that is sound is not counted any more, so that the last ones of a group can go.
    [['leaving'], false],
    [['leaving', 'leaving', 'ready'], false],
    // The machines of others that leave may be gone already.
    [['leaving', 'leaving lost', 'leaving lost', 'ready'], false],
  ])('of %j is held: %s', (states, isHeld) => {
    expect(haltOf(states) !== null).toBe(isHeld);
  });

  it('is held where no node of the cluster is ready, and counts no machine that has not been a node yet', () => {
    expect(haltOf(['leaving', 'lost'], 0)).toMatch(/^none of the 1 nodes of the cluster is ready/);
    const joining = machineOf('m', 'web', { node: 'j', phase: 'Joining' });
    const lost: Node = { ...nodeOf('j'), ready: { status: 'False', since: NOW } };
    expect(haltBefore({ group: 'web', node: 'n' }, [lost, nodeOf('other')], [joining], NOW)).toBeNull();
  });
});

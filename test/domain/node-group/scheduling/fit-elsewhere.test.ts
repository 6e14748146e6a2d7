import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clusterPacking } from '../../../../domain/node-group/plan/cluster-packing.ts';
import { podsFitElsewhere } from '../../../../domain/node-group/scheduling/fit-elsewhere.ts';
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { boundTo, nodeOf, podOf, stateOf } from '../builders.ts';

const SMALL = { cpu: '2', memory: '8Gi', pods: '110' };
const web = (node: string, cpu: string) => boundTo(node, podOf(`web-${node}`, { cpu }));

/** What is left of each node, by the packing's own numbers. */
function left(packing: ReturnType<typeof clusterPacking>): unknown {
  return packing.slots.map(({ name, isClosed, free, podCount, pods }) => ({
    name,
    isClosed,
    // A resource of which nothing is left may be missing.
    free: Object.fromEntries(free.flatMap((amount, resource) => (amount === 0 ? [] : [[resource, amount]]))),
    podCount,
    classes: [...pods].filter(([, count]) => count > 0).length,
  }));
}

/** Every pod of the node is to be evicted. */
function ask(packing: ReturnType<typeof clusterPacking>, node: string, pods: readonly Pod[]) {
  return podsFitElsewhere(packing, node, { evicted: pods.filter((pod) => pod.node === node), goWithNode: [] });
}

describe('whether the pods of a node fit elsewhere', () => {
  it('counts what earlier nodes left behind', () => {
    const pods = [web('a', '1'), web('b', '1'), web('c', '1')];
    const state = stateOf({ nodes: ['a', 'b', 'c'].map((name) => nodeOf(name, SMALL)), pods });
    const packing = clusterPacking(state);
    expect(ask(packing, 'a', pods)).toEqual({ kind: 'fits' });
    // a's pod is on b or c now: one of them has room for one more.
    expect(ask(packing, 'b', pods).kind).toBe('unfit');
  });

  it('keeps room for what is pending', () => {
    const pods = [web('a', '1'), web('b', '1')];
    const nodes = [nodeOf('a', SMALL), nodeOf('b', SMALL)];
    expect(ask(clusterPacking(stateOf({ nodes, pods })), 'a', pods).kind).toBe('fits');
    const waiting = [...pods, podOf('waiting', { cpu: '1' }), podOf('waiting-too', { cpu: '1' })];
    expect(ask(clusterPacking(stateOf({ nodes, pods: waiting })), 'a', pods).kind).toBe('unfit');
  });

  it('lets pods of DaemonSets go with the node', () => {
    const daemon = web('a', '2');
    const state = stateOf({ nodes: [nodeOf('a', SMALL), nodeOf('b', SMALL)], pods: [daemon, web('b', '1')] });
    const goes = podsFitElsewhere(clusterPacking(state), 'a', { evicted: [], goWithNode: [daemon] });
    expect([goes.kind, ask(clusterPacking(state), 'a', [daemon]).kind]).toEqual(['fits', 'unfit']);
  });

  it('names the pod that fits nowhere and why', () => {
    const pinned = boundTo('a', podOf('pinned', { cpu: '1' }, { nodeSelector: { disk: 'ssd' } }));
    const nodes = [nodeOf('a', SMALL, { disk: 'ssd' }), nodeOf('b', SMALL)];
    const answer = ask(clusterPacking(stateOf({ nodes, pods: [pinned] })), 'a', [pinned]);
    expect(answer).toMatchObject({ kind: 'unfit', pod: { name: 'pinned' }, why: { by: 'NodeSelector' } });
  });

  it('does not count a node that is cordoned, nor one that is only on its way', () => {
    const pods = [web('a', '1')];
    const nodes = [nodeOf('a', SMALL), nodeOf('b', SMALL, {}, { unschedulable: true })];
    expect(ask(clusterPacking(stateOf({ nodes, pods })), 'a', pods)).toMatchObject({
      kind: 'unfit',
      why: { by: 'Cordoned' },
    });
  });

  it('leaves the packing as it was where they do not, whatever was asked before', () => {
    const size = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(fc.array(fc.array(size, { maxLength: 4 }), { minLength: 2, maxLength: 6 }), (loads) => {
        const nodes = loads.map((_, index) => nodeOf(`n${index}`, SMALL));
        const pods = loads.flatMap((load, index) =>
          load.map((quarter, each) => boundTo(`n${index}`, podOf(`p${index}-${each}`, { cpu: `${quarter * 250}m` }))),
        );
        const packing = clusterPacking(stateOf({ nodes, pods }));
        const fresh = left(packing);
        const begin = packing.mark();
        for (const { name } of nodes) {
          const before = left(packing);
          const answer = ask(packing, name, pods);
          if (answer.kind === 'unfit') expect(left(packing)).toEqual(before);
        }
        packing.rollback(begin);
        expect(left(packing)).toEqual(fresh);
      }),
      { seed: 15, numRuns: 200 },
    );
  });
});

describe('amounts that numbers do not hold exactly', () => {
  it('are there again when the pod has gone', () => {
    // Somebody wrote the name of the node into the pod: kube-scheduler was not asked.
    const huge = boundTo('a', podOf('huge', { memory: '16Ei' }));
    const state = stateOf({ nodes: [nodeOf('a', SMALL)], pods: [boundTo('a', podOf('small', { memory: '3' }))] });
    const packing = clusterPacking(state);
    const [slot] = packing.slots;
    if (slot === undefined) throw new Error('no node');
    const before = [...slot.free];
    packing.place(packing.classOf(huge), slot);
    expect(packing.misfit(packing.classOf(podOf('other', { memory: '1' })), slot)).toBe('Resources');
    packing.place(packing.classOf(huge), slot, -1);
    expect(slot.free).toEqual(before);
  });
});

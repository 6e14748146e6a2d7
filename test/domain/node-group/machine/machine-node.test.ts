import { describe, expect, it } from 'vitest';
import { machineNodePatch, nodesByMachine, ownersAmong } from '../../../../domain/node-group/machine/machine-node.ts';
import type { DrivenMachine } from '../../../../domain/node-group/machine/driven-machine.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Taint } from '../../../../domain/node-group/model/pod.ts';
import { groupOf, NOW, nodeOf as aNode } from '../builders.ts';
import { drivenOf } from './builders.ts';

const LABEL = 'autoscaler.vpsie.com/vpsienode';

function node(name: string, over: Partial<Node> = {}): Node {
  return { ...aNode(name), createdAt: NOW, ...over };
}

function nodeOf(machine: DrivenMachine, nodes: readonly Node[], others: readonly DrivenMachine[] = []): Node | null {
  return nodesByMachine(nodes, ownersAmong([machine, ...others])).get(machine.name) ?? null;
}

describe('the node of a machine', () => {
  it("is the one with the provider's name of it, also at the end of a longer one", () => {
    const machine = drivenOf({ providerId: '17' });
    const nodes = [node('a', { providerId: 'vpsie://117' }), node('b', { providerId: 'vpsie://dc-1/17' })];
    expect(nodeOf(machine, nodes)?.name).toBe('b');
    expect(nodeOf(machine, nodes.slice(0, 1))).toBeNull();
  });

  it('is the one with the name that the provider said, unless it is older or of another machine', () => {
    const machine = drivenOf({ hostname: 'host-1', providerId: 'p-1' });
    expect(nodeOf(machine, [node('host-1')])?.name).toBe('host-1');
    expect(nodeOf(machine, [node('host-1', { createdAt: NOW - 1 })])).toBeNull();
    const other = drivenOf({ name: 'web-2', node: 'host-1' });
    expect(nodeOf(machine, [node('host-1', { labels: { [LABEL]: 'web-2' } })], [other])).toBeNull();
  });
});

describe('what a node is given', () => {
  const own: Taint = { key: 'team', value: 'a', effect: 'NoSchedule' };
  const startup: Taint = { key: 'starting', effect: 'NoExecute' };
  const group = groupOf('web', { labels: { pool: 'web' }, taints: [own], startupTaints: [startup] });
  const foreign: Taint = { key: 'disk', effect: 'NoSchedule' };

  it("is its group's labels and taints, and startup taints go once it is ready; those of others stay", () => {
    const patch = machineNodePatch(group, drivenOf(), node('n', { taints: [startup, foreign] }), NOW);
    expect(patch).toEqual({
      metadata: {
        labels: {
          pool: 'web',
          'autoscaler.vpsie.com/managed': 'true',
          'autoscaler.vpsie.com/nodegroup': 'web',
          'autoscaler.vpsie.com/vpsienode': 'web-1',
          'autoscaler.vpsie.com/offering': 'small',
        },
      },
      spec: { taints: [foreign, own] },
    });
  });

  it('keeps its startup taints until it is ready', () => {
    const unready = node('n', { taints: [startup], ready: { status: 'False', since: NOW } });
    expect(machineNodePatch(group, drivenOf(), unready, NOW)?.spec?.taints).toEqual([startup, own]);
  });

  it('is nothing where it has all of it, and another value of a taint is put right', () => {
    const patch = machineNodePatch(group, drivenOf(), node('n', { taints: [{ ...own, value: 'b' }] }), NOW);
    expect(patch?.spec?.taints).toEqual([own]);
    const labels = patch?.metadata.labels ?? {};
    expect(machineNodePatch(group, drivenOf(), node('n', { labels, taints: [own] }), NOW)).toBeNull();
  });

  describe('that is to be filled later than others', () => {
    const later = drivenOf({ fillLater: 2 });
    const wishes: readonly Taint[] = [1, 2].map((number) => ({
      key: `autoscaler.vpsie.com/fill-later-${number}`,
      effect: 'PreferNoSchedule',
    }));
    const taintsOf = (over: Partial<Node>, now: number): readonly Taint[] | undefined =>
      machineNodePatch(group, later, node('n', over), now)?.spec?.taints;

    it('says so by taints that forbid nothing, before it is ready', () => {
      const ready = { status: 'False', since: NOW } as const;
      expect(taintsOf({ ready, taints: [foreign] }, NOW)).toEqual([foreign, own, ...wishes]);
      expect(taintsOf({ ready, taints: [own, ...wishes] }, NOW + 600_000)).toBeUndefined();
    });

    it('does not say so where it was ready before anybody looked', () => {
      expect(taintsOf({ taints: [own] }, NOW)).toBeUndefined();
    });

    it('keeps what its group gives its nodes, though it is called the same', () => {
      const named = { ...group, taints: wishes.slice(0, 1) };
      const taintsAfter = (taints: readonly Taint[]) =>
        machineNodePatch(named, later, node('n', { taints, ready: { status: 'True', since: NOW } }), NOW + 60_000)
          ?.spec;
      expect(taintsAfter(wishes)?.taints).toEqual(wishes.slice(0, 1));
      expect(taintsAfter(wishes.slice(0, 1))).toBeUndefined();
      const fresh = node('n', { ready: { status: 'False', since: NOW } });
      expect(machineNodePatch(named, later, fresh, NOW)?.spec?.taints).toEqual(wishes);
    });

    it('says it for a minute, and not when somebody has taken it off', () => {
      const ready = { status: 'True', since: NOW } as const;
      const taints = [foreign, own, ...wishes];
      expect(taintsOf({ ready, taints }, NOW + 59_999)).toBeUndefined();
      expect(taintsOf({ ready, taints: [own] }, NOW + 1)).toBeUndefined();
      expect(taintsOf({ ready, taints }, NOW + 60_000)).toEqual([foreign, own]);
    });
  });
});

import { describe, expect, it } from 'vitest';
import {
  isSure,
  machineNodePatch,
  nodeOfMachine,
  ownersOf,
} from '../../../../domain/node-group/machine/machine-node.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import type { Taint } from '../../../../domain/node-group/model/pod.ts';
import { groupOf, NOW, nodeOf } from '../builders.ts';
import { drivenOf } from './builders.ts';

const LABEL = 'autoscaler.vpsie.com/vpsienode';

function node(name: string, over: Partial<Node> = {}): Node {
  return { ...nodeOf(name), createdAt: NOW, ...over };
}

describe('the node of a machine', () => {
  it("is the one with the provider's name of it, also at the end of a longer one", () => {
    const machine = drivenOf({ providerId: '17' });
    const nodes = [node('a', { providerId: 'vpsie://117' }), node('b', { providerId: 'vpsie://dc-1/17' })];
    expect(nodeOfMachine(machine, nodes)?.name).toBe('b');
    expect(nodeOfMachine(machine, nodes.slice(0, 1))).toBeNull();
  });

  it('is the one with the name that the provider said, unless it is older or of another machine', () => {
    const machine = drivenOf({ hostname: 'host-1', providerId: 'p-1' });
    expect(nodeOfMachine(machine, [node('host-1')])?.name).toBe('host-1');
    expect(nodeOfMachine(machine, [node('host-1', { createdAt: NOW - 1 })])).toBeNull();
    expect(nodeOfMachine(machine, [node('host-1', { labels: { [LABEL]: 'web-2' } })])).toBeNull();
  });

  it('is deleted with it only where it is certain', () => {
    const machine = drivenOf({ hostname: 'host-1', providerId: 'p-1', node: 'host-1' });
    expect(isSure(machine, node('host-1'))).toBe(false);
    expect(isSure(machine, node('host-1', { providerId: 'p-1' }))).toBe(true);
    expect(isSure(machine, node('host-1', { labels: { [LABEL]: 'web-1' } }))).toBe(true);
    expect(isSure(machine, node('host-1', { providerId: 'p-1', labels: { [LABEL]: 'web-2' } }))).toBe(false);
  });
});

describe('of machines that name one node', () => {
  const machines = [drivenOf({ name: 'web-1', providerId: 'p-1' }), drivenOf({ name: 'web-2', providerId: 'p-2' })];
  const owners = (over: Partial<Node>) => ownersOf(node('host-1', over), machines).map(({ name }) => name);

  it("the one is meant that the node's label names, or else its provider", () => {
    expect(owners({ labels: { [LABEL]: 'web-2' }, providerId: 'p-1' })).toEqual(['web-2']);
    expect(owners({ labels: { [LABEL]: 'web-3' }, providerId: 'dc://p-1' })).toEqual(['web-1']);
    expect(owners({ providerId: 'p-2' })).toEqual(['web-2']);
  });

  it('each may be meant where nothing says which', () => {
    expect(owners({})).toEqual(['web-1', 'web-2']);
    expect(owners({ providerId: 'p-3' })).toEqual(['web-1', 'web-2']);
  });
});

describe('what a node is given', () => {
  const own: Taint = { key: 'team', value: 'a', effect: 'NoSchedule' };
  const startup: Taint = { key: 'starting', effect: 'NoExecute' };
  const group = groupOf('web', { labels: { pool: 'web' }, taints: [own], startupTaints: [startup] });
  const foreign: Taint = { key: 'disk', effect: 'NoSchedule' };

  it("is its group's labels and taints, and startup taints go once it is ready; those of others stay", () => {
    const patch = machineNodePatch(group, drivenOf(), node('n', { taints: [startup, foreign] }));
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
    expect(machineNodePatch(group, drivenOf(), unready)?.spec?.taints).toEqual([startup, own]);
  });

  it('is nothing where it has all of it, and another value of a taint is put right', () => {
    const patch = machineNodePatch(group, drivenOf(), node('n', { taints: [{ ...own, value: 'b' }] }));
    expect(patch?.spec?.taints).toEqual([own]);
    const labels = patch?.metadata.labels ?? {};
    expect(machineNodePatch(group, drivenOf(), node('n', { labels, taints: [own] }))).toBeNull();
  });
});

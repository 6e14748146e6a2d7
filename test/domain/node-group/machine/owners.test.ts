/** Stories of Nodes whose labels, names or providers contradict each other: what becomes of the machines. */
import { describe, expect, it } from 'vitest';
import type { DrivenMachine } from '../../../../domain/node-group/machine/driven-machine.ts';
import {
  foreignNode,
  goesWithMachine,
  nodesByMachine,
  ownersAmong,
} from '../../../../domain/node-group/machine/machine-node.ts';
import { nextMachineStep } from '../../../../domain/node-group/machine/next-step.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import { groupOf, NOW, nodeOf } from '../builders.ts';
import { drivenOf } from './builders.ts';

const LABEL = 'autoscaler.vpsie.com/vpsienode';
const HOUR = 3_600_000;

function hostOf(over: Partial<Node> & { readonly label?: string } = {}): Node {
  const { label, ...rest } = over;
  return { ...nodeOf('host-1'), createdAt: NOW, labels: label === undefined ? {} : { [LABEL]: label }, ...rest };
}

function machine(name: string, over: Partial<DrivenMachine> = {}): DrivenMachine {
  const ready = { phase: 'Ready', readyAt: NOW, node: 'host-1', providerId: null } as const;
  return drivenOf({ name, uid: `uid-${name}`, ...ready, ...over });
}

/** What is done next about each of the machines, an hour later. */
function stepsOf(machines: readonly DrivenMachine[], nodes: readonly Node[]) {
  const ownersOf = ownersAmong(machines);
  const found = nodesByMachine(nodes, ownersOf);
  return Object.fromEntries(
    machines.map((each) => {
      const node = found.get(each.name) ?? null;
      const owners = node === null ? [] : ownersOf(node);
      return [each.name, nextMachineStep(each, node, groupOf('web'), NOW + HOUR, owners).kind];
    }),
  );
}

function namesOf(node: Node, machines: readonly DrivenMachine[]): readonly string[] {
  return ownersAmong(machines)(node).map(({ name }) => name);
}

const [a, b] = [machine('a', { providerId: 'p-a' }), machine('b', { providerId: 'p-b' })];
const deleted = { isDrainRequested: true, drainsFirst: true } as const;

describe('a label that is a mistake', () => {
  it('does not let a machine be deleted undrained whose name the provider gave the Node', () => {
    const machines = [a, { ...b, ...deleted }];
    expect(stepsOf(machines, [hostOf({ label: 'a', providerId: 'cloud://p-b' })])).toEqual({ a: 'lost', b: 'settled' });
  });

  it('is never a sign that the Node is gone, and nothing of it is given up', () => {
    for (const label of ['x', 'c']) {
      const other = machine('c', { node: 'host-2' });
      const nodes = [hostOf({ label, providerId: 'p-a' }), { ...nodeOf('host-2'), createdAt: NOW }];
      expect(stepsOf([a, other], nodes)).toEqual({ a: 'settled', c: 'settled' });
      expect(stepsOf([{ ...a, providerId: null }, other], nodes)).toEqual({ a: 'settled', c: 'settled' });
    }
  });

  it('leaves plans, drains and deletions the machine that the provider names', () => {
    const node = hostOf({ label: 'a', providerId: 'p-b' });
    expect(namesOf(node, [a, b])).toEqual(['b']);
    expect(foreignNode('other', node, [b])).toBe('host-1 is no node of the NodeGroup other');
  });

  it('names a machine with another Node: nobody knows which of them it is', () => {
    const machines = [machine('a'), machine('c', { node: 'host-2' })];
    const node = hostOf({ label: 'c' });
    expect(namesOf(node, machines)).toEqual(['a', 'c']);
    expect(foreignNode('web', node, machines)).toContain('host-1 may be any of the machines a and c');
  });
});

describe('a Node that only its label says is a machine’s', () => {
  const stray = { ...hostOf({ label: 'c' }), name: 'stray' };
  const c = machine('c', { node: 'host-2' });

  it('is not drained for that machine', () => {
    expect(foreignNode('web', stray, ownersAmong([c])(stray))).toBe('stray is no node of the NodeGroup web');
  });

  it('becomes its Node where the former one is gone, so that nobody gives the machine up', () => {
    expect(stepsOf([c], [stray, { ...nodeOf('host-2'), createdAt: NOW }])).toEqual({ c: 'settled' });
    expect(stepsOf([c], [stray])).toEqual({ c: 'join' });
  });
});

describe('a Node that registers anew without labels', () => {
  const joining = { phase: 'Joining', node: null, hostname: 'host-1', readyAt: null, phaseSince: NOW + HOUR } as const;

  it('joins the machine that its provider names, and no other', () => {
    const machines = [a, { ...b, ...joining }];
    expect(stepsOf(machines, [hostOf({ providerId: 'p-b' })])).toEqual({ a: 'lost', b: 'join' });
  });

  it('joins none while two name it, and none of them is given up', () => {
    const machines = [machine('a', { phase: 'Joining' }), machine('b', joining)];
    const unready = { status: 'False', since: NOW } as const;
    expect(stepsOf(machines, [hostOf()])).toEqual({ a: 'await', b: 'await' });
    expect(stepsOf(machines, [hostOf({ ready: unready })])).toEqual({ a: 'await', b: 'await' });
    // Once somebody says which, it is that one's.
    expect(stepsOf(machines, [hostOf({ label: 'b' })])).toMatchObject({ b: 'join' });
  });

  it('is not given the label of one whose machine has lost its name to it before', () => {
    const older = machine('b', { ...joining, createdAt: NOW + 1 });
    expect(namesOf(hostOf(), [a, older])).toEqual(['a']);
  });
});

describe('of machines that name one Node', () => {
  it('the one is meant that the provider names, then the one of the label, and else each', () => {
    expect(namesOf(hostOf({ label: 'b', providerId: 'p-a' }), [a, b])).toEqual(['a']);
    expect(namesOf(hostOf({ label: 'b' }), [a, b])).toEqual(['b']);
    expect(namesOf(hostOf({ label: 'c', providerId: 'p-c' }), [a, b])).toEqual(['a', 'b']);
    expect(namesOf(hostOf(), [a, b])).toEqual(['a', 'b']);
  });

  it('none is certain by its name alone, so that the Node is not deleted with it', () => {
    expect(goesWithMachine(a, hostOf())).toBe(false);
    expect(goesWithMachine(a, hostOf({ label: 'x', providerId: 'p-a' }))).toBe(true);
    expect(goesWithMachine(a, hostOf({ label: 'a' }))).toBe(true);
  });
});

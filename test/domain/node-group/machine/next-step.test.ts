import { describe, expect, it } from 'vitest';
import { markPatch } from '../../../../domain/node-group/drain/marks.ts';
import type { DrivenMachine } from '../../../../domain/node-group/machine/driven-machine.ts';
import { nextMachineStep } from '../../../../domain/node-group/machine/next-step.ts';
import type { Node } from '../../../../domain/node-group/model/node.ts';
import { groupOf, NOW, nodeOf } from '../builders.ts';
import { drivenOf } from './builders.ts';

const MINUTE = 60_000;
const group = groupOf('web');
const ready = nodeOf('node-1');
const unready: Node = { ...ready, ready: { status: 'False', since: NOW } };

function stepOf(over: Partial<DrivenMachine>, node: Node | null = null, now = NOW, isDeleting = false) {
  return nextMachineStep(drivenOf(over), node, { ...group, isDeleting }, now);
}

describe('a machine without a node', () => {
  it('is asked for until the provider has answered, and then its node is awaited', () => {
    expect(stepOf({ phase: 'Pending' })).toEqual({ kind: 'ask' });
    expect(stepOf({ phase: 'Provisioning' })).toEqual({ kind: 'ask' });
    expect(stepOf({ phase: 'Joining', providerId: 'p-1', hostname: 'node-1' })).toMatchObject({ kind: 'await' });
  });

  it('is asked for again where the provider has not said how its node is called', () => {
    expect(stepOf({ phase: 'Joining', providerId: 'p-1', hostname: '' })).toEqual({ kind: 'ask' });
  });

  it('has its time from when the provider was asked for it, however long it waited for its turn', () => {
    expect(stepOf({ phase: 'Pending', askedAt: null }, null, NOW + 59 * MINUTE)).toEqual({ kind: 'ask' });
    expect(stepOf({ phase: 'Pending', askedAt: null }, null, NOW + 60 * MINUTE)).toMatchObject({ kind: 'giveUp' });
    const askedAt = NOW + 50 * MINUTE;
    const joining = { phase: 'Joining', providerId: 'p-1', hostname: 'node-1', askedAt, phaseSince: askedAt } as const;
    expect(stepOf(joining, null, askedAt + 15 * MINUTE - 1)).toMatchObject({ kind: 'await' });
    expect(stepOf(joining, null, askedAt + 15 * MINUTE)).toMatchObject({ kind: 'giveUp', failed: true });
  });

  it('is given up when its time is over, as a failure', () => {
    const late = NOW + 15 * MINUTE;
    const joining = { phase: 'Joining', providerId: 'p-1', hostname: 'node-1' } as const;
    expect(stepOf({ phase: 'Provisioning' }, null, late)).toMatchObject({ kind: 'giveUp', failed: true });
    expect(stepOf(joining, null, late)).toMatchObject({ kind: 'giveUp', failed: true });
    expect(stepOf(joining, null, late - 1)).toMatchObject({ kind: 'await' });
  });

  it('of a group that is being deleted is not asked for any more', () => {
    expect(stepOf({ phase: 'Pending' }, null, NOW, true)).toMatchObject({ kind: 'giveUp', failed: false });
  });
});

describe('a machine with a node', () => {
  it('joins, and is settled once it was ready', () => {
    expect(stepOf({ phase: 'Joining' }, unready)).toMatchObject({ kind: 'join', isReady: false });
    expect(stepOf({ phase: 'Joining' }, ready)).toMatchObject({ kind: 'join', isReady: true });
    expect(stepOf({ phase: 'Ready', readyAt: NOW }, ready)).toEqual({ kind: 'settled' });
    // A node that is not ready any more is a matter of the plan, which drains it first.
    expect(stepOf({ phase: 'Ready', readyAt: NOW }, unready, NOW + 60 * MINUTE)).toEqual({ kind: 'settled' });
  });

  it('joins once more when its node has said for long enough that it is to be filled later', () => {
    const taints = [{ key: 'autoscaler.vpsie.com/fill-later-1', effect: 'PreferNoSchedule' }] as const;
    const later = { ...ready, taints, ready: { status: 'True', since: NOW } } as const;
    const stepAt = (now: number): object => stepOf({ phase: 'Ready', readyAt: NOW }, later, now);
    expect(stepAt(NOW + MINUTE - 1)).toEqual({ kind: 'settled' });
    expect(stepAt(NOW + MINUTE)).toMatchObject({ kind: 'join', isReady: true });
    // Its node may stay when the group is gone.
    expect(stepOf({ phase: 'Ready', readyAt: NOW }, later, NOW, true)).toMatchObject({ kind: 'join', isReady: true });
  });

  it('is left to its drain while it is about to go, and joins again where that took its marks back', () => {
    const annotations = markPatch(ready, 'node-drain/c/uid', NOW).metadata.annotations as Readonly<
      Record<string, string>
    >;
    const going = { phase: 'Deleting', readyAt: NOW } as const;
    expect(stepOf(going, { ...ready, annotations, isCordoned: true })).toEqual({ kind: 'settled' });
    expect(stepOf(going, ready)).toMatchObject({ kind: 'join', isReady: true });
  });

  it('that is not ready in time is given up, and joins where it is ready just then', () => {
    const late = NOW + 15 * MINUTE;
    expect(stepOf({ phase: 'Joining' }, unready, late)).toMatchObject({ kind: 'giveUp', failed: true });
    expect(stepOf({ phase: 'Joining' }, ready, late)).toMatchObject({ kind: 'join', isReady: true });
  });

  it('that registered once more is given what it had lost', () => {
    const again = { ...ready, createdAt: NOW + 1 };
    expect(stepOf({ phase: 'Ready', readyAt: NOW }, again)).toMatchObject({ kind: 'join', isReady: true });
    const labelled = { ...again, labels: { 'autoscaler.vpsie.com/vpsienode': 'web-1' } };
    expect(stepOf({ phase: 'Ready', readyAt: NOW }, labelled)).toEqual({ kind: 'settled' });
  });
});

describe('a machine whose node is gone', () => {
  it('has its whole time to register again, and is no failed request when it does not', () => {
    const late = NOW + 60 * MINUTE;
    const was = { readyAt: NOW, node: 'node-1', hostname: 'node-1', providerId: 'p-1' } as const;
    expect(stepOf({ ...was, phase: 'Ready' }, null, late)).toMatchObject({ kind: 'lost' });
    const back = { ...was, phase: 'Joining', phaseSince: late } as const;
    expect(stepOf(back, null, late)).toMatchObject({ kind: 'await' });
    expect(stepOf(back, null, late + 15 * MINUTE)).toMatchObject({ kind: 'giveUp', failed: false });
  });

  it('is looked for again also where the VPSie autoscaler had begun to end it', () => {
    expect(stepOf({ phase: 'Terminating', node: 'node-1' })).toMatchObject({ kind: 'lost' });
    expect(stepOf({ phase: 'Terminating', node: 'node-1' }, ready)).toMatchObject({ kind: 'join' });
  });
});

describe('a machine that ends', () => {
  it('is deleted whatever else is true of it, and one that failed is given up again', () => {
    expect(stepOf({ isDeleting: true, phase: 'Failed' }, ready)).toEqual({ kind: 'delete' });
    expect(stepOf({ phase: 'Failed', lastError: 'no more quota' }, ready)).toEqual({
      kind: 'giveUp',
      detail: 'no more quota',
      failed: true,
    });
  });

  it('has its time to register again also where its group is being deleted, once its node was ready', () => {
    expect(stepOf({ phase: 'Ready', node: 'node-1', readyAt: NOW }, null, NOW, true)).toMatchObject({ kind: 'lost' });
    expect(stepOf({ phase: 'Joining', node: null }, null, NOW, true)).toMatchObject({ kind: 'giveUp', failed: false });
  });

  it('is left to a drain while it has a node, also where its object does not name that yet, and goes when the node is gone', () => {
    const asked = { drainsFirst: true, isDrainRequested: true, phase: 'Ready', node: 'node-1' } as const;
    expect(stepOf(asked, ready)).toEqual({ kind: 'settled' });
    expect(stepOf(asked)).toEqual({ kind: 'delete' });
    const early = { drainsFirst: true, isDeleting: true, phase: 'Joining', node: null } as const;
    expect(stepOf(early, ready)).toMatchObject({ kind: 'join' });
    expect(stepOf(early)).toEqual({ kind: 'delete' });
  });

  it('joins again where it was deleted after its drain had been given up at the last moment, as nothing drains it otherwise', () => {
    const deleted = { isDeleting: true, phase: 'Deleting', phaseSince: NOW, node: 'node-1', readyAt: NOW } as const;
    expect(stepOf(deleted, ready)).toMatchObject({ kind: 'join', isReady: true });
    const { annotations } = markPatch(ready, 'node-drain/c/uid', NOW).metadata;
    const marked = { ...ready, annotations: annotations as Node['annotations'], isCordoned: true };
    expect(stepOf(deleted, marked)).toEqual({ kind: 'delete' });
    expect(stepOf(deleted)).toEqual({ kind: 'delete' });
    // A kubelet registers once more while its machine goes.
    expect(stepOf(deleted, { ...ready, createdAt: NOW + 1 })).toEqual({ kind: 'delete' });
    expect(stepOf({ ...deleted, goesUndrained: true }, ready)).toEqual({ kind: 'delete' });
  });
});

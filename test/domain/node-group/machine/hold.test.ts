import { describe, expect, it } from 'vitest';
import { machineBody, readMachine } from '../../../../domain/node-group/api/machine.ts';
import { DELETE_WITHOUT_DRAIN, GROUP_UID_LABEL, MACHINE_FINALIZER } from '../../../../domain/node-group/api/names.ts';
import { readDrivenMachine } from '../../../../domain/node-group/machine/driven-machine.ts';
import { holdPatch, isOfGroup, isOrphaning, letGoPatch } from '../../../../domain/node-group/machine/hold.ts';
import { groupOf } from '../builders.ts';

const group = { name: 'web', uid: 'uid-web' };
const owner = { apiVersion: 'autoscaler.vpsie.com/v1alpha1', kind: 'NodeGroup', name: 'web', uid: 'uid-web' };
const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: 'u' };

interface Written {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly object[];
  readonly deletionTimestamp?: string;
}

const held: Written = { labels: { [GROUP_UID_LABEL]: 'uid-web' }, finalizers: [MACHINE_FINALIZER] };

function objectOf(metadata: Written, status: object = { phase: 'Ready', nodeName: 'node-1' }) {
  return { metadata: { name: 'web-1', uid: 'u', ...metadata }, spec: { nodeGroupName: 'web' }, status };
}

const driven = (metadata: Written) => readDrivenMachine(objectOf(metadata));

describe('a machine that is made', () => {
  it('is held by a label with the UID of its group, and no garbage collector knows of it', () => {
    const order = {
      name: 'web-1',
      instanceType: 'small',
      decision: 'd',
      cameFor: [],
      replaces: null,
      reason: 'PendingPods',
    } as const;
    const body = machineBody(groupOf('web'), order);
    expect(body.metadata).not.toHaveProperty('ownerReferences');
    expect(readMachine(body).heldBy).toBe('uid-web');
    expect(holdPatch(readDrivenMachine(body), group)).toBeNull();
  });
});

describe('a machine that nobody holds as it should be', () => {
  it.each<[string, Written]>([
    ['has an owner, as an earlier version wrote it', { ...held, ownerReferences: [owner] }],
    ['has no label', { finalizers: [MACHINE_FINALIZER] }],
    ['has nothing that keeps its object', { labels: { [GROUP_UID_LABEL]: 'uid-web' } }],
  ])('%s, and is taken hold of', (_, metadata) => {
    const machine = driven(metadata);
    expect(machine.heldBy).toBeNull();
    const patch = holdPatch(machine, group);
    const written = { ...metadata, ...patch, labels: { ...metadata.labels, ...patch?.labels } };
    expect(driven(written)).toMatchObject({ heldBy: 'uid-web', finalizers: [MACHINE_FINALIZER], ownerReferences: [] });
  });

  it('keeps the owners that are none of ours, and finalizers of others', () => {
    const patch = holdPatch(driven({ ownerReferences: [other, owner], finalizers: ['example.com/a'] }), group);
    expect(patch).toMatchObject({ ownerReferences: [other], finalizers: ['example.com/a', MACHINE_FINALIZER] });
  });

  it('gets no finalizer while it is being deleted, which the API server would refuse', () => {
    const patch = holdPatch(driven({ deletionTimestamp: '2026-01-01T00:00:00Z', ownerReferences: [owner] }), group);
    expect(patch).not.toHaveProperty('finalizers');
  });

  it('is of its owner, or else of the group of its name; one that is held is of its holder alone', () => {
    expect(isOfGroup(driven({ ownerReferences: [owner] }), 'web', 'uid-web')).toBe(true);
    expect(isOfGroup(driven({ ownerReferences: [owner] }), 'web', 'uid-2')).toBe(false);
    expect([isOfGroup(driven({}), 'web', 'uid-2'), isOfGroup(driven({}), 'api', 'uid-2')]).toEqual([true, false]);
    expect([isOfGroup(driven(held), 'web', 'uid-web'), isOfGroup(driven(held), 'web', 'uid-2')]).toEqual([true, false]);
  });
});

describe('a group that is deleted', () => {
  it('lets go of its machines only with the policy Orphan', () => {
    expect(isOrphaning(groupOf('web', { deletionPolicy: 'Orphan' }))).toBe(false);
    expect(isOrphaning(groupOf('web', { isDeleting: true }))).toBe(false);
    expect(isOrphaning(groupOf('web', { isDeleting: true, deletionPolicy: 'Orphan' }))).toBe(true);
  });

  it('leaves them without its label, without an owner and without what keeps their objects', () => {
    const patch = letGoPatch(driven({ ...held, ownerReferences: [owner, other] }));
    expect(patch).toEqual({ labels: { [GROUP_UID_LABEL]: null }, ownerReferences: [other], finalizers: [] });
  });
});

describe('a VPSieNode that somebody deletes', () => {
  const deleted = { ...held, deletionTimestamp: '2026-01-01T00:00:00Z' };

  it.each([
    ['asks for its node to be drained', deleted, { phase: 'Ready', nodeName: 'n' }, true],
    ['also where another controller had begun to', deleted, { phase: 'Terminating', nodeName: 'n' }, true],
    ['deletes a machine that is no node', deleted, { phase: 'Provisioning' }, false],
    ['deletes one that was drained', deleted, { phase: 'Deleting', nodeName: 'n' }, false],
    ['deletes one that was given up', deleted, { phase: 'Failed', nodeName: 'n' }, false],
    [
      'deletes one without a drain where that is asked for',
      { ...deleted, annotations: { [DELETE_WITHOUT_DRAIN]: 'true' } },
      { phase: 'Ready', nodeName: 'n' },
      false,
    ],
    [
      'drains where the annotation says anything else',
      { ...deleted, annotations: { [DELETE_WITHOUT_DRAIN]: 'yes' } },
      { phase: 'Ready', nodeName: 'n' },
      true,
    ],
  ])('%s', (_, metadata, status, isDrainRequested) => {
    expect(readMachine(objectOf(metadata, status))).toMatchObject({ isDrainRequested, isDeleting: !isDrainRequested });
  });

  it('is neither as long as nobody has', () => {
    expect(readMachine(objectOf(held))).toMatchObject({ isDrainRequested: false, isDeleting: false });
  });
});

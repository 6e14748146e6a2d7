import { describe, expect, it } from 'vitest';
import { fits, snapshotOf } from '../../../../domain/node-group/scheduling/fits.ts';
import { readClaim, readStorageClass } from '../../../../domain/node-group/scheduling/read-objects.ts';
import { boundTo, nodeOf, podOf, stateOf } from '../builders.ts';

const pod = podOf('p', {}, { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] });
const storageClasses = [
  readStorageClass({ metadata: { name: 'late' }, provisioner: 'csi', volumeBindingMode: 'WaitForFirstConsumer' }),
];
const volumes = [{ name: 'pv', nodeAffinity: null, driver: 'csi', handle: 'h', isLocal: false }];

/** What kube-scheduler would say of the pod with this claim, of two nodes that are empty. */
function answers({ metadata = {}, ...claim }: { metadata?: object; spec?: object }): readonly string[] {
  const claims = [readClaim({ metadata: { name: 'c', namespace: 'default', ...metadata }, ...claim })];
  const state = stateOf({ nodes: [nodeOf('a'), nodeOf('b')], claims, volumes, storageClasses, pods: [pod] });
  return state.nodes.map(({ name }) => {
    const answer = fits(pod, name, snapshotOf(state));
    return answer.kind === 'fits' ? 'fits' : answer.detail;
  });
}

const bound = { 'pv.kubernetes.io/bind-completed': 'yes' };

describe('the claim of a pod', () => {
  it('has its volume only once the binding is complete', () => {
    const spec = { volumeName: 'pv', storageClassName: 'late' };
    expect(answers({ metadata: { annotations: bound }, spec })).toEqual(['fits', 'fits']);
    const reason = 'its PersistentVolumeClaim c is not bound to the PersistentVolume pv that it names';
    expect(answers({ spec })).toEqual([reason, reason]);
  });

  it('that is being deleted has no node, although it is bound', () => {
    const metadata = { annotations: bound, deletionTimestamp: '2026-11-20T10:00:00Z' };
    const reason = 'its PersistentVolumeClaim c is being deleted';
    expect(answers({ metadata, spec: { volumeName: 'pv' } })).toEqual([reason, reason]);
  });

  it('may have its class in the annotation that there was before the field', () => {
    const annotations = { 'volume.beta.kubernetes.io/storage-class': 'late' };
    expect(answers({ metadata: { annotations } })).toEqual(['fits', 'fits']);
    expect(answers({ metadata: { annotations }, spec: { storageClassName: 'gone' } })).toEqual(['fits', 'fits']);
  });

  it('whose volume is being made for a node keeps the pod to that node', () => {
    const annotations = { 'volume.kubernetes.io/selected-node': 'b' };
    expect(answers({ metadata: { annotations }, spec: { storageClassName: 'late' } })).toEqual([
      'the volume of its PersistentVolumeClaim c cannot be used there',
      'fits',
    ]);
  });
});

describe('a pod that runs with a claim', () => {
  const annotations = bound;
  const spec = { volumeName: 'pv', storageClassName: 'late' };
  const running = (name: string) => {
    const used = [{ name: 'v', persistentVolumeClaim: { claimName: 'used' } }];
    return boundTo('a', podOf(name, {}, { volumes: used }));
  };
  const other = { name: 'other-pv', nodeAffinity: null, driver: 'csi', handle: 'other', isLocal: false };

  it.each([
    ['is bound', { metadata: { annotations }, spec }],
    ['is being deleted', { metadata: { annotations, deletionTimestamp: '2026-11-20T10:00:00Z' }, spec }],
    ['is not bound completely', { metadata: {}, spec }],
    ['has lost its volume', { metadata: { annotations }, spec, status: { phase: 'Lost' } }],
  ])('has its volume attached, so that the limit counts it: the claim %s', (_, { metadata, ...claim }) => {
    const claims = [
      readClaim({ metadata: { name: 'used', namespace: 'default', ...metadata }, ...claim }),
      readClaim({ metadata: { name: 'c', namespace: 'default', annotations }, spec: { volumeName: 'other-pv' } }),
    ];
    const state = stateOf({
      nodes: [nodeOf('a')],
      claims,
      volumes: [...volumes, other],
      storageClasses,
      attachLimits: [{ node: 'a', limits: { csi: 1 } }],
      pods: [running('r'), pod],
    });
    expect(fits(pod, 'a', snapshotOf(state)).kind).not.toBe('fits');
  });
});

import { expect, it } from 'vitest';
import { shapeEvent, shapeNamespace, shapeQuota } from '../../../starter/quota-resize/shape.ts';

const annotations = { 'example.com/padding': 'x'.repeat(250_000), 'resizer.io/threshold': '80' };
const metadata = {
  name: 'web',
  namespace: 'team-a',
  uid: 'a-uid',
  resourceVersion: '7',
  annotations,
  managedFields: [{ manager: 'x'.repeat(10_000) }],
};
const DENIED =
  'Error creating: pods "web-" is forbidden: exceeded quota: compute, requested: pods=1, used: pods=2, limited: pods=2';

it('of an Event the cache keeps whether it is about a denial, by a digest, and none of its texts', () => {
  const event = { metadata, type: 'Warning', reason: 'FailedCreate', message: DENIED };
  const kept = { metadata: { name: 'web', namespace: 'team-a', resourceVersion: '7' } };
  expect(shapeEvent(event)).toEqual({ ...kept, denial: expect.stringMatching(/^.{28}$/) });
  expect(shapeEvent({ ...event, type: 'Normal' })).toEqual({ ...kept, denial: null });
  expect(shapeEvent({ ...event, message: 'no nodes' })).toEqual({ ...kept, denial: null });
  const long = { ...event, message: DENIED + '0'.repeat(1_000_000) };
  expect(shapeEvent(long)).toEqual({ ...kept, denial: null });
});

it('denials have the same digest where only the name of what would be created differs', () => {
  const owner = { kind: 'ReplicaSet', namespace: 'team-a', name: 'web', uid: 'a-uid' };
  const digest = (message: string, involvedObject = owner) =>
    shapeEvent({ metadata, type: 'Warning', message, involvedObject }).denial;
  const named = (name: string) => DENIED.replace('"web-"', `"${name}"`);
  expect(digest(named('web-x7k2p'))).toBe(digest(named('web-9fj4s')));
  expect(digest(DENIED.replace('pods=1', 'pods=2'))).not.toBe(digest(DENIED));
  expect(digest(DENIED, { ...owner, uid: 'b-uid' })).not.toBe(digest(DENIED));
});

it('of a quota and a namespace it keeps the policy, and of the latter the labels', () => {
  const labels = { tier: 'gold' };
  const policy = { 'resizer.io/threshold': '80' };
  const quota = { metadata: { ...metadata, labels }, spec: { hard: { pods: '2' } }, status: { used: { pods: '1' } } };
  const { name, namespace, uid, resourceVersion } = metadata;
  const identity = { name, namespace, uid, resourceVersion, annotations: policy };
  expect(shapeQuota(quota)).toEqual({ metadata: identity, spec: quota.spec, status: quota.status });
  expect(shapeNamespace({ metadata: { ...metadata, labels } })).toEqual({ metadata: { ...identity, labels } });
});

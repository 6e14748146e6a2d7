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

it('of an Event the cache keeps whether it is about a denial, and none of its texts', () => {
  const event = { metadata, type: 'Warning', reason: 'FailedCreate', message: DENIED };
  const kept = { metadata: { name: 'web', namespace: 'team-a', resourceVersion: '7' } };
  expect(shapeEvent(event)).toEqual({ ...kept, isDenial: true });
  expect(shapeEvent({ ...event, type: 'Normal' })).toEqual({ ...kept, isDenial: false });
  expect(shapeEvent({ ...event, message: 'no nodes' })).toEqual({ ...kept, isDenial: false });
  const long = { ...event, message: DENIED + '0'.repeat(1_000_000) };
  expect(shapeEvent(long)).toEqual({ ...kept, isDenial: false });
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

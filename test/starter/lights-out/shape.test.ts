import type { KubernetesObject } from '@kubernetes/client-node';
import { expect, it } from 'vitest';
import { MANAGED_BY } from '../../../domain/lights-out/schedule/names.ts';
import { shapeNamespace, shapeWorkload } from '../../../starter/lights-out/shape.ts';

/** A Deployment as the API server sends it, with what makes it large. */
const sent = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'team-a',
    uid: 'uid',
    resourceVersion: '7',
    creationTimestamp: '2026-11-16T20:00:00Z',
    labels: { app: 'web' },
    annotations: { [MANAGED_BY]: 'night', 'kubectl.kubernetes.io/last-applied-configuration': '{}' },
    managedFields: [
      {
        manager: 'kubectl',
        operation: 'Update',
        time: '2026-11-16T20:00:00Z',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      },
    ],
  },
  spec: { replicas: 3, template: { spec: { containers: [] } } },
  status: { replicas: 3, readyReplicas: 2 },
} as unknown as KubernetesObject;

it('of a workload is cached what it is evaluated by, with its times read from text', () => {
  expect(shapeWorkload('Deployment')(sent)).toEqual({
    metadata: { name: 'web', namespace: 'team-a', uid: 'uid', resourceVersion: '7' },
    read: {
      kind: 'Deployment',
      namespace: 'team-a',
      name: 'web',
      uid: 'uid',
      resourceVersion: '7',
      createdAt: Date.parse('2026-11-16T20:00:00Z'),
      isDeleting: false,
      labels: { app: 'web' },
      annotations: { [MANAGED_BY]: 'night' },
      replicas: 3,
      isSuspended: false,
      ready: 2,
      present: 3,
      changed: { manager: 'kubectl', at: Date.parse('2026-11-16T20:00:00Z'), isOnlyIt: true },
      createdBy: 'kubectl',
      autoscalers: [],
    },
  });
  expect(shapeWorkload('StatefulSet')(sent).read?.kind).toBe('StatefulSet');
  expect(shapeWorkload('CronJob')({ ...sent, spec: { suspend: true } } as KubernetesObject).read).toMatchObject({
    kind: 'CronJob',
    replicas: null,
    isSuspended: true,
  });
});

it('a namespace is cached with its labels and the annotations of schedules', () => {
  expect(
    shapeNamespace({ metadata: { name: 'team-a', labels: { night: 'yes' }, annotations: { other: 'x' } } }),
  ).toEqual({
    metadata: { name: 'team-a', uid: '', resourceVersion: '' },
    read: { name: 'team-a', labels: { night: 'yes' }, annotations: {}, isDeleting: false },
  });
});

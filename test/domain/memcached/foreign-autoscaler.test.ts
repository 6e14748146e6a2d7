import { expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { CHILD_BODIES } from '../../../domain/memcached/children/children.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { type Plan, planOf } from '../../../domain/memcached/plan/plan.ts';

const theirs: LiveObject = {
  metadata: { uid: 'theirs' },
  spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'cache' } },
};

interface Pods {
  readonly replicas: number;
  readonly scaler?: LiveObject;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Of a Memcached whose Deployment is applied, beside an autoscaler. */
function plan(written: object, { replicas, scaler = theirs, annotations = {} }: Pods): Plan {
  const metadata = { name: 'cache', namespace: 'team-a', uid: 'owner', generation: 1 };
  const memcached = readMemcached({ metadata, spec: written });
  if (memcached.spec === null) throw new Error(memcached.problems.join());
  const context = { secretHash: '', isTakenOver: false, slots: [] };
  const body = CHILD_BODIES.Deployment({ ...memcached, spec: memcached.spec }, context);
  const counts = { observedGeneration: 1, replicas, readyReplicas: replicas, updatedReplicas: replicas };
  const deployment = {
    ...body,
    metadata: {
      ...body?.metadata,
      uid: 'deployment',
      generation: 1,
      annotations: { ...body?.metadata.annotations, ...annotations },
    },
    spec: { ...body?.spec, replicas },
    status: counts,
  };
  return planOf({
    memcached,
    children: {
      Deployment: deployment,
      HorizontalPodAutoscaler: scaler,
      Service: null,
      PodDisruptionBudget: null,
      ServiceMonitor: null,
      NetworkPolicy: null,
      ConfigMap: null,
    },
    at: Date.parse('2026-11-23T10:00:00Z'),
    otherOperator: null,
    unserved: [],
    endpointSlices: [],
    secrets: { hash: '', missing: [], lacking: [], unreadable: [] },
  });
}

const scales = ({ steps }: Plan) => steps.flatMap((step) => (step.kind === 'scale' ? [step.replicas] : []));
const conflict =
  'HorizontalPodAutoscaler team-a/cache scales these pods and does not belong to this Memcached, so the count of the spec is not written: delete it, or use spec.autoscaling in its place';

it("somebody else's autoscaler of the same pods keeps their count, is named, and clients keep all servers", () => {
  const beside = plan({ replicas: 3 }, { replicas: 5 });
  expect([scales(beside), beside.conflicts]).toEqual([[], [conflict]]);
  const states = beside.status.conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  expect(states).toEqual([
    'Available=True Available',
    'Progressing=False ProgressingComplete',
    'Degraded=True Conflict',
    'Ready=True MemcachedReady',
  ]);
  expect(beside.status.serverList).toEqual(['cache.team-a:11211']);
  // Whatever count it has at the moment.
  expect(plan({ replicas: 3 }, { replicas: 3 }).conflicts).toEqual([conflict]);
  // A schedule has the count, and the autoscaler does nothing meanwhile.
  const asleep = plan({ replicas: 3 }, { replicas: 0, annotations: { 'lightsout.techsupport.mk/managed-by': 'n' } });
  expect([scales(asleep), asleep.conflicts]).toEqual([[], []]);
});

it('at 0 pods it does nothing, so that the count is written', () => {
  expect(scales(plan({ replicas: 3 }, { replicas: 0 }))).toEqual([3]);
  const down = plan({ replicas: 0 }, { replicas: 5 });
  expect([scales(down), down.conflicts]).toEqual([[0], []]);
});

it('pods that went one by one go on with it', () => {
  const annotations = { 'memcached.c5c3.io/next-pod-goes': '2026-11-23T09:59:00Z' };
  const beside = plan({ replicas: 3 }, { replicas: 5, annotations });
  expect([scales(beside), beside.nextStep, beside.notes]).toEqual([[], null, []]);
});

it.each<[string, LiveObject]>([
  ['has pods of something else', { ...theirs, spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' } } }],
  ['has another kind', { ...theirs, spec: { scaleTargetRef: { kind: 'StatefulSet', name: 'cache' } } }],
  ['says nothing', { metadata: { uid: 'theirs' } }],
])('one of that name that %s is left alone, and the count is written', (_, scaler) => {
  const beside = plan({ replicas: 3 }, { replicas: 5, scaler });
  expect([scales(beside), beside.conflicts]).toEqual([[3], []]);
});

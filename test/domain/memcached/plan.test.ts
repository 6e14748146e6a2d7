import { describe, expect, it } from 'vitest';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import { CHILD_BODIES, childKinds } from '../../../domain/memcached/children/children.ts';
import { lackingKeysIn, unreadableSecretsIn } from '../../../domain/memcached/plan/notes.ts';
import { observationOf } from '../../../domain/memcached/plan/observe.ts';
import { planOf } from '../../../domain/memcached/plan/plan.ts';
import type { LiveChildren, Seen } from '../../../domain/memcached/plan/seen.ts';
import { appliedStatus } from '../../../domain/memcached/status/status.ts';

const NOW = Date.parse('2026-11-23T10:00:00Z');
const autoscaled = {
  resources: { requests: { cpu: '100m' } },
  autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 9 },
};

function objectOf(spec: object, status: object = {}): object {
  return { metadata: { name: 'cache', namespace: 'team-a', uid: 'owner', generation: 3 }, spec, status };
}

/** What the API server would have after everything was applied, with a count of pods. */
function applied(spec: object, replicas: number): LiveChildren {
  const memcached = readMemcached(objectOf(spec));
  if (memcached.spec === null) throw new Error(memcached.problems.join());
  const wanted = { ...memcached, spec: memcached.spec };
  const live = childKinds.map((kind) => {
    const body = CHILD_BODIES[kind](wanted, { secretHash: '', isTakenOver: false, slots: [] });
    if (body === null) return [kind, null] as const;
    const counts = { observedGeneration: 1, replicas, readyReplicas: replicas, updatedReplicas: replicas };
    const more = kind === 'Deployment' ? { spec: { ...body.spec, replicas }, status: counts } : {};
    return [kind, { ...body, ...more, metadata: { ...body.metadata, uid: `${kind}-uid`, generation: 1 } }] as const;
  });
  return Object.fromEntries(live) as unknown as LiveChildren;
}

function seenWith(spec: object, children: LiveChildren, more: Partial<Seen> = {}): Seen {
  const secrets = { hash: '', missing: [], lacking: [], unreadable: [] };
  const memcached = readMemcached(objectOf(spec));
  const nobody = { otherOperator: null, unserved: [], endpointSlices: [] };
  return { memcached, children, at: NOW, ...nobody, secrets, ...more };
}

const steps = (seen: Seen) =>
  planOf(seen).steps.map((step) => (step.kind === 'scale' ? `scale ${step.replicas}` : `${step.kind} ${step.child}`));

const annotated = (children: LiveChildren, kind: 'Deployment' | 'HorizontalPodAutoscaler'): LiveChildren => {
  const live = children[kind];
  const annotations = {
    ...(live?.metadata?.['annotations'] as object),
    'lightsout.techsupport.mk/managed-by': 'nights',
  };
  return { ...children, [kind]: { ...live, metadata: { ...live?.metadata, annotations } } };
};

const everything = {
  replicas: 3,
  highAvailability: { podDisruptionBudget: { enabled: true, minAvailable: 2 } },
  monitoring: { enabled: true, serviceMonitor: {} },
  security: { networkPolicy: { enabled: true } },
};
const none = Object.fromEntries(childKinds.map((kind) => [kind, null])) as unknown as LiveChildren;

describe('the plan of a Memcached', () => {
  it('makes everything in order, and nothing again', () => {
    expect(steps(seenWith(everything, none))).toEqual([
      'apply Deployment',
      'scale 3',
      'apply Service',
      'apply PodDisruptionBudget',
      'apply ServiceMonitor',
      'apply NetworkPolicy',
      'apply ConfigMap',
    ]);
    expect(steps(seenWith(everything, applied(everything, 3)))).toEqual([]);
  });

  it('finds nothing to do for objects as a list has them, which say neither kind nor version', () => {
    const listed = Object.fromEntries(
      Object.entries(applied(everything, 3)).map(([kind, live]) => {
        const { apiVersion: _version, kind: _kind, ...rest } = live ?? {};
        return [kind, live === null ? null : rest];
      }),
    ) as unknown as LiveChildren;
    expect(steps(seenWith(everything, listed))).toEqual([]);
  });

  it('leaves alone what others add beside it, whatever that is called', () => {
    const children = applied({ replicas: 3 }, 3);
    const owners = children.Deployment?.metadata?.['ownerReferences'] as readonly object[];
    const other = { apiVersion: 'app.k8s.io/v1beta1', kind: 'Application', name: 'cache', uid: 'other' };
    const metadata = { ...children.Deployment?.metadata, ownerReferences: [...owners, other] };
    expect(steps(seenWith({ replicas: 3 }, { ...children, Deployment: { ...children.Deployment, metadata } }))).toEqual(
      [],
    );
  });

  it('says nothing about the count where an autoscaler has it, and takes it back after the autoscaler is gone', () => {
    const children = applied(autoscaled, 5);
    expect(steps(seenWith(autoscaled, children))).toEqual([]);
    for (const replicas of [4, 7, 0]) {
      expect(steps(seenWith({ resources: autoscaled.resources, replicas }, children))).toEqual([
        'delete HorizontalPodAutoscaler',
        `scale ${replicas}`,
      ]);
    }
  });

  it('gives schedule and all the conditions of one that sleeps no alarm', () => {
    const { status } = planOf(seenWith({ replicas: 3 }, annotated(applied({ replicas: 3 }, 0), 'Deployment')));
    const asleep = 'Asleep: asleep by the schedule nights, until it wakes';
    expect(
      status.conditions.map(({ type, status: is, reason, message }) => `${type}=${is} ${reason}: ${message}`),
    ).toEqual([
      `Available=False ${asleep}`,
      'Progressing=False ProgressingComplete: All 0 replicas are updated',
      `Degraded=False ${asleep}`,
      `Ready=False ${asleep}`,
    ]);
    // One that keeps a pod by night is as any other.
    const dim = planOf(seenWith({ replicas: 3 }, annotated(applied({ replicas: 3 }, 1), 'Deployment'))).status;
    expect(dim.conditions.map(({ message }) => message)).toContain('All 1 replicas are ready');
  });

  it('says of an autoscaler whether it works, in its own words, and nothing of one that is gone', () => {
    const children = applied(autoscaled, 5);
    const saying = (...conditions: readonly object[]) => ({
      ...children,
      HorizontalPodAutoscaler: { ...children.HorizontalPodAutoscaler, status: { conditions } },
    });
    const said = (seen: Seen) => planOf(seen).status.conditions.filter(({ type }) => type === 'Autoscaling');
    const able = { type: 'AbleToScale', status: 'True', reason: 'ReadyForNewScale', message: 'ready' };
    const blind = { type: 'ScalingActive', status: 'False', reason: 'FailedGetResourceMetric', message: 'no metrics' };
    expect(said(seenWith(autoscaled, children))).toEqual([]);
    expect(said(seenWith(autoscaled, saying(able)))).toEqual([]);
    expect(said(seenWith(autoscaled, saying(able, blind)))).toEqual([{ ...blind, type: 'Autoscaling' }]);
    const well = { ...blind, status: 'True', reason: 'ValidMetricFound', message: 'from cpu' };
    expect(said(seenWith(autoscaled, saying(able, well)))).toEqual([{ ...well, type: 'Autoscaling' }]);
    const unable = { ...able, status: 'False', reason: 'FailedGetScale', message: 'no such Deployment' };
    expect(said(seenWith(autoscaled, saying(unable)))).toEqual([{ ...unable, type: 'Autoscaling' }]);
    const off = { resources: autoscaled.resources, replicas: 5 };
    const before = appliedStatus({}, planOf(seenWith(autoscaled, saying(able, well))).status, NOW);
    const after = planOf({ ...seenWith(off, applied(off, 5)), memcached: readMemcached(objectOf(off, before)) });
    expect(after.isStatusTrue).toBe(false);
  });

  it('scales down gently, rolls out at a pace, and gives the exporter what an autoscaler goes by', () => {
    const spec = {
      ...autoscaled,
      monitoring: { enabled: true, exporterResources: { limits: { memory: '32Mi' } } },
      highAvailability: { warmUpSeconds: 60 },
      autoscaling: { ...autoscaled.autoscaling, scaleDownOnePodEvery: '5m' },
    };
    const { Deployment: deployment, HorizontalPodAutoscaler: scaler } = applied(spec, 2);
    expect(scaler?.spec?.['behavior']).toEqual({
      scaleDown: { stabilizationWindowSeconds: 305, policies: [{ type: 'Pods', value: 1, periodSeconds: 300 }] },
    });
    expect(deployment?.spec).toMatchObject({
      minReadySeconds: 60,
      template: {
        spec: {
          containers: [{}, { resources: { limits: { memory: '32Mi' }, requests: { cpu: '10m' } } }],
        },
      },
    });
  });

  it.each([1, 600, 3600])('gives a rollout longer than a new pod of it warms up: %i s', (warmUpSeconds) => {
    const { spec } = applied({ highAvailability: { warmUpSeconds } }, 1).Deployment ?? {};
    // The API server takes no Deployment with another order of the two.
    expect(spec).toMatchObject({ minReadySeconds: warmUpSeconds, progressDeadlineSeconds: warmUpSeconds + 600 });
  });

  it.each([{}, { highAvailability: {} }, { highAvailability: { warmUpSeconds: 0 } }])(
    'leaves the deadline of a rollout without warm-up to Kubernetes: %j',
    (spec) => {
      expect(applied(spec, 1).Deployment?.spec).not.toHaveProperty('progressDeadlineSeconds');
    },
  );

  it('starts pods for a new autoscaler, which would do nothing at 0, and leaves them off where somebody stopped them', () => {
    const stopped = applied(autoscaled, 0);
    expect(steps(seenWith(autoscaled, { ...stopped, HorizontalPodAutoscaler: null }))).toEqual([
      'apply HorizontalPodAutoscaler',
      'scale 2',
    ]);
    expect(steps(seenWith(autoscaled, stopped))).toEqual([]);
  });

  it('leaves the count and the bounds of what a schedule put to sleep', () => {
    const asleep = annotated(applied({ replicas: 3 }, 0), 'Deployment');
    const plan = planOf(seenWith({ replicas: 3 }, asleep));
    expect(plan.steps).toEqual([]);
    expect(plan.isSettled).toBe(true);
    expect(plan.notes).toEqual([
      'the Deployment is asleep by the schedule nights, which has its replicas until it wakes',
    ]);
    const narrowed = { ...autoscaled, autoscaling: { ...autoscaled.autoscaling, minReplicas: 1, maxReplicas: 1 } };
    expect(steps(seenWith(autoscaled, annotated(applied(narrowed, 1), 'HorizontalPodAutoscaler')))).toEqual([]);
  });

  it('says of a Deployment that somebody paused that its pods are not replaced', () => {
    const { Deployment: deployment, ...others } = applied({ replicas: 3 }, 3);
    const paused = { ...others, Deployment: { ...deployment, spec: { ...deployment?.spec, paused: true } } };
    expect(planOf(seenWith({ replicas: 3 }, paused)).notes).toEqual([
      'the Deployment is paused (spec.paused), so no pod is replaced until somebody resumes it',
    ]);
  });

  it('lists no server of what a schedule put to sleep, once its pods are asked to stop', () => {
    const ready = { addresses: ['10.0.0.1'], targetRef: { name: 'a' } };
    const slice = (endpoint: object) => ({
      metadata: { ownerReferences: [{ uid: 'Service-uid' }] },
      addressType: 'IPv4',
      endpoints: [endpoint],
    });
    const awake = seenWith({ replicas: 1 }, applied({ replicas: 1 }, 1), { endpointSlices: [slice(ready)] });
    const memcached = readMemcached(objectOf({ replicas: 1 }, appliedStatus({}, planOf(awake).status, NOW)));
    const asleep = { ...annotated(applied({ replicas: 1 }, 0), 'Deployment'), ConfigMap: null };
    const stopping = slice({ ...ready, conditions: { ready: false, terminating: true } });
    const servers = (endpointSlices: Seen['endpointSlices']) =>
      planOf({ ...awake, memcached, children: asleep, endpointSlices }).status.servers;
    expect(servers([slice(ready)])).toEqual([{ slot: 0, address: '10.0.0.1:11211' }]);
    expect(servers([stopping])).toEqual([]);
    expect(servers([])).toEqual([]);
  });

  it('touches nothing of what does not belong to it, and nothing at all where that is the Deployment', () => {
    const foreign = { metadata: { uid: 'theirs', ownerReferences: [{ controller: true, uid: 'other' }] } };
    const children = applied(everything, 3);
    const budget = planOf(seenWith({ ...everything, replicas: 4 }, { ...children, PodDisruptionBudget: foreign }));
    expect(budget.steps.map((step) => step.kind)).toEqual(['scale']);
    expect(budget.conflicts).toHaveLength(1);
    const deployment = planOf(seenWith(everything, { ...none, Deployment: foreign }));
    expect(deployment.steps).toEqual([]);
    expect(deployment.status.conditions[2]).toMatchObject({ type: 'Degraded', status: 'True', reason: 'Conflict' });
    // What is switched off and belongs to somebody else stays.
    expect(steps(seenWith({ replicas: 3 }, { ...applied({ replicas: 3 }, 3), NetworkPolicy: foreign }))).toEqual([]);
  });

  it('leaves pods as another operator made them until the spec changes, and says what waits', () => {
    const spec = {
      ...autoscaled,
      monitoring: { enabled: true },
      security: { tls: { enabled: true, certificateSecretRef: { name: 'tls' }, enableClientCert: true } },
    };
    const ours = applied(spec, 2);
    const { annotations: _, ...metadata } = ours.Deployment?.metadata ?? {};
    const owner = { uid: 'owner', controller: true, apiVersion: 'memcached.c5c3.io/v1alpha1' };
    const theirs = { ...ours.Deployment, metadata: { ...metadata, ownerReferences: [owner] } };
    const plan = planOf(seenWith(spec, { ...ours, Deployment: theirs }));
    const [step] = plan.steps;
    if (step?.kind !== 'apply') throw new Error('the Deployment is not taken over');
    expect(step.body.metadata.annotations).toMatchObject({ 'memcached.c5c3.io/taken-over': '3' });
    expect(step.body.metadata.ownerReferences).toMatchObject([{ apiVersion: 'memcached.c5c3.io/v1alpha1' }]);
    const text = JSON.stringify(step.body.spec);
    expect([text.includes('ssl_verify_mode'), text.includes('10m')]).toEqual([false, false]);
    expect(plan.notes).toEqual([
      'the pods stay as the operator made them that they were taken over from, until the spec changes, and this waits for it: the arguments ssl_verify_mode=2 -l *:11211,*:11212 of memcached, the arguments --memcached.tls.enable --memcached.tls.insecure-skip-verify --memcached.tls.cert-file=/etc/memcached/tls/tls.crt --memcached.tls.key-file=/etc/memcached/tls/tls.key of exporter, requests of 10m cpu for exporter and volumeMounts of exporter',
    ]);
    const taken = { ...ours, Deployment: { ...theirs, ...step.body } };
    expect(steps(seenWith(spec, taken))).toEqual([]);
    const later = { ...objectOf(spec), metadata: { name: 'cache', namespace: 'team-a', uid: 'owner', generation: 4 } };
    const next = planOf({ ...seenWith(spec, taken), memcached: readMemcached(later) });
    expect(JSON.stringify(next.steps)).toContain('ssl_verify_mode=2');
    expect(next.notes).toEqual([]);
  });

  it('stays Headroom’s own, whoever takes its annotations off or writes some', () => {
    const spec = {
      security: { tls: { enabled: true, certificateSecretRef: { name: 'tls' }, enableClientCert: true } },
    };
    const ours = applied(spec, 1);
    const managed = (annotations: object, fieldsV1: object) => {
      const entry = { manager: 'headroom-memcached', operation: 'Apply', fieldsV1 };
      const metadata = { ...ours.Deployment?.metadata, annotations, managedFields: [entry] };
      return seenWith(spec, { ...ours, Deployment: { ...ours.Deployment, metadata } });
    };
    const written = { 'memcached.c5c3.io/taken-over': '3' };
    const owned = { 'f:metadata': { 'f:annotations': { 'f:memcached.c5c3.io/taken-over': {} } } };
    for (const seen of [managed({}, {}), managed(written, {}), managed(written, { 'f:metadata': {} })]) {
      const [step] = planOf(seen).steps;
      expect(JSON.stringify(step)).toContain('ssl_verify_mode=2');
      expect(JSON.stringify(step)).not.toContain('taken-over');
    }
    expect(JSON.stringify(planOf(managed(written, owned)).steps)).not.toContain('ssl_verify_mode=2');
  });

  it('writes nothing but its status while another operator is alive', () => {
    const plan = planOf(seenWith(everything, none, { otherOperator: 'ops/lease' }));
    expect(plan.steps).toEqual([]);
    expect(plan.conflicts).toEqual([
      expect.stringContaining('the memcached operator still runs, as its Lease ops/lease'),
    ]);
    expect(plan.status.conditions[2]).toMatchObject({ status: 'True', reason: 'Conflict' });
  });

  it('lists the pods behind its Service by slots, also of an invalid one, and as nobody else has them', () => {
    const spec = { replicas: 2 };
    const pods = ['10.0.0.1', '10.0.0.2'].map((address) => ({ addresses: [address], targetRef: { name: address } }));
    const slice = {
      metadata: { ownerReferences: [{ uid: 'Service-uid' }] },
      addressType: 'IPv4',
      endpoints: pods,
    };
    const seen = seenWith(spec, applied(spec, 2), { endpointSlices: [slice] });
    const [step, ...others] = planOf(seen).steps;
    if (step?.kind !== 'apply' || step.child !== 'ConfigMap') throw new Error('the servers are not listed');
    expect(others).toEqual([]);
    const servers = [
      { slot: 0, address: '10.0.0.1:11211' },
      { slot: 1, address: '10.0.0.2:11211' },
    ];
    expect(planOf(seen).status.servers).toEqual(servers);
    const list = { ...step.body, metadata: { ...step.body.metadata, uid: 'list' } };
    const listed = { ...seen, children: { ...seen.children, ConfigMap: list } };
    expect(steps(listed)).toEqual([]);
    const written = readMemcached(objectOf(spec, appliedStatus({}, planOf(listed).status, NOW)));
    expect(planOf({ ...listed, memcached: written }).isStatusTrue).toBe(true);
    const replaced = [{ ...slice, endpoints: [pods[1], { addresses: ['10.0.0.3'] }] }];
    const wrong = { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 2 } };
    const invalid = planOf({ ...listed, memcached: readMemcached(objectOf(wrong)), endpointSlices: replaced });
    expect(invalid.status.servers[0]?.address).toBe('10.0.0.3:11211');
    expect(invalid.steps).toMatchObject([{ kind: 'apply', child: 'ConfigMap', uid: 'list' }]);
    const foreign = { ...seen, children: { ...seen.children, ConfigMap: { metadata: { uid: 'theirs' } } } };
    const plan = planOf({ ...foreign, memcached: written });
    expect(plan.steps).toEqual([]);
    expect(plan.conflicts).toEqual([expect.stringContaining('ConfigMap team-a/cache-servers exists')]);
    expect(plan.status.servers).toEqual(servers);
    const theirService = { ...seen.children.Service, metadata: { uid: 'Service-uid' } };
    const elsewhere = planOf({ ...seen, children: { ...seen.children, Service: theirService } });
    expect(elsewhere.status.servers).toEqual([]);
  });

  it('waits for what is being deleted', () => {
    const children = applied({ replicas: 1 }, 1);
    const going = { ...children.Service, metadata: { ...children.Service?.metadata, deletionTimestamp: 'now' } };
    const plan = planOf(seenWith({ replicas: 1 }, { ...children, Service: going }));
    expect(plan.steps).toEqual([]);
    expect(plan.awaited).toEqual(['Service team-a/cache is being deleted, and is made again after that']);
  });

  it('makes no kind that the cluster does not serve, and says so', () => {
    const plan = planOf(seenWith(everything, none, { unserved: ['ServiceMonitor'] }));
    expect(plan.steps.some((step) => step.kind === 'apply' && step.child === 'ServiceMonitor')).toBe(false);
    expect(plan.notes).toEqual([expect.stringContaining('no ServiceMonitor is made')]);
  });

  it('runs one that has replicas beside autoscaling, and ignores them; any other contradiction stops everything', () => {
    const both = { ...autoscaled, replicas: 7 };
    const plan = planOf(seenWith(both, applied(autoscaled, 5)));
    expect(plan.steps).toEqual([]);
    expect(plan.notes).toEqual(['spec.replicas is ignored, because autoscaling is enabled: set it to null']);
    expect(plan.status.conditions[0]?.message).toBe('5/5 replicas are ready (HPA-managed)');
    const wrong = { autoscaling: { enabled: true, minReplicas: 5, maxReplicas: 2 } };
    const stopped = planOf(seenWith(wrong, none));
    expect(stopped.steps).toEqual([]);
    expect(stopped.status.conditions[2]?.message).toContain('minReplicas (5) must not exceed maxReplicas (2)');
  });

  it('has a true status after it was written, and a new beginning only for a condition that changed', () => {
    const children = applied({ replicas: 2 }, 2);
    const before = planOf(seenWith({ replicas: 2 }, none)).status;
    const written = appliedStatus({}, before, NOW);
    const { status } = planOf(seenWith({ replicas: 2 }, children));
    const next = appliedStatus(written, status, NOW + 60_000) as { conditions: { lastTransitionTime: string }[] };
    expect(next.conditions.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(
      Array.from({ length: 4 }, () => '2026-11-23T10:01:00Z'),
    );
    const again = appliedStatus(next, status, NOW + 120_000);
    expect(again).toEqual(next);
    const memcached = readMemcached(objectOf({ replicas: 2 }, next));
    expect(planOf({ ...seenWith({ replicas: 2 }, children), memcached }).isStatusTrue).toBe(true);
    expect(observationOf(seenWith({ replicas: 2 }, children), NOW).pending).toEqual([{ act: 'status', child: null }]);
  });
});

describe('the notes of a Memcached', () => {
  const monitored = { monitoring: { enabled: true, serviceMonitor: {} } };
  const withStatus = (seen: Seen, spec: object, status: object): Seen => ({
    ...seen,
    memcached: readMemcached(objectOf(spec, status)),
  });

  it('stand in its status, are not written again, and go when they are not true any more', () => {
    const unserved = seenWith(monitored, applied({}, 1), { unserved: ['ServiceMonitor'] });
    const before = appliedStatus({}, planOf(seenWith(monitored, applied({}, 1))).status, NOW);
    expect(planOf(withStatus(unserved, monitored, before)).isStatusTrue).toBe(false);
    const { status, notes } = planOf(unserved);
    const written = appliedStatus(before, status, NOW);
    expect(written['notes']).toEqual(notes);
    expect(notes).toEqual([expect.stringContaining('no ServiceMonitor is made')]);
    expect(planOf(withStatus(unserved, monitored, written)).isStatusTrue).toBe(true);
    const served = withStatus(seenWith(monitored, applied(monitored, 1)), monitored, written);
    expect(planOf(served).isStatusTrue).toBe(false);
    expect(appliedStatus(written, planOf(served).status, NOW)).not.toHaveProperty('notes');
  });

  it('say how many of very many pods have no slot', () => {
    const huge = { ...autoscaled, autoscaling: { enabled: true, maxReplicas: 5000 } };
    expect(planOf(seenWith(huge, applied(huge, 1000))).notes).toEqual([]);
    expect(planOf(seenWith(huge, applied(huge, 1001))).notes).toEqual([
      'of 1001 pods, 1000 have slots: who hashes on slots never asks the others',
    ]);
  });

  it('name Secrets that cannot be read, which whoever reads none takes from the status', () => {
    const spec = {
      security: {
        sasl: { enabled: true, credentialsSecretRef: { name: 'users' } },
        tls: { enabled: true, certificateSecretRef: { name: 'tls' } },
      },
    };
    const secrets = { hash: '', missing: [], lacking: [], unreadable: ['tls', 'users'] };
    const { status } = planOf(seenWith(spec, applied(spec, 1), { secrets }));
    const written = appliedStatus({}, status, NOW);
    expect(unreadableSecretsIn(written)).toEqual(['tls', 'users']);
    expect(unreadableSecretsIn({})).toEqual([]);
    const fromStatus = { hash: '', missing: [], lacking: [], unreadable: unreadableSecretsIn(written) };
    const compared = seenWith(spec, applied(spec, 1), { secrets: fromStatus });
    expect(planOf(withStatus(compared, spec, written)).isStatusTrue).toBe(true);
  });
});

describe('a Memcached whose Secret lacks what its pods mount', () => {
  const security = { tls: { enabled: true, certificateSecretRef: { name: 'tls' }, enableClientCert: true } };
  const spec = { replicas: 3, security };
  const secrets = { hash: '', missing: [], lacking: ['ca.crt of tls'], unreadable: [] };
  const edited = { ...spec, image: 'memcached:1.6.39' };

  it('keeps its pods, whatever changes, and says which key of which Secret', () => {
    const plan = planOf(seenWith(edited, applied(spec, 3), { secrets }));
    expect(plan.steps).toEqual([]);
    expect(plan.status.conditions[2]).toEqual({
      type: 'Degraded',
      status: 'True',
      reason: 'SecretIncomplete',
      message: 'Referenced Secrets lack keys: ca.crt of tls',
    });
    expect(plan.notes).toEqual(['no pod is made or replaced until these Secrets have what pods mount: ca.crt of tls']);
    const written = appliedStatus({}, plan.status, NOW);
    expect(lackingKeysIn(written)).toEqual(['ca.crt of tls']);
    expect(lackingKeysIn({})).toEqual([]);
    expect(steps(seenWith(edited, applied(spec, 3)))).toEqual(['apply Deployment']);
  });

  it('gets no pods in the first place, and all else', () => {
    expect(steps(seenWith(spec, none, { secrets }))).toEqual(['apply Service', 'apply ConfigMap']);
    const scaled = { ...autoscaled, security };
    expect(steps(seenWith(scaled, none, { secrets }))).toEqual(['apply Service', 'apply ConfigMap']);
  });

  it('gets its pods, which wait, where the Secret is still to come, and keeps those that it has', () => {
    const missing = { secrets: { ...secrets, lacking: [], missing: ['tls'] } };
    expect(steps(seenWith(spec, none, missing))).toContain('apply Deployment');
    expect(steps(seenWith(edited, applied(spec, 3), missing))).toEqual([]);
    // What is no change of pods is none of this.
    expect(steps(seenWith({ ...spec, replicas: 5 }, applied(spec, 3), missing))).toEqual(['scale 5']);
  });

  it('keeps an autoscaler that is switched off until the Deployment can remember how its pods go', () => {
    const before = { ...autoscaled, security };
    const after = { resources: autoscaled.resources, security, replicas: 2, image: 'memcached:1.6.39' };
    const live = { ...applied(after, 5), HorizontalPodAutoscaler: applied(before, 5).HorizontalPodAutoscaler };
    expect(steps(seenWith(after, live, { secrets }))).toEqual([]);
    expect(steps(seenWith(after, live))).toEqual(['apply Deployment', 'delete HorizontalPodAutoscaler', 'scale 4']);
  });
});

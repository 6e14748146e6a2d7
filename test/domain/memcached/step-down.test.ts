import { describe, expect, it } from 'vitest';
import type { Body } from '../../../domain/memcached/children/body.ts';
import { CHILD_BODIES } from '../../../domain/memcached/children/children.ts';
import { readMemcached } from '../../../domain/memcached/api/read-memcached.ts';
import type { LiveObject } from '../../../domain/memcached/plan/live.ts';
import { planOf } from '../../../domain/memcached/plan/plan.ts';
import type { Seen } from '../../../domain/memcached/plan/seen.ts';

const NOW = Date.parse('2026-11-23T10:00:00Z');
const MINUTE = 60_000;
const OWNER = { ownerReferences: [{ controller: true, uid: 'owner' }] };
const off = { enabled: false, maxReplicas: 9 };

/** A cluster in which each pass writes its first steps, as many as it gets to. */
class Cluster {
  spec: object;
  scaler: LiveObject | null = { metadata: { ...OWNER, uid: 'scaler' } };
  service: LiveObject | null = null;
  list: LiveObject | null = null;
  deployment: LiveObject;
  at = NOW;

  constructor(spec: object, replicas: number) {
    this.spec = spec;
    this.deployment = { metadata: { ...OWNER, uid: 'deployment', generation: 1 }, ...this.#counts(replicas) };
  }

  get seen(): Seen {
    const metadata = { name: 'cache', namespace: 'team-a', uid: 'owner', generation: 2 };
    return {
      memcached: readMemcached({ metadata, spec: this.spec }),
      children: {
        Deployment: this.deployment,
        HorizontalPodAutoscaler: this.scaler,
        Service: this.service,
        ConfigMap: this.list,
        PodDisruptionBudget: null,
        ServiceMonitor: null,
        NetworkPolicy: null,
      },
      at: this.at,
      otherOperator: null,
      unserved: [],
      endpointSlices: [],
      secrets: { hash: '', missing: [], lacking: [], unreadable: [] },
    };
  }

  get replicas(): unknown {
    return this.deployment.spec?.['replicas'];
  }

  /** One pass, which dies after so many writes. */
  pass(writes = Number.POSITIVE_INFINITY): this {
    for (const step of planOf(this.seen).steps.slice(0, writes)) {
      if (step.kind === 'delete') this.scaler = null;
      else if (step.kind === 'scale') this.deployment = { ...this.deployment, ...this.#counts(step.replicas) };
      else if (step.child === 'Service') this.service = asLive(step.body);
      else if (step.child === 'ConfigMap') this.list = asLive(step.body);
      else {
        const { metadata, ...live } = asLive(step.body);
        const { status } = this.deployment;
        const spec = { ...live.spec, replicas: this.replicas };
        this.deployment = {
          ...live,
          spec,
          metadata: { ...metadata, uid: 'deployment', generation: 1 },
          ...(status && { status }),
        };
      }
    }
    return this;
  }

  after(ms: number): this {
    this.at += ms;
    return this;
  }

  #counts(replicas: number): Pick<LiveObject, 'spec' | 'status'> {
    const counts = { replicas, readyReplicas: replicas, updatedReplicas: replicas, observedGeneration: 1 };
    return { spec: { ...this.deployment?.spec, replicas }, status: counts };
  }
}

/** As the API server answers. */
function asLive(body: Body): LiveObject {
  return JSON.parse(JSON.stringify(body)) as LiveObject;
}

describe('when autoscaling is switched off', () => {
  it('the pods above the count of the spec go one at a time, and Ready stays as it was', () => {
    const cluster = new Cluster({ autoscaling: off }, 4).pass();
    expect(cluster.replicas).toBe(3);
    const waiting = planOf(cluster.seen);
    expect([waiting.steps, waiting.nextStep]).toEqual([[], NOW + 5 * MINUTE]);
    expect(waiting.notes).toEqual([
      'autoscaling was switched off: one pod goes every 5m until 1 is left; set spec.replicas to keep more',
    ]);
    expect(waiting.status.conditions.map(({ type, status }) => `${type}=${status}`)).toEqual([
      'Available=True',
      'Progressing=False',
      'Degraded=False',
      'Ready=True',
    ]);
    expect(waiting.status.serverList).toHaveLength(1);
    expect(cluster.after(5 * MINUTE - 1).pass().replicas).toBe(3);
    expect(cluster.after(1).pass().replicas).toBe(2);
    expect(cluster.after(5 * MINUTE).pass().replicas).toBe(1);
    const done = planOf(cluster.seen);
    expect([done.steps, done.nextStep, done.notes]).toEqual([[], null, []]);
    expect(JSON.stringify(cluster.deployment.metadata)).not.toContain('next-pod-goes');
  });

  it('they go at the pace of the spec, to its count, and at once to none', () => {
    const paced = new Cluster({ replicas: 2, autoscaling: { ...off, scaleDownOnePodEvery: '30s' } }, 5).pass();
    expect([paced.replicas, planOf(paced.seen).nextStep]).toEqual([4, NOW + 30_000]);
    expect(new Cluster({ replicas: 0, autoscaling: off }, 5).pass().replicas).toBe(0);
    expect(new Cluster({ replicas: 7, autoscaling: off }, 5).pass().replicas).toBe(7);
  });

  it.each([0, 1, 2, 3])('whoever dies after %i writes, no two pods go at once', (writes) => {
    const cluster = new Cluster({ autoscaling: off }, 5).pass(writes);
    const counts = [5, cluster.replicas];
    for (let minute = 0; minute < 60; minute += 1) counts.push(cluster.pass(writes).after(MINUTE).pass().replicas);
    expect(counts.at(-1)).toBe(1);
    const steps = counts.slice(1).map((count, at) => Number(counts[at]) - Number(count));
    expect(Math.max(...steps)).toBe(1);
  });

  it('a count that people raise meanwhile is set at once, and one that they lower is where it ends', () => {
    const between = new Cluster({ autoscaling: off }, 6).pass();
    expect(between.replicas).toBe(5);
    between.spec = { replicas: 8, autoscaling: off };
    expect(between.pass().replicas).toBe(8);
    expect(planOf(between.seen).notes).toEqual([]);
    const lowered = new Cluster({ replicas: 2, autoscaling: off }, 6).pass();
    lowered.spec = { replicas: 4 };
    expect(lowered.after(5 * MINUTE).pass().replicas).toBe(4);
    expect([planOf(lowered.seen).steps, planOf(lowered.seen).nextStep]).toEqual([[], null]);
  });

  it('a count that people change later is set at once, and a sleeping Deployment is left alone', () => {
    const plain = new Cluster({ replicas: 2 }, 5);
    plain.scaler = null;
    expect(plain.pass().replicas).toBe(2);
    const cluster = new Cluster({ autoscaling: off }, 5).pass();
    const { metadata } = cluster.deployment;
    const annotations = { ...(metadata?.['annotations'] as object), 'lightsout.techsupport.mk/managed-by': 'nights' };
    cluster.deployment = { ...cluster.deployment, metadata: { ...metadata, annotations } };
    const asleep = planOf(cluster.after(60 * MINUTE).seen);
    expect([asleep.steps, asleep.nextStep, asleep.isSettled]).toEqual([[], null, true]);
  });
});

describe('when the next pod goes, as the Deployment remembers it', () => {
  const remembering = (cluster: Cluster, nextPodGoes: string): Cluster => {
    const { metadata } = cluster.deployment;
    const annotations = { ...(metadata?.['annotations'] as object), 'memcached.c5c3.io/next-pod-goes': nextPodGoes };
    cluster.deployment = { ...cluster.deployment, metadata: { ...metadata, annotations } };
    return cluster;
  };

  it.each(['9999-01-01T00:00:00Z', '2026-11-23T11:00:00Z'])('%s is too late: it is one pace at most', (late) => {
    const cluster = remembering(new Cluster({ autoscaling: off }, 5).pass(), late).pass();
    expect([cluster.replicas, planOf(cluster.seen).nextStep]).toEqual([4, NOW + 5 * MINUTE]);
    expect(cluster.after(5 * MINUTE - 1).pass().replicas).toBe(4);
    expect(cluster.after(1).pass().replicas).toBe(3);
  });

  it('a pace that is shortened holds at once', () => {
    const slow = { ...off, scaleDownOnePodEvery: '30m' };
    const cluster = new Cluster({ autoscaling: slow }, 5).pass();
    cluster.spec = { autoscaling: { ...off, scaleDownOnePodEvery: '30s' } };
    expect(planOf(cluster.pass().seen).nextStep).toBe(NOW + 30_000);
    expect(cluster.after(30_000).pass().replicas).toBe(3);
  });

  it.each(['+275760-09-13T00:00:00Z', 'hello 1', '9999', '2026-02-30T10:00:00Z', '2026-11-23T10:04:00+00:00'])(
    '%s is no moment: the count is that of a Memcached that never had an autoscaler',
    (text) => {
      const cluster = new Cluster({ replicas: 2 }, 5);
      cluster.scaler = null;
      remembering(cluster, text);
      expect([cluster.pass().replicas, planOf(cluster.seen).notes]).toEqual([2, []]);
    },
  );

  it('a schedule that put the pods to sleep makes it no later either', () => {
    const asleep = remembering(new Cluster({ autoscaling: off }, 5).pass(), '9999-01-01T00:00:00Z');
    const { metadata } = asleep.deployment;
    const annotations = { ...(metadata?.['annotations'] as object), 'lightsout.techsupport.mk/managed-by': 'nights' };
    asleep.deployment = { ...asleep.deployment, metadata: { ...metadata, annotations } };
    asleep.pass();
    expect(planOf(asleep.seen).steps).toEqual([]);
    expect(JSON.stringify(asleep.deployment.metadata)).toContain('2026-11-23T10:05:00Z');
  });
});

it('the Deployment of a Memcached that never had an autoscaler remembers nothing', () => {
  const { memcached } = new Cluster({ replicas: 3 }, 3).seen;
  if (memcached.spec === null) throw new Error('it is invalid');
  const context = { secretHash: '', isTakenOver: false, slots: [] };
  const body = CHILD_BODIES.Deployment({ ...memcached, spec: memcached.spec }, context);
  expect(Object.keys(body?.metadata.annotations ?? {})).toEqual(['memcached.c5c3.io/applied']);
});

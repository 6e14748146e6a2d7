/** What dies, gets lost or comes in between while the objects of Memcacheds are written: each of them is there once, and as specified. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { WrittenSpec } from '../../domain/memcached/api/memcached.ts';
import type { Hold } from '../kernel/forge/http/faults.ts';
import { type KubernetesGate, openKubernetesGate } from '../kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { MemcachedCluster, merge, startMemcachedPlane } from './cluster.ts';
import { exactPath, type MadeWrite, writesIn } from './gate-writes.ts';
import { partOf } from '../kernel/long.ts';

/**
 * Milliseconds until dozens of Memcacheds are as specified: a worker that is lost is noticed after ten seconds, and what failed is
 * tried again after up to half a minute.
 */
const WITHIN_MS = 180_000;

/** What is made without a pod, because no kubelet is there, and what then becomes of it. */
interface Life {
  readonly spec: WrittenSpec;
  readonly edit: Readonly<Record<string, unknown>>;
  /** What is written, in the order in which each comes for the first time. */
  readonly order: readonly string[];
}

const lives: Readonly<Record<string, Life>> = {
  fixed: {
    spec: {
      replicas: 0,
      highAvailability: { podDisruptionBudget: { enabled: true, maxUnavailable: 1 } },
      security: { networkPolicy: { enabled: true } },
    },
    edit: {
      memcached: { verbosity: 1 },
      service: { annotations: { team: 'a' } },
      highAvailability: null,
      security: null,
    },
    order: [
      'PATCH deployments/{namespace}',
      'POST events',
      'PATCH services/{namespace}',
      'PATCH poddisruptionbudgets/{namespace}',
      'PATCH networkpolicies/{namespace}',
      'PATCH configmaps/{namespace}-servers',
      'PATCH memcacheds/{namespace}/status',
      'DELETE poddisruptionbudgets/{namespace}',
      'DELETE networkpolicies/{namespace}',
    ],
  },
  autoscaled: {
    spec: { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 3 }, resources: { requests: { cpu: '100m' } } },
    edit: { autoscaling: { enabled: false }, replicas: 0 },
    order: [
      'PATCH deployments/{namespace}',
      'POST events',
      'PATCH horizontalpodautoscalers/{namespace}',
      'PATCH services/{namespace}',
      'PATCH configmaps/{namespace}-servers',
      'PATCH memcacheds/{namespace}/status',
      'DELETE horizontalpodautoscalers/{namespace}',
    ],
  },
};

let plane: HeadroomPlane;
let cluster: MemcachedCluster;
let gate: KubernetesGate;
let worker: SupervisedProcess;

beforeAll(async () => {
  // Longer than a request stands: one that is given up would be made again, and go on.
  plane = await startMemcachedPlane({ env: { 'timings.requestTimeout': '4m' } });
  cluster = new MemcachedCluster(plane);
  gate = await openKubernetesGate(plane.plane);
  [worker] = await Promise.all([nextWorker(), plane.startStarter()]);
});
afterAll(async () => {
  await plane?.stop();
  await gate?.stop();
});

async function nextWorker(): Promise<SupervisedProcess> {
  return await plane.startWorker({ KUBECONFIG: await gate.kubeconfigFor('headroom-worker') });
}

const isStatus = ({ shape }: MadeWrite): boolean => shape.endsWith('/status');

/** What took effect in a namespace, of objects that a Memcached owns, in the order in which it did. */
const shapesIn = (namespace: string): readonly string[] =>
  writesIn(gate, namespace)
    .filter(({ isOfChild }) => isOfChild)
    .map(({ shape }) => shape);

async function untilWritten(namespace: string, expected: readonly string[]): Promise<void> {
  let shapes: readonly string[] = [];
  await eventually(
    () => `${namespace} has ${expected.join(', ')}: it has ${shapes.join(', ')}`,
    () => {
      shapes = shapesIn(namespace);
      return shapes.length >= expected.length;
    },
    WITHIN_MS,
  );
}

async function untilObserved(namespace: string, generation: number): Promise<void> {
  await eventually(
    `the status of ${namespace} is of generation ${generation}`,
    async () => (await cluster.read(namespace)).status?.observedGeneration === generation,
    WITHIN_MS,
  );
}

/** A write of an episode, as it is recognised in another namespace. */
interface Stop {
  readonly namespace: string;
  readonly stage: keyof Recorded;
  readonly life: Life;
  readonly write: MadeWrite;
  /** Before it has an effect, or after that and before its answer. */
  readonly when: 'before' | 'after';
}

/** Everything that two episodes write, when nothing goes wrong. */
interface Recorded {
  readonly spec: readonly MadeWrite[];
  readonly edit: readonly MadeWrite[];
}

async function recordedOf(namespace: string, life: Life): Promise<Recorded> {
  await cluster.create(namespace, life.spec);
  await untilObserved(namespace, 1);
  // The Event of the last write, and the statuses of what was made, come with the status.
  const spec = writesIn(gate, namespace);
  await cluster.edit(namespace, life.edit);
  await untilObserved(namespace, 2);
  const all = writesIn(gate, namespace);
  return { spec, edit: all.slice(spec.length) };
}

function stopAt({ namespace, write, when }: Stop): Hold {
  const { method, path, nth } = write;
  return gate.hold({ method, path: exactPath(path, write.namespace, namespace), nth, when });
}

async function held(hold: Hold, what: string): Promise<void> {
  let isHeld = false;
  void hold.held.then(() => {
    isHeld = true;
  });
  await eventually(what, () => isHeld, WITHIN_MS);
}

/**
 * Every write of a stage, stopped before and after it takes effect, each in a namespace of its own. How often a status is written
 * depends on when the cluster's own controllers act, so of those it is the first.
 */
function stopsOf(kind: string, life: Life, recorded: Recorded, stage: keyof Recorded, prefix: string): readonly Stop[] {
  const isFirst = (write: MadeWrite, index: number): boolean =>
    recorded[stage].findIndex(({ shape }) => shape === write.shape) === index;
  const sure = recorded[stage].filter((write, index) => !isStatus(write) || isFirst(write, index));
  return sure.flatMap((write, index) =>
    (['before', 'after'] as const).map((when) => {
      return { namespace: `${prefix}-${kind}-${stage}-${index}-${when}`, stage, life, write, when };
    }),
  );
}

/** Brings every Memcached to its stop, lets the fault happen, and waits until all of them are as specified. */
async function through(stops: readonly Stop[], fault: (holds: readonly Hold[]) => Promise<void>): Promise<void> {
  const edits = stops.filter(({ stage }) => stage === 'edit');
  for (const { namespace, life } of edits) await cluster.create(namespace, life.spec);
  for (const { namespace } of edits) await untilObserved(namespace, 1);
  const holds: Hold[] = [];
  for (const stop of stops) {
    const before = writesIn(gate, stop.namespace).filter(({ shape }) => shape === stop.write.shape).length;
    // How many statuses there were before depends on the cluster's own controllers: the next one is meant.
    const nth = isStatus(stop.write) ? 1 : stop.write.nth - (stop.stage === 'edit' ? before : 0);
    const write = { ...stop.write, nth };
    holds.push(stopAt({ ...stop, write }));
    if (stop.stage === 'spec') await cluster.create(stop.namespace, stop.life.spec);
    else await cluster.edit(stop.namespace, stop.life.edit);
  }
  for (const [index, { namespace, write }] of stops.entries()) {
    const hold = holds[index];
    if (hold !== undefined) await held(hold, `${namespace} comes to ${write.shape}`);
  }
  await fault(holds);
  for (const { namespace, stage } of stops) await untilObserved(namespace, stage === 'spec' ? 1 : 2);
}

/** All that was written to objects took effect once; a status may be written more often, and an Event be lost with its process. */
async function expectOnce(stops: readonly Stop[], recorded: Recorded): Promise<void> {
  for (const { namespace, stage } of stops) {
    const writes = stage === 'spec' ? recorded.spec : [...recorded.spec, ...recorded.edit];
    const expected = writes.filter(({ isOfChild }) => isOfChild).map(({ shape }) => shape);
    await untilWritten(namespace, expected);
    expect({ namespace, writes: shapesIn(namespace) }).toEqual({ namespace, writes: expected });
  }
}

describe.each(Object.entries(lives))('the objects of a Memcached that is %s', (kind, life) => {
  let recorded: Recorded;
  beforeAll(async () => {
    recorded = await recordedOf(`recorded-${kind}`, life);
  });

  it('are written in this order', () => {
    const shapes = [...recorded.spec, ...recorded.edit].map(({ shape }) => shape);
    expect([...new Set(shapes)]).toEqual(life.order);
  });

  it(
    'are each there once, whichever write the worker dies at',
    async () => {
      for (const stage of ['spec', 'edit'] as const) {
        const stops = partOf(stopsOf(kind, life, recorded, stage, 'killed'), 3);
        await through(stops, async (holds) => {
          await worker.kill();
          for (const hold of holds) hold.abandon();
          worker = await nextWorker();
        });
        await expectOnce(stops, recorded);
      }
    },
    4 * WITHIN_MS,
  );

  it(
    'are each there once, whichever answer is lost',
    async () => {
      for (const stage of ['spec', 'edit'] as const) {
        const all = stopsOf(kind, life, recorded, stage, 'lost').filter(({ when }) => when === 'after');
        const stops = partOf(all, 2);
        await through(stops, async (holds) => {
          for (const hold of holds) hold.abandon();
        });
        await expectOnce(stops, recorded);
      }
    },
    4 * WITHIN_MS,
  );
});

describe('what comes in between', () => {
  beforeAll(async () => {
    // As somebody who may write everything: otherwise the policy of writes would refuse what is not owned.
    await worker.stop();
    worker = await plane.startWorker({ KUBECONFIG: await gate.kubeconfigFor('admin') });
  });

  it('stays whose it is, and nothing is added to it, although it was not there when it was looked for', async () => {
    const name = 'raced';
    const hold = gate.hold({
      method: 'PATCH',
      path: `/apis/networking.k8s.io/v1/namespaces/${name}/networkpolicies/${name}`,
      when: 'before',
    });
    await cluster.create(name, { replicas: 0, security: { networkPolicy: { enabled: true } } });
    await held(hold, 'the NetworkPolicy is about to be made');
    const body = { metadata: { name }, spec: { podSelector: { matchLabels: { app: 'theirs' } } } };
    const theirs = await cluster.networking.createNamespacedNetworkPolicy({ namespace: name, body });
    hold.release();
    const why = `NetworkPolicy ${name}/${name} exists and does not belong to this Memcached: delete or rename one of them`;
    await cluster.untilCondition(name, `Degraded=True Conflict: ${why}`);
    const { metadata, spec } = await cluster.networking.readNamespacedNetworkPolicy({ namespace: name, name });
    expect({ metadata, spec }).toEqual({ metadata: theirs.metadata, spec: theirs.spec });
  });

  it('is not applied to a Deployment that was made anew meanwhile', async () => {
    const name = 'replaced';
    await cluster.create(name, { replicas: 0 });
    await untilObserved(name, 1);
    await cluster.ended(name);
    const hold = gate.hold({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${name}/deployments/${name}`,
      when: 'before',
    });
    await cluster.edit(name, { memcached: { verbosity: 1 } });
    await held(hold, 'the Deployment is about to be written');
    const { metadata: { labels = {} } = {}, spec: { selector, template } = { selector: {}, template: {} } } =
      await cluster.deployment(name);
    await cluster.apps.deleteNamespacedDeployment({ namespace: name, name });
    const theirs = await eventually('it is made by somebody else', async () =>
      cluster.apps.createNamespacedDeployment({
        namespace: name,
        body: { metadata: { name, labels }, spec: { selector, template, replicas: 0 } },
      }),
    );
    hold.release();
    const why = `Deployment ${name}/${name} exists and does not belong to this Memcached: delete or rename one of them`;
    await cluster.untilCondition(name, `Degraded=True Conflict: ${why}`);
    const { metadata: now, spec: nowSpec } = await cluster.deployment(name);
    expect([now?.uid, now?.ownerReferences, nowSpec]).toEqual([theirs.metadata?.uid, undefined, theirs.spec]);
  });

  it('is overwritten where somebody edits the same object, and kept where it is of no concern', async () => {
    const name = 'edited';
    await cluster.create(name, { replicas: 0 });
    await untilObserved(name, 1);
    const hold = gate.hold({
      method: 'PATCH',
      path: `/apis/apps/v1/namespaces/${name}/deployments/${name}`,
      when: 'before',
    });
    await cluster.edit(name, { memcached: { verbosity: 2 } });
    await held(hold, 'the Deployment is about to be written');
    const body = {
      metadata: { annotations: { 'example.com/note': 'a' } },
      spec: { strategy: { rollingUpdate: { maxSurge: 3 } } },
    };
    await cluster.apps.patchNamespacedDeployment({ namespace: name, name, body }, merge);
    hold.release();
    await untilObserved(name, 2);
    const { metadata, spec } = await eventually('the strategy is right', async () => {
      const seen = await cluster.deployment(name);
      return seen.spec?.strategy?.rollingUpdate?.maxSurge === 1 && seen;
    });
    expect(metadata?.annotations).toMatchObject({ 'example.com/note': 'a' });
    expect(spec?.template.spec?.containers[0]?.args).toContain('-vv');
  });

  it('is no list of servers that follows from another one than there is by then', async () => {
    const name = 'listed';
    await cluster.create(name, { replicas: 0 });
    await untilObserved(name, 1);
    await cluster.ended(name);
    const list = { namespace: name, name: `${name}-servers` };
    const path = `/api/v1/namespaces/${name}/configmaps/${list.name}`;
    const { data } = await cluster.core.readNamespacedConfigMap(list);
    const before = gate.writes.length;
    const hold = gate.hold({ method: 'PATCH', path, when: 'before' });
    await cluster.core.patchNamespacedConfigMap({ ...list, body: { data: { 'servers.txt': 'first' } } }, merge);
    await held(hold, 'the list is about to be written');
    await cluster.core.patchNamespacedConfigMap({ ...list, body: { data: { 'servers.txt': 'second' } } }, merge);
    hold.release();
    await eventually('the list is right', async () => {
      const now = await cluster.core.readNamespacedConfigMap(list);
      return now.data?.['servers.txt'] === data?.['servers.txt'];
    });
    const answers = gate.writes.slice(before).filter((write) => write.path.startsWith(path));
    expect(answers.map(({ status }) => status)).toEqual([409, 200]);
  });

  it('ends the episode at once, where it is the deletion of the Memcached whose status is about to be written', async () => {
    const name = 'deleted';
    const hold = gate.hold({
      method: 'PATCH',
      path: new RegExp(`/namespaces/${name}/memcacheds/${name}/status`),
      when: 'before',
    });
    await cluster.create(name, { replicas: 1 });
    await held(hold, 'the status is about to be written');
    await cluster.delete(name);
    hold.release();
    // A second attempt sees that it is gone, and comes after half a second, not after a minute.
    await cluster.ended(name, 30_000);
    expect(await cluster.handle(name).result()).toMatchObject({ reason: 'MemcachedGone' });
  });

  it('is no reason to write twice, where the API server goes away in the middle and comes back', async () => {
    const name = 'outage';
    const hold = gate.hold({
      path: new RegExp(`^/api/v1/namespaces/${name}/services/`),
      method: 'PATCH',
      when: 'before',
    });
    await cluster.create(name, { replicas: 0 });
    await held(hold, 'the Service is about to be made');
    await plane.plane.killApiServer();
    hold.release();
    await plane.plane.startApiServer();
    await untilObserved(name, 1);
    expect(shapesIn(name)).toEqual([
      'PATCH deployments/{namespace}',
      'PATCH deployments/{namespace}',
      'PATCH services/{namespace}',
      'PATCH configmaps/{namespace}-servers',
    ]);
  });
});

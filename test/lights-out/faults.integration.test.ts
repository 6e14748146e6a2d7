/** What is killed in the middle of a batch, and what becomes of it: everything as it was, by one write a direction. */
import type { KubeConfig } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import type { Hold, HoldRule } from '../kernel/forge/http/faults.ts';
import { type KubernetesGate, openKubernetesGate } from '../kernel/servers/kubernetes-gate.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { DOWN, LightsOutCluster, startLightsOutPlane, UP } from './cluster.ts';
import { askedBy } from './load/asked.ts';
import { fillCluster, LOAD_LABEL, namesToWrite, planPopulation } from './load/population.ts';
import { changesOfSpec, differences, notAsleep, type Snapshot, takeSnapshot } from './load/snapshot.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { longOnly } from '../kernel/long.ts';

const WORKER = 'headroom-worker';
const SCHEDULE = 'load';
const population = planPopulation({ workloads: 60, namespaces: 6, seed: 1 });
const toWrite = namesToWrite(population);
const limit = { batchSize: 20, delayBetweenBatches: '200ms' };
const limits = { downscaleRateLimit: limit, upscaleRateLimit: limit };
const writes = { method: 'PATCH', path: /^\/apis\/(apps|batch)\/v1\/namespaces\/load-/ } as const;
/** In the middle of the second batch. */
const MIDDLE = 27;
/**
 * Until everything is done after one of them was away: what it was asked meanwhile is tried again after up to half a minute,
 * besides the ten seconds after which a killed worker is missed.
 */
const RECOVERY_MS = 150_000;

let admin: KubeConfig;
let plane: HeadroomPlane;
let cluster: LightsOutCluster;
let approvalRequirement: KubernetesGate;
let worker: SupervisedProcess;
let starter: SupervisedProcess;
let original: Snapshot;

beforeAll(async () => {
  plane = await startLightsOutPlane();
  cluster = new LightsOutCluster(plane);
  admin = accessOf(plane.plane.adminKubeconfig);
  approvalRequirement = await openKubernetesGate(plane.plane);
  [worker, starter] = await Promise.all([
    nextWorker(),
    plane.startStarter(),
    fillCluster(admin, population).then(async () => {
      original = await takeSnapshot(admin);
    }),
  ]);
  await cluster.schedule(SCHEDULE, { ...UP, ...limits, namespaceSelector: { matchLabels: LOAD_LABEL } });
  await cluster.reaches(SCHEDULE, 'Up', 'AsScheduled');
});

afterAll(async () => {
  // Whoever is being connected to the gate while that closes would keep it open.
  await plane?.stop();
  await approvalRequirement?.stop();
});

async function nextWorker(): Promise<SupervisedProcess> {
  return await plane.startWorker({ KUBECONFIG: await approvalRequirement.kubeconfigFor(WORKER) });
}

/** Waits until a request has come to a hold, which is there from now on. */
async function stopped(rule: HoldRule): Promise<Hold> {
  return await observed(approvalRequirement.hold(rule));
}

/** Waits until a request has come to the hold. */
async function observed(hold: Hold): Promise<Hold> {
  let isHeld = false;
  void hold.held.then(() => {
    isHeld = true;
  });
  await eventually('the worker comes to that write', () => isHeld);
  return hold;
}

interface Turned {
  readonly before: Snapshot;
  readonly after: Snapshot;
  /** Writes of each workload by the worker that took effect, as the audit log has them. */
  readonly written: ReadonlyMap<string, readonly number[]>;
}

/** Turns the schedule, lets `meanwhile` happen, and waits until nothing is left to do. */
async function turn(state: 'Up' | 'Down', meanwhile: () => Promise<void>): Promise<Turned> {
  const before = await takeSnapshot(admin);
  const from = Date.now();
  await Promise.all([cluster.patchSchedule(SCHEDULE, { spec: state === 'Up' ? UP : DOWN }), meanwhile()]);
  await cluster.reaches(SCHEDULE, state, 'AsScheduled', RECOVERY_MS);
  const after = await takeSnapshot(admin);
  const { written } = askedBy(WORKER, await plane.plane.auditEvents(), { from, to: Date.now() });
  return { before, after, written };
}

/** Each that was to be written was, once; the API server itself counts, and its audit log. */
function expectOneWriteEach({ before, after, written }: Turned): void {
  const changes = [...changesOfSpec(before, after)].filter(([, count]) => count > 0);
  expect(new Map(changes)).toEqual(new Map([...toWrite].map((name) => [name, 1])));
  expect([...written].filter(([name, times]) => times.length > 1 || !toWrite.has(name))).toEqual([]);
}

describe('a load that is scaled down and up in batches', { timeout: 300_000 }, () => {
  it('goes down by one write each when the worker is killed in the middle of a batch', async () => {
    const turned = await turn('Down', async () => {
      const hold = await stopped({ ...writes, when: 'before', nth: MIDDLE, times: 'always' });
      await worker.kill();
      hold.abandon();
      worker = await nextWorker();
    });
    expect(notAsleep(original, turned.after, toWrite, () => SCHEDULE)).toEqual([]);
    expectOneWriteEach(turned);
  });

  it('comes up exactly as it was, by one write each, when the API server is restarted in the middle of a batch', async () => {
    const turned = await turn('Up', async () => {
      const hold = await stopped({ ...writes, when: 'before', nth: MIDDLE, times: 'always' });
      await plane.plane.killApiServer();
      hold.release();
      await plane.plane.startApiServer();
    });
    expect(differences(original, turned.after)).toEqual([]);
    expectOneWriteEach(turned);
  });

  it(
    'goes down, once, when the starter was away as the schedule changed and is killed again with the worker',
    longOnly,
    async () => {
      await starter.kill();
      const turned = await turn('Down', async () => {
        await eventually('the schedule is changed', async () => {
          const { spec } = await cluster.readSchedule(SCHEDULE);
          return spec.downscale === DOWN.downscale;
        });
        // The worker begins as soon as the starter is there.
        const hold = approvalRequirement.hold({ ...writes, when: 'before', nth: MIDDLE, times: 'always' });
        starter = await plane.startStarter();
        await observed(hold);
        await Promise.all([starter.kill(), worker.kill()]);
        hold.abandon();
        [starter, worker] = await Promise.all([plane.startStarter(), nextWorker()]);
      });
      expect(notAsleep(original, turned.after, toWrite, () => SCHEDULE)).toEqual([]);
      expectOneWriteEach(turned);
    },
  );

  it('restores nothing twice: what a person does after an unanswered restore stays', longOnly, async () => {
    const [first] = population.filter(({ kind, replicas }) => kind === 'Deployment' && (replicas ?? 0) > 0);
    const { namespace = '', name = '' } = first ?? {};
    const turned = await turn('Up', async () => {
      const hold = await stopped({
        method: 'PATCH',
        path: `/apis/apps/v1/namespaces/${namespace}/deployments/${name}`,
        when: 'after',
      });
      await worker.kill();
      hold.abandon();
      await cluster.scale(namespace, name, 9);
      worker = await nextWorker();
    });
    const scaled = workloadName({ kind: 'Deployment', namespace, name });
    const left = differences(original, turned.after);
    expect(left).toEqual([expect.stringContaining(`${scaled}: spec was `)]);
    expect(await cluster.replicas(namespace, name)).toBe(9);
    expect(turned.written.get(scaled)).toHaveLength(1);
  });
});

// Two waits for pods, and the start of a starter in between.
describe('a priority that is waited for', { timeout: 240_000 }, () => {
  /** The wait that is under way now. */
  const waitOf = async (schedule: string): Promise<string | undefined> => {
    const { raw } = await cluster.handle(schedule).describe();
    const wait = raw.pendingActivities?.find(({ activityType }) => activityType?.name === 'awaitScaled');
    return wait?.activityId ?? undefined;
  };

  it('is waited for all the same when the starter is restarted, which wakes nobody, and when everything is looked at anew', async () => {
    const name = 'ordered';
    await cluster.namespace(name);
    await cluster.deployment(name, 'web', 1);
    await cluster.statefulSet(name, 'db', 1, { role: 'database' });
    const priorities = [{ priority: 10, selector: { matchLabels: { role: 'database' } } }];
    await cluster.schedule(name, { ...DOWN, namespaces: [name], priorities, readinessTimeout: '10m' });
    await cluster.reaches(name, 'Down', 'AsScheduled');
    await cluster.patchSchedule(name, { spec: UP });
    const first = await eventually('the database is waited for', async () => await waitOf(name));

    await starter.kill();
    starter = await plane.startStarter();
    expect(await waitOf(name)).toBe(first);
    await cluster.command(name, 'reconcileNow');
    await eventually('the database is waited for again', async () => {
      const wait = await waitOf(name);
      return wait !== undefined && wait !== first;
    });
    expect(await cluster.replicas(name, 'web')).toBe(0);
    await eventually('the database is ready', async () => {
      await cluster.readyPods(name);
      return (await cluster.readStatefulSet(name, 'db')).status?.readyReplicas === 1;
    });
    await cluster.reaches(name, 'Up', 'AsScheduled');
    expect(await cluster.replicas(name, 'web')).toBe(1);
    expect(await cluster.events(name)).not.toContainEqual(expect.stringMatching(/^ReadinessTimeout/));
  });
});

/** A real API server without the controllers of workloads, on which schedules go through some of their nights. */
import { type KubernetesObject, KubernetesObjectApi } from '@kubernetes/client-node';
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import type { LightsOutActivities } from '../../activities/lights-out/interface.ts';
import { createLightsOutActivities } from '../../activities/lights-out/kubernetes-activities.ts';
import { orNull } from '../../activities/kubernetes/failure.ts';
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { decide } from '../../domain/lights-out/decide/decide.ts';
import { freshMemory, type LightsOutMemory } from '../../domain/lights-out/decide/memory.ts';
import { packItems } from '../../domain/lights-out/decide/packed.ts';
import { unpackPlan } from '../../domain/lights-out/decide/packed-plan.ts';
import { statusOf } from '../../domain/lights-out/decide/status.ts';
import {
  CALENDAR,
  GROUP,
  KIND,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  PLURAL,
  VERSION,
} from '../../domain/lights-out/schedule/names.ts';
import { timingWith } from '../../domain/lights-out/schedule/calendar.ts';
import { periodAt } from '../../domain/lights-out/schedule/period.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import type { ScheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';
import { type ControlPlane, startControlPlane } from '../kernel/servers/control-plane.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';
import type { WrittenSchedule } from './any-schedule.ts';
import type { DrawnObject, DrawnWorkload } from './any-workload.ts';

const NAMESPACE = 'accepted';
const SYSTEM_NAMESPACE = 'headroom';
const SCHEDULES = { group: GROUP, version: VERSION, plural: PLURAL } as const;
/** They would make pods, of which there may be two thousand million. */
const WITHOUT_WORKLOADS =
  '--controllers=*,-deployment-controller,-statefulset-controller,-cronjob-controller,-horizontal-pod-autoscaler-controller';
const MARKS = [ORIGINAL_REPLICAS, ORIGINAL_SUSPEND, ORIGINAL_BOUNDS, MANAGED_BY];
const DAY_MS = 86_400_000;
/** How many transitions of a schedule are played, and how many passes are made at each at most. */
const TRANSITIONS = 3;
const PASSES = 6;

type Stored = KubernetesObject & { readonly spec?: Readonly<Record<string, unknown>> };

export class AcceptingCluster {
  readonly #plane: ControlPlane;
  readonly #kubernetes: Kubernetes;
  readonly #objects: KubernetesObjectApi;

  private constructor(plane: ControlPlane) {
    this.#plane = plane;
    const config = accessOf(plane.adminKubeconfig);
    this.#kubernetes = connectKubernetes(config);
    this.#objects = config.makeApiClient(KubernetesObjectApi);
  }

  static async start(): Promise<AcceptingCluster> {
    const plane = await startControlPlane({ controllerManagerFlags: [WITHOUT_WORKLOADS] });
    const cluster = new AcceptingCluster(plane);
    const { core, custom } = cluster.#kubernetes;
    const definitions = new URL('../../deploy/definitions/lights-out.yaml', import.meta.url);
    await applyManifests(plane.adminKubeconfig, [definitions]);
    for (const name of [NAMESPACE, SYSTEM_NAMESPACE]) await core.createNamespace({ body: { metadata: { name } } });
    const days = '- { from: 12-24, to: 01-06, reason: Christmas }\n- { from: 2027-05-01, state: Up }';
    const body = { metadata: { name: 'holidays', labels: { [CALENDAR]: '' } }, data: { days } };
    await core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body });
    await eventually('schedules are known', async () => {
      await custom.listClusterCustomObject(SCHEDULES);
      return true;
    });
    return cluster;
  }

  async stop(): Promise<void> {
    await this.#plane.stop();
  }

  /**
   * Some nights of a schedule, and its end.
   *
   * @returns what the API server refused, and what is not as it was; null where the schedule is not admitted.
   */
  async nights(written: WrittenSchedule, workloads: readonly DrawnWorkload[]): Promise<readonly string[] | null> {
    const spec = await this.#admitted(written);
    if (spec === null) return null;
    try {
      const before = (await Promise.all(workloads.flat().map(async (object) => await this.#create(object)))).flat();
      const { wrong, at } = await this.#play(written.name, spec);
      const left = await this.#end(written.name, at);
      return [...wrong, ...left, ...(await this.#changes(before))];
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    } finally {
      await this.#clear(written.name);
    }
  }

  #at(moment: EpochMs): LightsOutActivities {
    return createLightsOutActivities({
      kubernetes: this.#kubernetes,
      systemNamespace: SYSTEM_NAMESPACE,
      protectedNamespaces: [SYSTEM_NAMESPACE],
      gitopsManagers: [],
      timings: { retryMin: 15_000, retryMax: 600_000, contestedMin: 60_000, contestedMax: 3_600_000 },
      log: pino({ level: 'silent' }),
      now: () => moment,
    });
  }

  /** Null where the webhook or the definition refuses it. */
  async #admitted({ name, annotations, spec: given }: WrittenSchedule): Promise<ScheduleSpec | null> {
    const spec = { ...given, namespaces: [NAMESPACE] };
    const body = { apiVersion: `${GROUP}/${VERSION}`, kind: KIND, metadata: { name, annotations }, spec };
    const read = readSchedule(body);
    if (read.spec === null) return null;
    const object: unknown = await this.#kubernetes.custom
      .createClusterCustomObject({ ...SCHEDULES, body })
      .catch(() => null);
    return object === null ? null : read.spec;
  }

  /** As it is stored; nothing where the API server takes no such object. */
  async #create(drawn: DrawnObject): Promise<readonly Stored[]> {
    const object = { ...drawn, metadata: { ...drawn.metadata, namespace: NAMESPACE } };
    const stored = await this.#objects.create(object).catch(() => null);
    return stored === null ? [] : [{ ...object, ...stored }];
  }

  /** What the workflow does at some transitions of the schedule. */
  async #play(name: string, spec: ScheduleSpec): Promise<{ readonly wrong: readonly string[]; readonly at: EpochMs }> {
    const wrong: string[] = [];
    // Whatever was created just now is older.
    let at = Date.now() + DAY_MS;
    let memory: LightsOutMemory = freshMemory;
    for (let transition = 0; transition < TRANSITIONS; transition += 1) {
      const passed = await this.#passes(name, at, memory);
      wrong.push(...passed.wrong);
      memory = passed.memory;
      const next = periodAt(timingWith(spec, null), at).next?.at;
      if (next === undefined) break;
      at = next + 1000;
    }
    return { wrong, at };
  }

  async #passes(name: string, at: EpochMs, before: LightsOutMemory) {
    const activities = this.#at(at);
    const target = { cluster: NAMESPACE, schedule: name };
    const wrong: string[] = [];
    let memory = before;
    for (let pass = 0; pass < PASSES; pass += 1) {
      const { overrides, inEffect, joined = {}, joinedWorkloads = [] } = memory;
      const observeInput = {
        target,
        overrides,
        inEffect,
        joined,
        joinedWorkloads,
        isApproved: true,
        completedAt: null,
        contested: {},
        failing: [],
      };
      const packed = await activities.observeSchedule(observeInput);
      const seen = { ...packed, plan: packed.plan === null ? null : unpackPlan(packed.plan) };
      const [next, verdict] = decide(seen, { ...memory, approved: { by: 'jane', at } });
      memory = next;
      const scheduleUid = seen.schedule?.uid ?? '';
      const { ready, events } = verdict;
      if (ready !== null) {
        const status = statusOf(seen, memory);
        const observedGeneration = seen.schedule?.generation ?? 0;
        await activities.ensureScheduleStatus({ target, scheduleUid, observedGeneration, ready, status });
      }
      for (const event of events) await activities.ensureScheduleEvent({ target, scheduleUid, ...event });
      if (verdict.kind === 'finalizer') {
        await activities.ensureFinalizer({ target, scheduleUid, isPresent: verdict.isPresent });
        if (!verdict.isPresent) return { wrong, memory };
      } else if (verdict.kind === 'scale') {
        const items = packItems(verdict.items);
        const { outcomes } = await activities.ensureScaled({ target, scheduleUid, items, observeInput });
        const failed = outcomes.filter(({ kind }) => kind === 'failed');
        wrong.push(...failed.map(({ workload, detail }) => `${workload}: ${detail}`));
        if (failed.length > 0) return { wrong, memory };
      } else return { wrong, memory };
    }
    return { wrong: [...wrong, `it does not come to rest at ${new Date(at).toISOString()}`], memory };
  }

  /** Its deletion, by which everything wakes. */
  async #end(name: string, at: EpochMs): Promise<readonly string[]> {
    const { custom } = this.#kubernetes;
    await custom.deleteClusterCustomObject({ ...SCHEDULES, name });
    const { wrong } = await this.#passes(name, at, freshMemory);
    const left = await orNull(custom.getClusterCustomObject({ ...SCHEDULES, name }));
    return left === null || wrong.length > 0 ? wrong : ['it is still there'];
  }

  /** What of the objects is not as it was. Where there were marks before, only that something runs. */
  async #changes(before: readonly Stored[]): Promise<readonly string[]> {
    const changed = await Promise.all(
      before.map(async (stored) => {
        const now = (await this.#objects.read(stored as Parameters<KubernetesObjectApi['read']>[0])) as Stored;
        const isMarked = MARKS.some((mark) => stored.metadata?.annotations?.[mark] !== undefined);
        if (isMarked || isDeepStrictEqual(essence(stored), essence(now))) return [];
        return [`${stored.kind} ${stored.metadata?.name}: ${difference(essence(stored), essence(now))}`];
      }),
    );
    return changed.flat();
  }

  async #clear(name: string): Promise<void> {
    const { apps, autoscaling, batch, core, custom } = this.#kubernetes;
    await Promise.all([
      apps.deleteCollectionNamespacedDeployment({ namespace: NAMESPACE }),
      apps.deleteCollectionNamespacedStatefulSet({ namespace: NAMESPACE }),
      batch.deleteCollectionNamespacedCronJob({ namespace: NAMESPACE }),
      autoscaling.deleteCollectionNamespacedHorizontalPodAutoscaler({ namespace: NAMESPACE }),
      core.deleteCollectionNamespacedEvent({ namespace: 'default' }),
    ]);
    const finalizers = [{ op: 'add', path: '/metadata/finalizers', value: [] }];
    await orNull(custom.patchClusterCustomObject({ ...SCHEDULES, name, body: finalizers }));
    await orNull(custom.deleteClusterCustomObject({ ...SCHEDULES, name }));
  }
}

function essence({ metadata, spec }: Stored): Readonly<Record<string, unknown>> {
  return { labels: metadata?.labels ?? {}, annotations: metadata?.annotations ?? {}, spec };
}

const SHOWN_LENGTH = 500;

function difference(before: Readonly<Record<string, unknown>>, now: Readonly<Record<string, unknown>>): string {
  return Object.keys(before)
    .filter((key) => !isDeepStrictEqual(before[key], now[key]))
    .map((key) => `${key} was ${short(before[key])}, is ${short(now[key])}`)
    .join(', ');
}

function short(value: unknown): string {
  return (JSON.stringify(value) ?? '').slice(0, SHOWN_LENGTH);
}

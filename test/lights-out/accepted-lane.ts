/** A namespace in which one schedule after the other goes through some of its nights. */
import { isDeepStrictEqual } from 'node:util';
import { pino } from 'pino';
import { MERGE_PATCH } from '../../activities/lights-out/write-object.ts';
import { SCHEDULES } from '../../activities/lights-out/read-cluster.ts';
import { createLightsOutActivities } from '../../activities/lights-out/kubernetes-activities.ts';
import { orNull } from '../../activities/kubernetes/failure.ts';
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import {
  DOWN_SINCE,
  GROUP,
  KEDA_PAUSED,
  KEDA_PAUSED_REPLICAS,
  KIND,
  MANAGED_BY,
  MEMORY_OF,
  ORIGINAL_BOUNDS,
  ORIGINAL_PAUSED,
  ORIGINAL_REPLICAS,
  ORIGINAL_SUSPEND,
  OWN_TIMES,
  SCALED_OWNER,
  SLEEP_UNTIL,
  VERSION,
} from '../../domain/lights-out/schedule/names.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import { OBJECT_RESOURCES } from '../../domain/lights-out/workload/kinds.ts';
import { isPaused } from '../../domain/lights-out/workload/keda-paused.ts';
import { labelValue } from '../../domain/lights-out/workload/saved-state.ts';
import type { Texts } from './any-metadata.ts';
import { OWN, type WrittenSchedule } from './any-schedule.ts';
import type { DrawnObject, DrawnWorkload } from './any-workload.ts';
import { PlayedSchedule } from './played-schedule.ts';

export const SYSTEM_NAMESPACE = 'headroom';

/** The marks, and what each lets a schedule write that wakes what it did not put to sleep. */
const NAMED_BY: Readonly<Record<string, readonly string[]>> = {
  [ORIGINAL_REPLICAS]: ['replicas'],
  [ORIGINAL_SUSPEND]: ['suspend', KEDA_PAUSED],
  [ORIGINAL_PAUSED]: [KEDA_PAUSED],
  [ORIGINAL_BOUNDS]: ['minReplicas', 'maxReplicas'],
  [MANAGED_BY]: [KEDA_PAUSED_REPLICAS],
  [DOWN_SINCE]: [],
  [SCALED_OWNER]: [],
};
const DAY_MS = 86_400_000;
/** How many moments of a schedule are played: in most a night and a morning. */
const MOMENTS = 3;
/** Later moments are as good as none. */
const FAR_MS = 1000 * DAY_MS;

/** One schedule, the namespace that it is about, and what is there. */
export interface DrawnNights {
  readonly schedule: WrittenSchedule;
  readonly namespace: { readonly labels: Texts; readonly annotations: Texts };
  readonly workloads: readonly DrawnWorkload[];
}

/** As the API server sends it. */
interface Stored {
  readonly apiVersion: string;
  readonly kind: DrawnObject['kind'];
  readonly metadata: { readonly name: string; readonly labels?: Texts; readonly annotations?: Texts };
  readonly spec?: {
    readonly scaleTargetRef?: { readonly name: string };
    readonly replicas?: number;
    readonly suspend?: boolean;
  };
}

export class AcceptedLane {
  /** What slept at some moment, or was held. */
  readonly slept = new Set<DrawnObject['kind']>();
  readonly #kubernetes: Kubernetes;
  readonly #lane: number;
  readonly #namespace: string;
  /** Those of the other lanes, which no schedule of this one may see. */
  readonly #others: readonly string[];

  constructor(kubernetes: Kubernetes, namespaces: readonly string[], lane: number) {
    this.#kubernetes = kubernetes;
    this.#lane = lane;
    this.#namespace = namespaces[lane] ?? '';
    this.#others = namespaces.filter((_, index) => index !== lane);
  }

  /**
   * Some nights of a schedule, and its end.
   *
   * @returns what the API server refused, and what is not as it was; null where the schedule is not admitted.
   */
  async nights(drawn: DrawnNights): Promise<readonly string[] | null> {
    const body = this.#scheduleOf(drawn.schedule);
    if (!(await this.#isAdmitted(body))) return null;
    const { name } = body.metadata;
    try {
      const { labels, annotations } = drawn.namespace;
      await this.#describe({ labels, annotations });
      const before = (await Promise.all(drawn.workloads.flat().map(async (one) => await this.#create(one)))).flat();
      // After the workloads: what is made while it is to be asleep is a person's.
      await this.#kubernetes.custom.createClusterCustomObject({ ...SCHEDULES, body });
      const wrong = await this.#play(name, drawn, before);
      await this.#describe({
        labels: nullified(labels),
        annotations: nullified(annotations),
      });
      return wrong;
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)];
    } finally {
      await this.#clear(name);
    }
  }

  /** For this lane: schedules of two lanes have no name in common, and select nothing of each other. */
  #scheduleOf({ name, annotations, spec }: WrittenSchedule) {
    const own = (names: unknown): string[] =>
      (Array.isArray(names) ? names : []).map((one: unknown) => (one === OWN ? this.#namespace : String(one)));
    return {
      apiVersion: `${GROUP}/${VERSION}`,
      kind: KIND,
      metadata: { name: `${name.slice(0, -1)}${this.#lane}`, annotations },
      spec: {
        ...spec,
        ...(spec.namespaces === undefined ? {} : { namespaces: own(spec.namespaces) }),
        excludeNamespaces: [...own(spec['excludeNamespaces']), ...this.#others],
      },
    };
  }

  /** By the webhook's rules, and by the definition. */
  async #isAdmitted(body: object): Promise<boolean> {
    if (readSchedule(body).spec === null) return false;
    const request = { ...SCHEDULES, body, dryRun: 'All' };
    return await this.#kubernetes.custom.createClusterCustomObject(request).then(
      () => true,
      () => false,
    );
  }

  async #describe(metadata: object): Promise<void> {
    await this.#kubernetes.core.patchNamespace({ name: this.#namespace, body: { metadata } }, MERGE_PATCH);
  }

  /** As it is stored; nothing where the API server takes no such object. */
  async #create(drawn: DrawnObject): Promise<readonly Stored[]> {
    const request = { ...resourceOf(drawn), namespace: this.#namespace, body: drawn };
    const stored = (await this.#kubernetes.custom
      .createNamespacedCustomObject(request)
      .catch(() => null)) as Stored | null;
    return stored === null ? [] : [stored];
  }

  async #play(name: string, drawn: DrawnNights, before: readonly Stored[]): Promise<readonly string[]> {
    const played = new PlayedSchedule({ cluster: 'accepted', schedule: name }, (moment) => this.#activitiesAt(moment));
    const start = Date.now() + DAY_MS;
    let at: EpochMs = start;
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      const wrong = await played.rest(at);
      if (wrong.length > 0) return wrong;
      const changed = await this.#changes(name, before, { isAllAwake: isMorning(played, drawn) });
      if (changed.length > 0) return changed.map((one) => `at ${new Date(at).toISOString()} ${one}`);
      const { next } = played;
      if (next === null || next > start + FAR_MS) break;
      at = next + 1000;
    }
    await this.#kubernetes.custom.deleteClusterCustomObject({ ...SCHEDULES, name });
    const wrong = await played.rest(at);
    if (wrong.length > 0) return wrong;
    const left = await orNull(this.#kubernetes.custom.getClusterCustomObject({ ...SCHEDULES, name }));
    const changed = await this.#changes(name, before, { isAllAwake: true });
    return [...(left === null ? [] : ['it is still there']), ...changed.map((one) => `in the end ${one}`)];
  }

  #activitiesAt(moment: EpochMs) {
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

  /**
   * What of the objects is not as it was, but for what sleeps. Those that had marks of whoever it was before may lose them, and be
   * woken by them, as may a workload by those of its autoscaler.
   */
  async #changes(
    schedule: string,
    before: readonly Stored[],
    { isAllAwake }: { readonly isAllAwake: boolean },
  ): Promise<readonly string[]> {
    const changed = await Promise.all(
      before.map(async (stored) => {
        const { kind, metadata } = stored;
        const request = { ...resourceOf(stored), namespace: this.#namespace, name: metadata.name };
        const now = (await this.#kubernetes.custom.getNamespacedCustomObject(request)) as Stored;
        const isAsleep = now.metadata.annotations?.[MANAGED_BY] === schedule;
        if (isAsleep) this.slept.add(kind);
        if (isAsleep) return isAllAwake ? [`${kind} ${metadata.name} still sleeps`] : [];
        const own = before.filter(({ spec }) => spec?.scaleTargetRef?.name === metadata.name);
        const free = new Set([
          ...marksOf(stored).flatMap((mark) => [mark, ...(NAMED_BY[mark] ?? [])]),
          ...(own.some((scaler) => marksOf(scaler).includes(ORIGINAL_BOUNDS)) ? ['replicas'] : []),
        ]);
        const wrong = [difference(essence(stored, free), essence(now, free)), lessThan(stored, now)].filter(Boolean);
        return wrong.length === 0 ? [] : [`${kind} ${metadata.name}: ${wrong.join(', ')}`];
      }),
    );
    return changed.flat();
  }

  async #clear(name: string): Promise<void> {
    const { core, custom } = this.#kubernetes;
    const namespace = this.#namespace;
    const all = Object.keys(API_GROUPS) as DrawnObject['kind'][];
    await Promise.all([
      ...all.map((kind) => custom.deleteCollectionNamespacedCustomObject({ ...resourceOf({ kind }), namespace })),
      core.deleteCollectionNamespacedConfigMap({
        namespace: SYSTEM_NAMESPACE,
        labelSelector: `${MEMORY_OF}=${labelValue(name)}`,
      }),
    ]);
    const finalizers = { metadata: { finalizers: null } };
    await orNull(custom.patchClusterCustomObject({ ...SCHEDULES, name, body: finalizers }, MERGE_PATCH));
    await orNull(custom.deleteClusterCustomObject({ ...SCHEDULES, name }));
  }
}

const API_GROUPS: Readonly<Record<DrawnObject['kind'], readonly [group: string, version: string]>> = {
  Deployment: ['apps', 'v1'],
  StatefulSet: ['apps', 'v1'],
  CronJob: ['batch', 'v1'],
  Rollout: ['argoproj.io', 'v1alpha1'],
  ScaledJob: ['keda.sh', 'v1alpha1'],
  HorizontalPodAutoscaler: ['autoscaling', 'v2'],
  ScaledObject: ['keda.sh', 'v1alpha1'],
};

function resourceOf({ kind }: Pick<DrawnObject, 'kind'>) {
  const [group, version] = API_GROUPS[kind];
  return { group, version, plural: OBJECT_RESOURCES[kind] };
}

/** Whether nothing may sleep: the schedule wakes everything, and nobody has other times. */
function isMorning({ seen }: PlayedSchedule, { schedule, namespace, workloads }: DrawnNights): boolean {
  const isOver = seen?.schedule?.spec?.suspend === false && seen.period?.state === 'Up';
  const all = [
    schedule.annotations,
    namespace.annotations,
    ...workloads.flat().map(({ metadata }) => metadata.annotations),
  ];
  return isOver && all.every((texts) => texts[SLEEP_UNTIL] === undefined && texts[OWN_TIMES] === undefined);
}

function marksOf({ metadata: { annotations = {} } }: Stored): readonly string[] {
  return Object.keys(NAMED_BY).filter((mark) => annotations[mark] !== undefined);
}

function nullified(texts: Texts): Readonly<Record<string, null>> {
  return Object.fromEntries(Object.keys(texts).map((key) => [key, null]));
}

/** @param free annotations, and fields of the spec, that may be otherwise. */
function essence({ metadata, spec }: Stored, free: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  const rest = (all: object = {}): object => Object.fromEntries(Object.entries(all).filter(([key]) => !free.has(key)));
  return { labels: metadata.labels ?? {}, annotations: rest(metadata.annotations), spec: rest(spec) };
}

/** What runs less than before; empty where nothing does. */
function lessThan(before: Stored, now: Stored): string {
  const [had, has] = [before, now].map(({ spec }) => spec?.replicas ?? 1) as [number, number];
  if (has < had) return `replicas were ${had}, are ${has}`;
  const [was, is] = [before, now].map(
    ({ metadata, spec }) => spec?.suspend === true || isPaused(metadata.annotations ?? {}),
  );
  return is && !was ? 'it is suspended' : '';
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

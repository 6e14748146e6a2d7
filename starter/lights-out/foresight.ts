/** What schedules are about to do, for whoever keeps nodes for the workloads: who sleeps within the hour, and who wakes soon. */
import { setImmediate as turn } from 'node:timers/promises';
import type { KubernetesObject } from '@kubernetes/client-node';
import { isBound } from '../../activities/lights-out/evaluation-context.ts';
import type { KeptMemory } from '../../activities/lights-out/scaling-memory.ts';
import { listAll } from '../../activities/kubernetes/list.ts';
import type { Amounts } from '../../domain/kernel/amounts.ts';
import { FORESEEN_MS, type Outlook } from '../../domain/kernel/outlook.ts';
import type { PauseInForce, PauseSubject } from '../../domain/kernel/pause.ts';
import { podRequests } from '../../domain/kernel/pod-requests.ts';
import { isRecord } from '../../domain/kernel/record.ts';
import { type LimitRange, storedPodSpec } from '../../domain/kernel/stored-pod.ts';
import { type EpochMs, MINUTE_MS } from '../../domain/kernel/time.ts';
import { MANAGED_BY, type WorkloadType } from '../../domain/lights-out/schedule/names.ts';
import { isInScope } from '../../domain/lights-out/schedule/scope.ts';
import type { ApprovedWorkloads } from '../../domain/lights-out/workload/approved.ts';
import type { EvaluationContext } from '../../domain/lights-out/workload/evaluation.ts';
import { foresee, type Foreseen } from '../../domain/lights-out/workload/foresee.ts';
import { hasOwnMoments } from '../../domain/lights-out/workload/moments.ts';
import { WORKLOAD_KINDS } from '../../domain/lights-out/workload/kinds.ts';
import { type NamespaceQuota, QuotaRoom } from '../../domain/lights-out/workload/quota-room.ts';
import { scaledUid } from '../../domain/lights-out/workload/scaled-owner.ts';
import { labelValue, originalReplicas } from '../../domain/lights-out/workload/saved-state.ts';
import type { ScopedNamespace, Workload } from '../../domain/lights-out/workload/workload.ts';
import type { Log } from '../../platform/log/log.ts';
import { type ApiGet, failureOf, listPath, listPlainPages } from '../../activities/kubernetes/api-get.ts';
import type { Outlooks } from '../kernel/outlooks.ts';
import type { ScheduleRegistry, WatchedSchedule } from './schedule-registry.ts';
import type { ScheduleWatch } from './watch.ts';

export interface ForesightOptions {
  readonly registry: ScheduleRegistry;
  readonly watch: Pick<ScheduleWatch, 'view' | 'trouble'>;
  readonly outlooks: Outlooks;
  readonly get: ApiGet;
  /** The memory of a schedule, read now. */
  readonly memory: (schedule: string, scheduleUid: string) => Promise<KeptMemory>;
  /** The pause that holds for a workload, as it is watched. */
  readonly pauseOf: (subject: PauseSubject) => PauseInForce | null;
  readonly log: Log;
  readonly now?: () => EpochMs;
}

/** How often to look ahead, in milliseconds: a prewarming of minutes is not late by that. */
const EVERY_MS = 10_000;
/** How many workloads are evaluated in one turn of the event loop: a few milliseconds. */
const EVALUATED_AT_ONCE = 500;
/** What is read of a schedule for its wake is read again after so many milliseconds at the earliest. */
const READ_AGAIN_MS = MINUTE_MS;

/** What was read of a schedule, and when. */
interface Read<T> {
  readonly at: EpochMs;
  readonly of: T;
}

/** What bounds the pods of some namespaces, by namespace. */
interface Bounds {
  readonly namespaces: ReadonlySet<string>;
  readonly quotas: ReadonlyMap<string, readonly NamespaceQuota[]>;
  readonly limitRanges: ReadonlyMap<string, readonly LimitRange[]>;
}

/** Of the pods of a workload. */
interface Template {
  readonly reduced: unknown;
  /** What each requests, once it is stored. */
  readonly requests: Amounts;
}

/** What all schedules of one look share, and the context of one of them. */
interface Given {
  readonly context: EvaluationContext;
  readonly workloads: readonly Workload[];
  readonly byName: ReadonlyMap<string, ScopedNamespace>;
  readonly now: EpochMs;
}

interface Found {
  readonly sleeping: readonly Outlook[];
  readonly waking: readonly Waking[];
}

const NOTHING: Found = { sleeping: [], waking: [] };

/** A workload that wakes, with what is read of it. */
interface Waking {
  readonly foreseen: Foreseen;
  readonly workload: Workload;
}

export class Foresight {
  readonly #options: ForesightOptions;
  /** The pods' templates of the workloads of each schedule that wakes, by UID. */
  readonly #templates = new Map<string, Read<ReadonlyMap<string, Template>>>();
  readonly #memories = new Map<string, Read<KeptMemory>>();
  #bounds: Read<Bounds> | null = null;
  #trouble: string | null = null;
  #running: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  #isStopped = false;

  constructor(options: ForesightOptions) {
    this.#options = options;
    let isRunning = false;
    this.#timer = setInterval(() => {
      if (isRunning) return;
      isRunning = true;
      this.#running = this.look().finally(() => {
        isRunning = false;
      });
    }, EVERY_MS);
  }

  /** Publishes what is foreseen now. Where that is not known, what was foreseen before stays, and ends by its own times. */
  async look(): Promise<void> {
    const { registry, watch, outlooks, log, now: clock = Date.now } = this.#options;
    if (!outlooks.isAsked || watch.trouble() !== null) return;
    try {
      const now = clock();
      const { workloads, namespaces } = watch.view('');
      const byName = new Map(namespaces.map((namespace) => [namespace.name, namespace]));
      const all: Outlook[] = [];
      const waking = new Map<WatchedSchedule, readonly Waking[]>();
      for (const { schedule, context } of registry.evaluators(now)) {
        const found = await this.#foreseen(schedule, { context, workloads, byName, now });
        all.push(...found.sleeping);
        if (found.waking.length > 0) waking.set(schedule, found.waking);
      }
      const wakes = new Set([...waking.keys()].map(({ name }) => name));
      for (const name of this.#templates.keys()) if (!wakes.has(name)) this.#templates.delete(name);
      for (const [name, { at }] of this.#memories) if (now - at >= READ_AGAIN_MS) this.#memories.delete(name);
      all.push(...(await this.#wakes(waking, now)));
      if (this.#isStopped) return;
      outlooks.publish(all);
      this.#trouble = null;
    } catch (error) {
      const { reason } = failureOf(error);
      if (reason !== this.#trouble && !this.#isStopped) {
        log.warn({ reason }, 'what schedules are about to do is not known to the node groups');
      }
      this.#trouble = reason;
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  /** What is approved of a schedule is read where something is foreseen for it, once a minute. */
  async #foreseen(schedule: WatchedSchedule, given: Given): Promise<Found> {
    if (given.context.spec.dryRun) return NOTHING;
    const found = await this.#scan(schedule, given);
    if (!isBound(schedule) || found.sleeping.length + found.waking.length === 0) return found;
    const { approved } = await this.#memoryOf(schedule, given.now);
    return await this.#scan(schedule, given, approved ?? new Map());
  }

  async #scan(
    schedule: WatchedSchedule,
    { context, workloads, byName, now }: Given,
    approved?: ApprovedWorkloads,
  ): Promise<Found> {
    const { registry, pauseOf } = this.#options;
    const sleeping: Outlook[] = [];
    const waking: Waking[] = [];
    // Who has not been approved stays up.
    const withApproved = (of: EvaluationContext): EvaluationContext =>
      approved === undefined ? of : { ...of, approved };
    const present = withApproved(context);
    const contexts = new Map<EpochMs, EvaluationContext | null>([[now, present]]);
    const contextAt = (at: EpochMs): EvaluationContext | null => {
      let known = contexts.get(at);
      if (known === undefined) {
        const read = registry.contextOf(schedule, at);
        known = read === null ? null : withApproved(read);
        contexts.set(at, known);
      }
      return known;
    };
    const moments = momentsOf(registry, schedule, present, now);
    const { since } = present.period;
    const isNear = moments.some((at) => at - now <= FORESEEN_MS) || (since !== null && now - since < FORESEEN_MS);
    for (const [index, workload] of workloads.entries()) {
      if (index % EVALUATED_AT_ONCE === EVALUATED_AT_ONCE - 1) await turn();
      const namespace = byName.get(workload.namespace);
      if (namespace === undefined || this.#isStopped) continue;
      if (!isNear && !hasOwnMoments(workload) && !hasOwnMoments(namespace)) continue;
      const isOwn = workload.annotations[MANAGED_BY] === schedule.name;
      if (!isOwn && !isInScope(workload, namespace, present.spec, present.protectedNamespaces)) continue;
      const foreseen = foresee(workload, namespace, { now, contextAt, moments });
      if (foreseen === null) continue;
      // What is paused stays as it is, nobody knows for how long.
      const subject = { controller: 'lights-out', namespace: workload.namespace, name: schedule.name } as const;
      if (pauseOf(subject) !== null) continue;
      if (foreseen.change === 'sleeps') sleeping.push({ ...foreseen, template: null });
      else waking.push({ foreseen, workload });
    }
    return { sleeping, waking };
  }

  /** Of what the memory knows, no more pods than it knows, as far as the quotas of the namespaces let its pods in. */
  async #wakes(waking: ReadonlyMap<WatchedSchedule, readonly Waking[]>, now: EpochMs): Promise<readonly Outlook[]> {
    if (waking.size === 0) return [];
    const namespaces = new Set([...waking.values()].flat().map(({ workload: { namespace } }) => namespace));
    const bounds = await this.#boundsOf(namespaces, now);
    const rooms = new Map<string, QuotaRoom>();
    const outlooks: Outlook[] = [];
    for (const [schedule, all] of waking) {
      const templates = await this.#templatesOf(schedule, all, { now, bounds });
      const { remembered: kept } = await this.#memoryOf(schedule, now);
      for (const { foreseen, workload } of all) {
        const { namespace } = workload;
        // Whoever may annotate a workload could write any number into its mark.
        const remembered = kept.get(scaledUid(workload));
        const template = templates.get(workload.uid);
        if (remembered === undefined || template === undefined) continue;
        const there = workload.replicas ?? 0;
        const more = Math.min(foreseen.pods, originalReplicas(remembered)) - there;
        if (more <= 0) continue;
        const room = rooms.get(namespace) ?? new QuotaRoom(bounds.quotas.get(namespace) ?? []);
        rooms.set(namespace, room);
        const admitted = room.take(more, template.requests);
        if (admitted > 0) outlooks.push({ ...foreseen, pods: there + admitted, template: template.reduced });
      }
    }
    return outlooks;
  }

  async #memoryOf({ name, uid }: WatchedSchedule, now: EpochMs): Promise<KeptMemory> {
    const known = this.#memories.get(name);
    if (known !== undefined && now - known.at < READ_AGAIN_MS) return known.of;
    const of = await this.#options.memory(name, uid);
    this.#memories.set(name, { at: now, of });
    return of;
  }

  async #templatesOf(
    { name }: WatchedSchedule,
    waking: readonly Waking[],
    { now, bounds }: { readonly now: EpochMs; readonly bounds: Bounds },
  ): Promise<ReadonlyMap<string, Template>> {
    const known = this.#templates.get(name);
    if (known !== undefined && now - known.at < READ_AGAIN_MS) return known.of;
    const kinds = [...new Set(waking.map(({ workload }) => workload.kind))];
    const lists = await Promise.all(kinds.map(async (kind) => await this.#list(kind, name, bounds)));
    const of = new Map(lists.flat());
    this.#templates.set(name, { at: now, of });
    return of;
  }

  /** Reduced page by page: whole templates are large. */
  async #list(
    kind: WorkloadType,
    schedule: string,
    { limitRanges }: Bounds,
  ): Promise<readonly (readonly [uid: string, template: Template])[]> {
    const { get, outlooks } = this.#options;
    const labelSelector = `${MANAGED_BY}=${labelValue(schedule)}`;
    const path = listPath(WORKLOAD_KINDS[kind].resource);
    const pages = listPlainPages<KubernetesObject & { spec?: unknown }>(get, {
      path,
      metadataOnly: false,
      labelSelector,
    });
    const found: (readonly [string, Template])[] = [];
    await listAll<KubernetesObject>(async (range) => {
      const page = await pages(range);
      for (const { metadata, spec } of page.items) {
        if (!isRecord(spec) || !isRecord(spec['template'])) continue;
        const requests = requestsOf(spec['template']['spec'], limitRanges.get(metadata?.namespace ?? '') ?? []);
        found.push([metadata?.uid ?? '', { reduced: outlooks.reduced(spec), requests }]);
      }
      return { ...page, items: [] };
    });
    return found;
  }

  async #boundsOf(namespaces: ReadonlySet<string>, now: EpochMs): Promise<Bounds> {
    const known = this.#bounds;
    const isKnown = known !== null && [...namespaces].every((namespace) => known.of.namespaces.has(namespace));
    if (isKnown && now - known.at < READ_AGAIN_MS) return known.of;
    const [quotas, limitRanges] = await Promise.all([
      this.#listIn<NamespaceQuota>('resourcequotas', namespaces),
      this.#listIn<LimitRange>('limitranges', namespaces),
    ]);
    const of = { namespaces, quotas, limitRanges };
    this.#bounds = { at: now, of };
    return of;
  }

  /** One list of all, of which those of these namespaces are kept: by namespace, and there by name. */
  async #listIn<T>(resource: string, namespaces: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly T[]>> {
    const path = listPath({ group: '', version: 'v1', resource });
    const pages = listPlainPages<KubernetesObject & T>(this.#options.get, { path, metadataOnly: false });
    const objects = await listAll<KubernetesObject & T>(async (range) => {
      const page = await pages(range);
      return { ...page, items: page.items.filter(({ metadata }) => namespaces.has(metadata?.namespace ?? '')) };
    });
    const nameOf = ({ metadata }: KubernetesObject): string => metadata?.name ?? '';
    const sorted = objects.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
    return Map.groupBy(sorted, ({ metadata }) => metadata?.namespace ?? '');
  }
}

/** @param spec of the template of a pod. */
function requestsOf(spec: unknown, limitRanges: readonly LimitRange[]): Amounts {
  return podRequests({ spec: storedPodSpec(isRecord(spec) ? spec : {}, { limitRanges, runtimeClass: null }) });
}

/** The next change of the schedule, and the ends of what people have asked for. */
function momentsOf(
  registry: ScheduleRegistry,
  schedule: WatchedSchedule,
  { overrides }: EvaluationContext,
  now: EpochMs,
): readonly EpochMs[] {
  const next = registry.periodOf(schedule, now)?.next;
  return [...(next == null ? [] : [next.at]), ...overrides.map(({ until }) => until)].filter((at) => at > now);
}

import { type GroupResource, groupResourceName } from '../../domain/kernel/group-resource.ts';
import type { ResourceList } from '../../domain/kernel/resource-list.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import { changesUsage, chargeEndsAt, replenishes } from '../../domain/quota-usage/changes.ts';
import type { ChangeKind } from '../../domain/quota-usage/coalesce.ts';
import type { CountedObject } from '../../domain/quota-usage/evaluator.ts';
import type { CachedQuota, StaleValue, UsagePolicy } from '../../domain/quota-usage/observation.ts';
import type { Log } from '../../platform/log/log.ts';
import { Alarms } from './alarms.ts';
import type { WrongQuota } from './audit-registry.ts';
import type { RunningUsageCache } from './cache.ts';
import { CountedQuotas, type CountedQuotasOptions, quotaKey, type RequestCause } from './counted-quotas.ts';
import type { UsageListener } from './usage-listener.ts';
import { priorities } from '../../domain/kernel/priority.ts';
import { isUrgent } from '../../domain/quota-usage/status.ts';
import { usageRequest, type QueuedUsageRequest } from './reconcile-request.ts';
import type { UsageMetrics } from './metrics.ts';
import { NamespaceRecounts } from './namespace-recounts.ts';
import type { SteadyTime } from './steady-time.ts';
import { StatusWriter, type StatusWriterOptions } from './status-writer.ts';

export interface UsageWatchOptions {
  readonly cluster: string;
  readonly policy: UsagePolicy;
  /** Milliseconds between two counts of every quota; 0 for none. */
  readonly resyncMs: number;
  readonly cache: () => Pick<
    RunningUsageCache,
    | 'quota'
    | 'quotas'
    | 'countNow'
    | 'unsettledCharges'
    | 'confirmCharges'
    | 'evaluators'
    | 'deviceClasses'
    | 'chargeEnds'
  >;
  /** Tells when a charge ends; the one of the cache. */
  readonly time: Pick<SteadyTime, 'now'>;
  readonly request: (request: QueuedUsageRequest) => void;
  /** How a status is written, in mode `own`. */
  readonly writing: Pick<StatusWriterOptions, 'isOwner' | 'pauseOf' | 'patch'>;
  /** Told of every write of a status by this starter. */
  readonly onWritten: CountedQuotasOptions['onWritten'];
  /** Told of every count: what the quota really uses. */
  readonly onCounted: (quota: CachedQuota, used: ResourceList) => void;
  readonly metrics: UsageMetrics;
  readonly log: Log;
}

export interface UsageWatch extends UsageListener {
  /** What is wrong in a quota's status by this count, and since when. */
  readonly staleValues: (quota: CachedQuota, count: UsageCount) => readonly StaleValue[];
  /** Quotas that have been wrong for longer than the audit waits. */
  readonly wrong: () => readonly WrongQuota[];
  /** Quotas that could not be counted in full the last time. */
  readonly unmeasured: () => readonly WrongQuota[];
  readonly waiting: () => number;
  /** This starter is the one that writes from now on, or something may be written again: what is untrue is counted again. */
  readonly writeAgain: () => void;
  /** The last count of a quota, as far as it could be counted; null before the first. */
  readonly countedUsed: (namespace: string, name: string) => ResourceList | null;
  readonly stop: () => void;
}

/**
 * Counts the quotas of a namespace when something in it changed. In mode `own` the starter that owns the writes makes a
 * status true that is not; an episode is started only for what a person has to know.
 */
export function createUsageWatch(options: UsageWatchOptions): UsageWatch {
  return new RecountingUsageWatch(options);
}

class RecountingUsageWatch implements UsageWatch {
  readonly #options: UsageWatchOptions;
  readonly #counted: CountedQuotas;
  /** Counts a namespace when a span of time is over. */
  readonly #alarms = new Alarms(
    () => performance.now(),
    (namespace) => this.#recounts.note(namespace, 'moved'),
  );
  /** Counts a namespace when a charge ends, which an object says by the time of the day. */
  readonly #chargeEnds = new Alarms(
    () => this.#options.time.now(),
    (namespace) => this.#recounts.note(namespace, 'moved'),
  );
  readonly #recounts: NamespaceRecounts;
  readonly #writer: StatusWriter;
  /** What makes the next count of a namespace one of a resync, which waits behind the others. */
  readonly #resynced = new Set<string>();
  #resync: NodeJS.Timeout | null = null;
  /** Namespaces that the present round of the resync has still to count. */
  #unvisited: string[] = [];

  constructor(options: UsageWatchOptions) {
    this.#options = options;
    this.#counted = new CountedQuotas({
      ...options,
      request: (quota, cause) => this.#enqueue(quota, cause),
      isOwner: options.writing.isOwner,
      write: (wanted) => this.#writer.add(wanted),
      countAgainAt: (namespace, at) => this.#alarms.set(namespace, at),
    });
    this.#writer = new StatusWriter({
      ...options.writing,
      cached: ({ namespace, name }) => options.cache().quota(namespace, name),
      onWritten: (wanted) => this.#counted.onWritten(wanted),
      onProblem: (quota, problem) => this.#counted.onProblem(quota, problem),
      countAgain: (namespace, at) =>
        at === null ? this.#recounts.note(namespace, 'urgent') : this.#alarms.set(namespace, at),
      metrics: options.metrics,
      log: options.log,
    });
    this.#recounts = new NamespaceRecounts((namespace, changedAt) => this.#count(namespace, changedAt));
    if (options.resyncMs > 0) this.#resyncLater(1);
  }

  onObject(resource: GroupResource, object: CountedObject, previous: CountedObject | undefined): void {
    const now = this.#options.time.now();
    // When it begins to be deleted a pod is charged as before: nothing changes until its grace is over.
    const endsAt = chargeEndsAt(resource, object);
    const itsNamespace = object.metadata?.namespace;
    if (endsAt !== null && endsAt >= now && itsNamespace !== undefined) this.#chargeEnds.set(itsNamespace, endsAt);
    const isMoved = previous !== undefined && replenishes(resource, previous, object, now);
    if (previous !== undefined && !isMoved && !changesUsage(resource, previous, object, now)) return;
    const namespace = this.#saw(resource, object);
    if (namespace !== null) this.#noteChange(namespace, isMoved ? 'moved' : 'charged');
  }

  onObjectGone(resource: GroupResource, object: CountedObject): void {
    const namespace = this.#saw(resource, object);
    if (namespace !== null) this.#noteChange(namespace, 'moved');
  }

  onQuota(quota: CachedQuota, previous: CachedQuota | undefined): void {
    const isSpecSame = previous !== undefined && JSON.stringify(previous.spec) === JSON.stringify(quota.spec);
    const isSame = isSpecSame && JSON.stringify(previous.status) === JSON.stringify(quota.status);
    const isEcho = this.#writer.isEcho(quota);
    // Labels alone are in the way of a write too.
    this.#writer.onQuota(quota);
    // What it has made itself is what was counted; what somebody else has written is looked at.
    if (isSame || (isEcho && isSpecSame)) return;
    const cache = this.#options.cache();
    const isUrgentNow = isUrgent(quota, cache.evaluators(), { deviceClasses: cache.deviceClasses() });
    this.#noteChange(quota.namespace, isSpecSame && !isUrgentNow ? 'charged' : 'urgent');
  }

  isOwnWrite(quota: CachedQuota): boolean {
    return this.#writer.isEcho(quota);
  }

  onQuotaGone(quota: CachedQuota): void {
    this.#counted.forget(quota);
    this.#writer.forget(quota);
    this.#noteChange(quota.namespace, 'moved');
    this.#enqueue(quota, { starts: false, cause: 'the quota is deleted', priority: priorities.routine, isGone: true });
  }

  onFilled(): void {
    for (const namespace of this.#namespaces()) this.#noteChange(namespace, 'charged');
  }

  onChecked(namespace: string): void {
    this.#noteChange(namespace, 'moved');
  }

  staleValues(quota: CachedQuota, count: UsageCount): readonly StaleValue[] {
    return this.#counted.staleValues(quota, count);
  }

  wrong(): readonly WrongQuota[] {
    return this.#counted.wrong();
  }

  unmeasured(): readonly WrongQuota[] {
    return this.#counted.unmeasured();
  }

  waiting(): number {
    return this.#recounts.waiting;
  }

  countedUsed(namespace: string, name: string): ResourceList | null {
    return this.#counted.used(namespace, name);
  }

  writeAgain(): void {
    this.#writer.resume();
    for (const namespace of this.#counted.untrueNamespaces()) this.#recounts.note(namespace, 'moved');
  }

  stop(): void {
    if (this.#resync !== null) clearTimeout(this.#resync);
    this.#alarms.stop();
    this.#chargeEnds.stop();
    this.#recounts.stop();
  }

  #count(namespace: string, changedAt: MonotonicMs): void {
    const { cache, metrics, log } = this.#options;
    metrics.recounts.inc();
    const isResync = this.#resynced.delete(namespace);
    const now = this.#options.time.now();
    for (const at of cache().chargeEnds(namespace)) if (at >= now) this.#chargeEnds.set(namespace, at);
    for (const quota of cache().quotas(namespace)) {
      try {
        this.#counted.evaluate(quota, cache().countNow(quota), changedAt, isResync);
      } catch (error) {
        log.error({ err: error, namespace, quota: quota.name }, `the quota ${quotaKey(quota)} could not be counted`);
      }
    }
  }

  #enqueue(quota: CachedQuota, cause: RequestCause): void {
    const { cluster, metrics, request } = this.#options;
    const { namespace, name } = quota;
    metrics.requests.inc({ priority: String(cause.priority) });
    request(usageRequest({ cluster, namespace, quota: name }, cause));
  }

  #noteChange(namespace: string, kind: ChangeKind): void {
    // What a resync finds waits behind the others; what changed besides does not.
    this.#resynced.delete(namespace);
    this.#recounts.note(namespace, kind);
  }

  /** Returns the namespace of the object, if anybody counts what is in it. */
  #saw(resource: GroupResource, object: CountedObject): string | null {
    const { cache, metrics } = this.#options;
    const { namespace } = object.metadata ?? {};
    // A namespace without a quota is nobody's business here.
    if (namespace === undefined || cache().quotas(namespace).length === 0) return null;
    metrics.changes.inc({ resource: groupResourceName(resource) });
    return namespace;
  }

  /** The namespaces of a round are spread over its time. */
  #resyncLater(inRound: number): void {
    this.#resync = setTimeout(() => {
      const isNewRound = this.#unvisited.length === 0;
      if (isNewRound) this.#unvisited = [...this.#namespaces()];
      const size = isNewRound ? Math.max(1, this.#unvisited.length) : inRound;
      const next = this.#unvisited.pop();
      if (next !== undefined) {
        this.#resynced.add(next);
        this.#recounts.note(next, 'charged');
      }
      this.#resyncLater(size);
    }, this.#options.resyncMs / inRound);
  }

  #namespaces(): ReadonlySet<string> {
    return new Set(
      this.#options
        .cache()
        .quotas()
        .map(({ namespace }) => namespace),
    );
  }
}

import { CoreV1Api, type KubeConfig, type V1Namespace, type V1ResourceQuota } from '@kubernetes/client-node';
import { equalTexts } from '../../domain/kernel/record.ts';
import { equalLists } from '../../domain/kernel/resource-list.ts';
import type { SeenQuota } from '../../domain/quota-resize/backlog.ts';
import { denialReasons, EVENTS_A_PAGE } from '../../domain/quota-resize/demand/event-message.ts';
import { type Informer, startInformer } from '../../activities/kubernetes/informer.ts';
import type { Log } from '../../platform/log/log.ts';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { ResizePolicy } from '../../domain/quota-resize/policy/policy.ts';
import { orphansRequest, quotaChangeRequest, type QuotaRequest, quotaRequest } from './reconcile-request.ts';
import { shapeEvent, shapeNamespace, shapeQuota, type WatchedEvent } from './shape.ts';
import { RepeatedDenials } from './repeated-denials.ts';
import { ThresholdStates, type ThresholdStatesOptions } from './threshold-states.ts';

/** Each may have annotations of 256 KiB. */
const OBJECTS_A_PAGE = 100;

export interface QuotaWatchOptions extends ThresholdStatesOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  /** Every quota under pressure is requested again after so many milliseconds, in case a reconcile request was lost. */
  readonly resyncMs: number;
  readonly request: (request: QuotaRequest) => void;
  /** Whether the Lease of a quota has a decision that is not over. */
  readonly hasDecision: (namespace: string, quota: string) => boolean;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface QuotaWatch {
  readonly informers: Readonly<Record<string, Informer<object & { metadata?: object }>>>;
  /**
   * Must be called after a count: the quota gets a request if the count puts it under pressure or relieves it. An
   * unknown quota is ignored.
   */
  usageCounted(namespace: string, quota: string): void;
  /** Every quota, as it was seen last. */
  seen(): readonly SeenQuota[];
  readonly quotas: Informer<V1ResourceQuota>;
  readonly policyOf: (quota: V1ResourceQuota) => ResizePolicy;
  stop(): Promise<void>;
}

/** The caches that exist so far: each is started when the one before has its first list. */
interface Caches {
  namespaces: Informer<V1Namespace> | null;
  quotas: Informer<V1ResourceQuota> | null;
  readonly denials: Record<string, Informer<WatchedEvent>>;
}

/**
 * Watches quotas, namespaces and denials, and enqueues reconcile requests for quotas that may need an episode. It uses
 * the domain's own filter but never decides: an episode observes everything again.
 */
export async function watchQuotas(options: QuotaWatchOptions): Promise<QuotaWatch> {
  const { kubeConfig } = options;
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const caches: Caches = { namespaces: null, quotas: null, denials: {} };
  const changes = new QuotaChanges(options, caches);

  // Namespaces first, so that an opt-out is known before the first quotas.
  const namespaces = await startInformer<V1Namespace>(
    kubeConfig,
    {
      name: 'namespaces',
      path: '/api/v1/namespaces',
      listPage: async (page) => await core.listNamespace(page),
      pageSize: OBJECTS_A_PAGE,
      shape: shapeNamespace,
      onChange: (namespace, previous) => changes.onNamespace(namespace, previous),
      onDelete: () => {},
    },
    options,
  );
  caches.namespaces = namespaces;
  const resourcequotas = await startInformer<V1ResourceQuota>(
    kubeConfig,
    {
      name: 'resourcequotas',
      path: '/api/v1/resourcequotas',
      listPage: async (page) => await core.listResourceQuotaForAllNamespaces(page),
      pageSize: OBJECTS_A_PAGE,
      shape: shapeQuota,
      onChange: (quota, previous) => changes.onQuota(quota, previous),
      onDelete: (quota) => changes.onQuotaGone(quota),
    },
    options,
  );
  caches.quotas = resourcequotas;
  for (const reason of denialReasons) {
    const name = `events/${reason}`;
    const fieldSelector = `reason=${reason}`;
    caches.denials[name] = await startInformer<WatchedEvent>(
      kubeConfig,
      {
        name,
        path: '/api/v1/events',
        fieldSelector,
        pageSize: EVENTS_A_PAGE,
        shape: shapeEvent,
        onChange: (event) => changes.onEvent(event),
        onDelete: () => {},
      },
      options,
    );
  }
  const resync = setInterval(() => changes.resync(), options.resyncMs);

  const informers = { namespaces, resourcequotas, ...caches.denials } as QuotaWatch['informers'];
  return {
    informers,
    quotas: resourcequotas,
    policyOf: (quota) => changes.policyOf(quota),
    usageCounted: (namespace, name) => changes.usageCounted(namespace, name),
    seen: () => changes.seen(),
    stop: async () => {
      clearInterval(resync);
      await Promise.all(Object.values(informers).map(async (informer) => await informer.stop()));
    },
  };
}

/** Decides for each change which quotas get a reconcile request, and whether it may start an episode. */
class QuotaChanges {
  readonly #options: QuotaWatchOptions;
  readonly #caches: Caches;
  readonly #states: ThresholdStates;
  readonly #repeats = new RepeatedDenials();

  constructor(options: QuotaWatchOptions, caches: Caches) {
    this.#options = options;
    this.#caches = caches;
    this.#states = new ThresholdStates(options, (namespace) => caches.namespaces?.get(namespace)?.metadata ?? {});
  }

  onNamespace(namespace: V1Namespace, previous: V1Namespace | undefined): void {
    const { name = '', deletionTimestamp } = namespace.metadata ?? {};
    const sameLife = deletionTimestamp === previous?.metadata?.deletionTimestamp;
    // A new namespace may already have known quotas, which were evaluated without its annotations.
    const samePolicy =
      previous !== undefined && sameResizerAnnotations(namespace, previous) && sameLabels(namespace, previous);
    if (sameLife && samePolicy) return;
    for (const quota of this.#quotasOf(name)) {
      this.#enqueueChange(quota, 'the namespace changed');
      if (this.#states.evaluate(quota).now.isOver) this.#enqueue(quota, true, 'the namespace changed');
    }
    if (this.#hasDenial(name)) this.#enqueueNamespace(name, 'admission denied a workload');
  }

  onQuota(quota: V1ResourceQuota, previous: V1ResourceQuota | undefined): void {
    const changed = previous !== undefined && (!sameSpec(quota, previous) || !sameResizerAnnotations(quota, previous));
    // A waiting episode is woken by a change, but not by the pressure that it already knows.
    if (changed) this.#enqueueChange(quota, 'the quota changed');
    const { before, now } = this.#states.evaluate(quota);
    // A status that follows the count contains nothing new.
    const isOld = previous !== undefined && !changed && before !== undefined && equalLists(before.used, now.used);
    if (this.#options.countedUsed !== undefined && now.isOver && isOld) return;
    if (now.isOver) return this.#enqueue(quota, true, 'a threshold is reached');
    if ((previous === undefined || changed) && this.#states.policyOf(quota).enabled) {
      if (this.#hasDenial(quota.metadata?.namespace ?? ''))
        return this.#enqueue(quota, true, 'admission denied a workload');
    }
    if (previous === undefined) return;
    if (!changed && before?.isOver === true) this.#enqueue(quota, false, 'the pressure is gone');
  }

  onQuotaGone(quota: V1ResourceQuota): void {
    this.#states.forget(quota);
    this.#enqueueChange(quota, 'the quota is deleted');
  }

  onEvent({ denial, metadata }: WatchedEvent): void {
    if (denial === null) return;
    for (const quota of this.#managedQuotasOf(metadata?.namespace ?? '')) this.#enqueueDenial(quota, denial);
  }

  usageCounted(namespace: string, name: string): void {
    const quota = this.#quotasOf(namespace).find(({ metadata }) => metadata?.name === name);
    if (quota === undefined) return;
    const { before, now } = this.#states.evaluate(quota);
    if (before !== undefined && before.isOver === now.isOver && equalLists(before.used, now.used)) return;
    if (now.isOver) return this.#enqueue(quota, true, 'a threshold is reached by what was counted');
    if (before?.isOver === true) this.#enqueue(quota, false, 'the pressure is gone by what was counted');
  }

  seen(): readonly SeenQuota[] {
    return this.#quotasOf().map((quota) => {
      const { namespace = '', name = '' } = quota.metadata ?? {};
      const isDenied = this.#hasDenial(namespace);
      return {
        namespace,
        quota: name,
        hard: quota.spec?.hard ?? {},
        overSince: this.#states.overSince(quota),
        isDenied,
      };
    });
  }

  policyOf(quota: V1ResourceQuota): ResizePolicy {
    return this.#states.policyOf(quota);
  }

  resync(): void {
    for (const quota of this.#quotasOf()) if (this.#states.stateOf(quota).isOver) this.#enqueue(quota, true, 'resync');
    const events = Object.values(this.#caches.denials).flatMap((informer) => informer.list());
    // Once for all Events of a namespace.
    const namespaces = new Set(
      events.flatMap(({ denial, metadata }) => (denial === null ? [] : [metadata?.namespace ?? ''])),
    );
    for (const namespace of namespaces) this.#enqueueNamespace(namespace, 'resync');
    this.#options.request(orphansRequest(this.#options.cluster, 'resync'));
  }

  #quotasOf(namespace?: string): readonly V1ResourceQuota[] {
    return this.#caches.quotas?.list(namespace) ?? [];
  }

  #hasDenial(namespace: string): boolean {
    return Object.values(this.#caches.denials).some((informer) =>
      informer.list(namespace).some(({ denial }) => denial !== null),
    );
  }

  #enqueueNamespace(namespace: string, cause: string): void {
    for (const quota of this.#managedQuotasOf(namespace)) this.#enqueue(quota, true, cause);
  }

  /** Admission names only the first exceeded quota; others of the namespace may be exceeded too. */
  #managedQuotasOf(namespace: string): readonly V1ResourceQuota[] {
    return this.#quotasOf(namespace).filter((quota) => this.#states.policyOf(quota).enabled);
  }

  #enqueueDenial(quota: V1ResourceQuota, denial: string): void {
    const { namespace = '', name = '' } = quota.metadata ?? {};
    const isDecided = (): boolean => this.#options.hasDecision(namespace, name);
    const { afterMs, isFirst } = this.#repeats.waitOf(`${namespace}/${name}`, denial, { isDecided: isDecided() });
    const cause = 'admission denied a workload';
    // An episode that began by a threshold learns at once that something is denied.
    if (afterMs === 0) return this.#enqueue(quota, true, cause, isFirst ? { skipsGap: true } : {});
    const isStillNeeded = (): boolean => {
      if (!isDecided()) return true;
      // A repetition has more time while there is a decision.
      this.#enqueueDenial(quota, denial);
      return false;
    };
    this.#enqueue(quota, true, cause, { afterMs, isStillNeeded });
  }

  /** A change by a person or by GitOps, and not only of what is used. */
  #enqueueChange(quota: V1ResourceQuota, cause: string): void {
    const target = this.#targetOf(quota);
    if (target !== null) this.#options.request(quotaChangeRequest(target, cause, versionOf(quota)));
  }

  #enqueue(
    quota: V1ResourceQuota,
    starts: boolean,
    cause: string,
    when: Pick<QuotaRequest, 'afterMs' | 'skipsGap' | 'isStillNeeded'> = {},
  ): void {
    const target = this.#targetOf(quota);
    if (target === null) return;
    this.#options.request({ ...quotaRequest(target, starts, cause, versionOf(quota)), ...when });
  }

  #targetOf({ metadata: { namespace, name } = {} }: V1ResourceQuota): QuotaTarget | null {
    if (namespace === undefined || name === undefined) return null;
    return { cluster: this.#options.cluster, namespace, quota: name };
  }
}

function versionOf({ metadata }: V1ResourceQuota): string {
  return metadata?.resourceVersion ?? '';
}

function sameSpec(a: V1ResourceQuota, b: V1ResourceQuota): boolean {
  return equalLists(a.spec?.hard ?? {}, b.spec?.hard ?? {});
}

/** A namespace's labels choose its guardrail. */
function sameLabels(a: V1Namespace, b: V1Namespace): boolean {
  return equalTexts(a.metadata?.labels ?? {}, b.metadata?.labels ?? {});
}

function resizerAnnotations(object: V1Namespace | V1ResourceQuota): string {
  const annotations = Object.entries(object.metadata?.annotations ?? {}).filter(([key]) =>
    key.startsWith('resizer.io/'),
  );
  return JSON.stringify(annotations.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function sameResizerAnnotations(a: V1Namespace | V1ResourceQuota, b: V1Namespace | V1ResourceQuota): boolean {
  return resizerAnnotations(a) === resizerAnnotations(b);
}

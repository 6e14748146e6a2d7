import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { GROUP, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { EVERY_CHILD } from '../../domain/memcached/children/body.ts';
import {
  type ChildKind,
  childKinds,
  childName,
  CHILD_TYPES,
  ownerName,
} from '../../domain/memcached/children/children.ts';
import { ownManagers } from '../../domain/memcached/children/managed-fields.ts';
import type { LiveObject } from '../../domain/memcached/plan/live.ts';
import { observationOf } from '../../domain/memcached/plan/observe.ts';
import type { LiveChildren, Seen } from '../../domain/memcached/plan/seen.ts';
import { ENDPOINT_SLICES, serviceOf } from '../../domain/memcached/servers/endpoints.ts';
import { instanceOf } from '../../domain/memcached/status/instance.ts';
import { memcachedName, type MemcachedTarget } from '../../domain/memcached/target.ts';
import type { Log } from '../../platform/log/log.ts';
import { listPath } from '../../activities/kubernetes/api-get.ts';
import { type Informer, openInformer } from '../../activities/kubernetes/informer.ts';
import { openWhereServed } from '../kernel/where-served.ts';
import type { SeenMemcached } from './overview.ts';
import { watchSecrets } from './secrets.ts';
import { seenSecrets } from './seen-secrets.ts';
import { goneRequest, memcachedRequest, type QueuedMemcachedRequest } from './reconcile-request.ts';

export interface MemcachedWatchOptions {
  readonly kubeConfig: KubeConfig;
  readonly cluster: string;
  /** Every Memcached is compared again after so many milliseconds, in case a reconcile request was lost. */
  readonly resyncMs: number;
  readonly request: (request: QueuedMemcachedRequest) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface MemcachedWatch {
  /** By a name for people. */
  readonly informers: Readonly<Record<string, Informer<KubernetesObject>>>;
  /** The Memcacheds that there are, as `<namespace>/<name>`; null while that is not known. */
  existing(): ReadonlySet<string> | null;
  /** Those of a namespace, or all, and what metrics say of each; none until everything about them is listed. */
  seen(namespace?: string): readonly SeenMemcached[];
  stop(): Promise<void>;
}

/** Memcacheds are meant to be served: their definition is only away, or about to come. */
const DEFINED_MS = 5_000;
/** The Prometheus operator is installed rarely, and its definitions come later. */
const SERVED_MS = 60_000;
/** What follows an event within so many milliseconds is compared together with it: a write is several events. */
const COMPARE_MS = 100;

/**
 * Watches Memcacheds and what they own, compares each that changed with the domain's own plan, and requests a pass for those that
 * are not as specified. It never decides: the workflow compares again.
 */
export function watchMemcacheds(options: MemcachedWatchOptions): MemcachedWatch {
  const { cluster, request, resyncMs } = options;
  const { compareSoon, stop: stopComparing } = comparing(compare);

  const memcacheds = openWhereServed<KubernetesObject>(
    options.kubeConfig,
    {
      group: GROUP,
      version: VERSION,
      resource: PLURAL,
      shape: withOwnManagers,
      onChange: (object) => {
        compareSoon(targetOf(cluster, object));
        secrets.watchFor(object);
      },
      onDelete: (object) => {
        secrets.forget(object);
        request(goneRequest(targetOf(cluster, object)));
      },
      onState: compareAll,
    },
    { everyMs: DEFINED_MS, log: options.log, signal: options.signal },
  );
  const children = openAllChildren(options, compareSoon, compareAll);
  const endpointSlices = openEndpointSlices(
    options,
    (slice) => compareSoon({ ...targetOf(cluster, slice), name: serviceOf(asLive(slice)) }),
    compareAll,
  );
  const secrets = watchSecrets(options, {
    memcacheds: (namespace) => memcacheds.list(namespace),
    onSecret: (object, secret) => {
      const { resourceVersion = '' } = object.metadata ?? {};
      request(memcachedRequest(targetOf(cluster, object), `the Secret ${secret} changed`, resourceVersion));
    },
  });
  const all = [memcacheds, ...Object.values(children), endpointSlices];
  const resync = setInterval(compareAll, resyncMs);

  function compareAll(): void {
    for (const object of memcacheds.list()) compareSoon(targetOf(cluster, object));
  }

  /**
   * What is not as specified; null for nothing, and where it is not known: an incomplete cache would find everything missing, and
   * compares again when it is complete.
   */
  function pendingOf(target: MemcachedTarget): { readonly cause: string; readonly resourceVersion: string } | null {
    if (options.signal.aborted || !all.every((informer) => informer.isSynced())) return null;
    const object = memcacheds.get(target.name, target.namespace);
    if (object === undefined) return null;
    const cause = pendingCause(object, target, { children, endpointSlices }, options.log);
    return cause === null ? null : { cause, resourceVersion: object.metadata?.resourceVersion ?? '' };
  }

  /** An episode that is under way writes meanwhile, so when its turn comes a request may have nothing to ask for any more. */
  function compare(target: MemcachedTarget): void {
    const pending = pendingOf(target);
    if (pending === null) return;
    const isStillNeeded = (): boolean => pendingOf(target) !== null;
    request({ ...memcachedRequest(target, pending.cause, pending.resourceVersion), isStillNeeded });
  }

  return {
    informers: { [PLURAL]: memcacheds, ...named(children), [informerName(ENDPOINT_SLICES.plural)]: endpointSlices },
    existing: () =>
      memcacheds.isSynced() && memcacheds.staleSeconds() === 0
        ? new Set(memcacheds.list().map((object) => memcachedName(targetOf(cluster, object))))
        : null,
    seen: (namespace) => seenIn(memcacheds, children.Deployment, namespace),
    stop: async () => {
      clearInterval(resync);
      stopComparing();
      await Promise.all([...all, ...secrets.informers()].map(async (informer) => await informer.stop()));
    },
  };
}

/** None while a list is missing: without the Deployments, no pod would be ready. */
function seenIn(
  memcacheds: Informer<KubernetesObject>,
  deployments: Informer<KubernetesObject>,
  inNamespace: string | undefined,
): readonly SeenMemcached[] {
  if (!memcacheds.isSynced() || !deployments.isSynced()) return [];
  return memcacheds.list(inNamespace).map((object) => {
    const { name = '', namespace = '' } = object.metadata ?? {};
    const deployment = deployments.get(childName('Deployment', name), namespace);
    const read = readMemcached(object);
    return { read, instance: instanceOf(read, deployment === undefined ? null : asLive(deployment)) };
  });
}

/** What is not as specified. A Memcached that Headroom cannot make sense of must not keep it from the others. */
function pendingCause(
  object: KubernetesObject,
  target: MemcachedTarget,
  caches: Parameters<typeof seenOf>[2],
  log: Log,
): string | null {
  try {
    const seen = seenOf(object, target, caches);
    const { pending, setBack = null } = observationOf(seen, seen.at);
    const [first] = pending;
    // Its episode waits for the moment at which it may be written again.
    if (first === undefined) return setBack === null ? null : `something sets the ${setBack.child} back`;
    return first.child === null ? 'the status is out of date' : `${first.act} the ${first.child}`;
  } catch (error) {
    const name = memcachedName(target);
    log.error({ err: error, memcached: name }, `the Memcached ${name} cannot be compared`);
    return null;
  }
}

/** Compares each Memcached once after the events of a moment. */
function comparing(compare: (target: MemcachedTarget) => void): {
  readonly compareSoon: (target: MemcachedTarget) => void;
  readonly stop: () => void;
} {
  const due = new Map<string, NodeJS.Timeout>();
  return {
    compareSoon: (target) => {
      const key = memcachedName(target);
      if (due.has(key)) return;
      const timer = setTimeout(() => {
        due.delete(key);
        compare(target);
      }, COMPARE_MS);
      due.set(key, timer);
    },
    stop: () => {
      for (const timer of due.values()) clearTimeout(timer);
    },
  };
}

/** Other controllers may watch the same kinds for other objects. */
function informerName(plural: string): string {
  return `${plural} (memcached)`;
}

/** They have the labels of their Service. */
function openEndpointSlices(
  { kubeConfig, log, signal }: MemcachedWatchOptions,
  onEvent: (object: KubernetesObject) => void,
  onState: () => void,
): Informer<KubernetesObject> {
  const { plural } = ENDPOINT_SLICES;
  return openInformer(
    kubeConfig,
    {
      name: informerName(plural),
      path: listPath({ ...ENDPOINT_SLICES, resource: plural }),
      labelSelector: EVERY_CHILD,
      shape: withOwnManagers,
      onChange: onEvent,
      onDelete: onEvent,
      onState,
    },
    { log, signal },
  );
}

function named(
  children: Readonly<Record<ChildKind, Informer<KubernetesObject>>>,
): Readonly<Record<string, Informer<KubernetesObject>>> {
  return Object.fromEntries(
    childKinds.map((kind) => [informerName(CHILD_TYPES[kind].plural), children[kind]] as const),
  );
}

function openAllChildren(
  options: MemcachedWatchOptions,
  compareSoon: (target: MemcachedTarget) => void,
  onState: () => void,
): Readonly<Record<ChildKind, Informer<KubernetesObject>>> {
  const opened = childKinds.map((kind) => {
    const onEvent = (object: KubernetesObject): void => {
      const child = targetOf(options.cluster, object);
      compareSoon({ ...child, name: ownerName(kind, child.name) });
    };
    return [kind, openChildren(options, kind, onEvent, onState)] as const;
  });
  return Object.fromEntries(opened) as Readonly<Record<ChildKind, Informer<KubernetesObject>>>;
}

function openChildren(
  { kubeConfig, log, signal }: MemcachedWatchOptions,
  kind: ChildKind,
  onEvent: (object: KubernetesObject) => void,
  onState: () => void,
): Informer<KubernetesObject> {
  const { group, version, plural: resource } = CHILD_TYPES[kind];
  const watched = {
    labelSelector: EVERY_CHILD,
    shape: withOwnManagers,
    onChange: onEvent,
    onDelete: onEvent,
    onState,
  };
  if (kind === 'ServiceMonitor') {
    return openWhereServed(kubeConfig, { ...watched, group, version, resource }, { everyMs: SERVED_MS, log, signal });
  }
  return openInformer(
    kubeConfig,
    { ...watched, name: informerName(resource), path: listPath({ group, version, resource }) },
    { log, signal },
  );
}

/** They are the larger half of an object, of which little decides. */
function withOwnManagers<T extends KubernetesObject>(object: T): T {
  const { managedFields, ...metadata } = object.metadata ?? {};
  return { ...object, metadata: { ...metadata, managedFields: ownManagers(managedFields) } };
}

/** As JSON has it. */
function asLive(object: KubernetesObject): LiveObject {
  return object as unknown as LiveObject;
}

function targetOf(cluster: string, { metadata }: KubernetesObject): MemcachedTarget {
  return { cluster, namespace: metadata?.namespace ?? '', name: metadata?.name ?? '' };
}

/** A Memcached with its objects as the caches have them. What Secrets cannot be had, the worker has written into the status. */
function seenOf(
  object: KubernetesObject,
  { namespace, name }: MemcachedTarget,
  informers: {
    readonly children: Readonly<Record<ChildKind, Informer<KubernetesObject>>>;
    readonly endpointSlices: Informer<KubernetesObject>;
  },
): Seen {
  const memcached = readMemcached(object);
  const children = Object.fromEntries(
    childKinds.map((kind) => [kind, informers.children[kind].get(childName(kind, name), namespace) ?? null] as const),
  ) as unknown as LiveChildren;
  return {
    memcached,
    children,
    at: Date.now(),
    // The worker says it.
    otherOperator: null,
    endpointSlices: informers.endpointSlices
      .list(namespace)
      .map(asLive)
      .filter((slice) => serviceOf(slice) === name),
    // Without a list there is no version.
    unserved: childKinds.filter((kind) => informers.children[kind].resourceVersion() === ''),
    secrets: seenSecrets(memcached, children.Deployment),
  };
}

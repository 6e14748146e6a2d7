import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { type GroupResource, groupOf, groupResourceName } from '../../domain/kernel/group-resource.ts';
import type { CountedObject, Evaluator } from '../../domain/quota-usage/evaluator.ts';
import { evaluatorsFor } from '../../domain/quota-usage/evaluators.ts';
import { type Discovery, type Monitored, neededResources, nextMonitors } from '../../domain/quota-usage/monitors.ts';
import type { MonotonicMs } from '../../domain/kernel/time.ts';
import type { CountingQuota } from '../../domain/quota-usage/scopes.ts';
import type { Log } from '../../platform/log/log.ts';
import { createApiGet, listPath } from '../../activities/kubernetes/api-get.ts';
import { type Informer, openInformer } from '../../activities/kubernetes/informer.ts';
import type { Notifier } from './notifier.ts';
import type { CheckedCacheAnswer } from './cache-checks.ts';
import { COUNTABLE } from './countable.ts';
import { createDiscovery } from './discovery.ts';
import { shapeOf } from './shape.ts';

export interface MonitorsOptions {
  readonly kubeConfig: KubeConfig;
  /** Milliseconds between two rounds of discovery. */
  readonly discoveryMs: number;
  /** Milliseconds: everything is listed again after this time, or up to twice as long. */
  readonly replenishmentResyncMs: number;
  /** How long a watch may be broken until its objects count as unknown. */
  readonly staleAfterSeconds?: number | undefined;
  /**
   * Milliseconds for which a resource is still watched after the last quota that counts it is gone, because quotas are
   * often replaced.
   */
  readonly lingerMs?: number | undefined;
  /** The specs of the existing quotas. */
  readonly specs: () => Iterable<CountingQuota>;
  readonly onChange: (resource: GroupResource, object: CountedObject, previous: CountedObject | undefined) => void;
  readonly onDelete: (resource: GroupResource, object: CountedObject) => void;
  /** Called when a cache was filled or is current again, so that this resource can be counted. */
  readonly onFilled: (resource: GroupResource) => void;
  /** Notified whenever objects may have changed, or whether they are known. */
  readonly notifier: Notifier;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The objects of a resource, or why they are unknown; `isFilling` when they will be known in a moment. */
type ObjectsAnswer =
  | { readonly objects: readonly CountedObject[] }
  | { readonly unavailable: string; readonly isFilling: boolean };

interface Monitor {
  readonly resource: Monitored;
  readonly informer: Informer<KubernetesObject>;
  resync: NodeJS.Timeout;
  /** Since when no quota counts it, by a clock that nobody can set; null while one does. */
  idleSince: MonotonicMs | null;
  /** Since when its objects may be out of date; null while they are current. */
  unsureSince: MonotonicMs | null;
}

/** A restarted API server is back within this time; until then the cache is probably still right. */
const STALE_AFTER_SECONDS = 10;
const LINGER_MS = 60_000;
/** Short, because nothing can be counted before the first successful round. */
const FIRST_DISCOVERY_MS = 1_000;
/** A timer holds at most so many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Cluster-scoped, so no quota counts them, but they decide how resource claims are counted. */
const deviceClasses: GroupResource = { group: 'resource.k8s.io', resource: 'deviceclasses' };
const resourceClaims: GroupResource = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const DEVICE_CLASSES = groupResourceName(deviceClasses);

/**
 * Watches exactly the resources that the cluster's quotas count: discovery says what exists, the quotas say what is
 * needed, and watches are started and stopped accordingly. A forbidden or broken watch does not affect the others.
 */
export class Monitors {
  readonly #options: MonitorsOptions;
  readonly #over = new AbortController();
  readonly #monitors = new Map<string, Monitor>();
  readonly #discovering: Promise<void>;
  readonly #stop = (): void => this.#over.abort();
  #isDiscovered = false;
  #monitored: readonly Monitored[] = [];
  readonly #everKnown = new Map<string, Monitored>();
  #served = new Map<string, Monitored>();
  #evaluators: readonly Evaluator[] = evaluatorsFor([]);
  #deviceClasses: ReadonlyMap<string, string | null> = new Map();
  #lastTrouble = '';
  /** API groups of which a version did not respond in the last round. */
  #silentGroups: ReadonlySet<string> = new Set();

  constructor(options: MonitorsOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#stop();
    else options.signal.addEventListener('abort', this.#stop, { once: true });
    this.#discovering = this.#discover();
  }

  /** Whether the cluster's resources are known. */
  get isDiscovered(): boolean {
    return this.#isDiscovered;
  }

  /** How each resource that is known is counted. */
  get evaluators(): readonly Evaluator[] {
    return this.#evaluators;
  }

  /** The extended resource that each device class stands for, null where it stands for none. */
  get deviceClasses(): ReadonlyMap<string, string | null> {
    return this.#deviceClasses;
  }

  /** What is watched now, by name. */
  get informers(): ReadonlyMap<string, Informer<KubernetesObject>> {
    return new Map([...this.#monitors].map(([name, { informer }]) => [name, informer]));
  }

  get watched(): readonly GroupResource[] {
    return [...this.#monitors.values()].map(({ resource: { group, resource } }) => ({ group, resource }));
  }

  /** Must be called when the specs of quotas have changed: new watches start at once, unneeded ones end later. */
  reconsider(): void {
    if (this.#over.signal.aborted) return;
    const needed = neededResources(this.#options.specs(), this.#evaluators, { deviceClasses: this.#deviceClasses });
    const wanted = new Set(needed.map(groupResourceName));
    const now = performance.now();
    for (const [name, monitor] of this.#monitors) {
      const served = this.#served.get(name);
      monitor.idleSince = wanted.has(name) ? null : (monitor.idleSince ?? now);
      const isOver = monitor.idleSince !== null && now - monitor.idleSince >= (this.#options.lingerMs ?? LINGER_MS);
      if (served === undefined) {
        this.#close(name, 'the cluster does not serve them any more');
        this.#options.onFilled(monitor.resource);
      } else if (served.version !== monitor.resource.version) {
        this.#close(name, 'the cluster serves another version');
      } else if (isOver) {
        this.#close(name, 'no quota counts them any more');
      }
    }
    for (const name of wanted) {
      const served = this.#served.get(name);
      if (served !== undefined && !this.#monitors.has(name)) this.#open(name, served);
    }
  }

  /** The objects of a namespace, or of the cluster for cluster-scoped resources. */
  objectsOf(resource: GroupResource, namespace: string): ObjectsAnswer {
    const name = groupResourceName(resource);
    if (!this.#isDiscovered) {
      return { unavailable: `it is not known yet what the cluster serves${this.#lastTrouble}`, isFilling: true };
    }
    if (!this.#served.has(name)) {
      // A resource that the cluster does not serve has no objects, unless its API group does not respond.
      return this.#silentGroups.has(resource.group)
        ? { unavailable: `the API ${resource.group} does not answer`, isFilling: false }
        : { objects: [] };
    }
    const monitor = this.#monitors.get(name);
    if (monitor === undefined) return { unavailable: `${name} are not watched yet`, isFilling: true };
    const unavailable = this.#troubleOf(name, monitor);
    if (unavailable !== null) {
      return { unavailable, isFilling: !monitor.informer.isSynced() && monitor.informer.trouble() === null };
    }
    return { objects: monitor.informer.list(name === DEVICE_CLASSES ? undefined : namespace) };
  }

  cacheOf(resource: GroupResource): CheckedCacheAnswer {
    const name = groupResourceName(resource);
    const monitor = this.#monitors.get(name);
    if (monitor !== undefined) return { ...monitor, namespaced: name !== DEVICE_CLASSES };
    return this.#isUnserved(resource) ? 'unserved' : 'unwatched';
  }

  /** Whether it has no objects, because the cluster does not have it. */
  #isUnserved(resource: GroupResource): boolean {
    const isKnown = this.#isDiscovered && !this.#silentGroups.has(resource.group);
    return isKnown && !this.#served.has(groupResourceName(resource));
  }

  /** Whether the first list of a resource is in. */
  isSynced(resource: GroupResource): boolean {
    return this.#monitors.get(groupResourceName(resource))?.informer.isSynced() ?? false;
  }

  get(resource: GroupResource, name: string, namespace: string): KubernetesObject | undefined {
    return this.#monitors.get(groupResourceName(resource))?.informer.get(name, namespace);
  }

  async stop(): Promise<void> {
    this.#options.signal.removeEventListener('abort', this.#stop);
    this.#stop();
    for (const name of this.#monitors.keys()) this.#close(name, 'the process stops');
    await this.#discovering;
  }

  get #staleAfterSeconds(): number {
    return this.#options.staleAfterSeconds ?? STALE_AFTER_SECONDS;
  }

  #isStale({ informer }: Monitor): boolean {
    return informer.staleSeconds() > this.#staleAfterSeconds;
  }

  /** Why the objects are unknown, in words; null while they are known. */
  #troubleOf(name: string, monitor: Monitor): string | null {
    const { informer } = monitor;
    const reason = informer.trouble();
    if (!informer.isSynced()) {
      if (reason === null) return `the cache of ${name} is not filled yet`;
      return isForbidden(reason)
        ? `${name} may not be listed, which ${whatAllows(name)} allows: ${reason}`
        : `${name} cannot be watched: ${reason}`;
    }
    if (!this.#isStale(monitor)) return null;
    const seconds = Math.round(informer.staleSeconds());
    return `the watch of ${name} has been broken for ${seconds} s${reason === null ? '' : `: ${reason}`}`;
  }

  async #discover(): Promise<void> {
    const { kubeConfig, discoveryMs, log } = this.#options;
    const { signal } = this.#over;
    const discover = createDiscovery(createApiGet(kubeConfig));
    while (!signal.aborted) {
      const round = await discover();
      if (signal.aborted) return;
      try {
        this.#update(round);
      } catch (error) {
        log.error({ err: error }, 'the discovered resources could not be used');
      }
      const pause = this.#isDiscovered ? discoveryMs : Math.min(discoveryMs, FIRST_DISCOVERY_MS);
      await sleep(pause, undefined, { signal }).catch(() => {});
    }
  }

  #update(round: Discovery): void {
    this.#logDiscovery(round);
    const existing = nextMonitors(this.#monitored, round);
    const isSame = JSON.stringify(existing) === JSON.stringify(this.#monitored);
    this.#monitored = existing;
    if (!isSame) {
      // A resource that was known once can still be counted: when a custom resource is deleted, its number of objects
      // is zero.
      for (const resource of existing) this.#everKnown.set(groupResourceName(resource), resource);
      this.#evaluators = evaluatorsFor([...this.#everKnown.values()]);
    }
    const classes = nextDeviceClasses(this.#served.get(DEVICE_CLASSES), round);
    this.#served = new Map(existing.map((resource) => [groupResourceName(resource), resource]));
    if (classes === undefined) this.#deviceClasses = new Map();
    else this.#served.set(DEVICE_CLASSES, classes);
    if (round.kind === 'discovered') this.#silentGroups = new Set(round.failed.map(groupOf));
    if (existing.length > 0) this.#isDiscovered = true;
    this.reconsider();
    this.#options.notifier.notify();
  }

  /** Logs failed discovery, once while it stays the same. */
  #logDiscovery(round: Discovery): void {
    const { log } = this.#options;
    const failed = round.kind === 'failed' ? round.reason : round.failed.join(', ');
    const trouble = failed === '' ? '' : `: ${failed}`;
    if (trouble === this.#lastTrouble) return;
    this.#lastTrouble = trouble;
    if (round.kind === 'failed')
      log.warn({ reason: failed }, `the resources of the cluster could not be discovered again${trouble}`);
    else if (trouble === '') log.info('all resources of the cluster are discovered');
    else
      log.warn(
        { failed: round.failed },
        `part of the API does not answer, so its resources stay as they were discovered before${trouble}`,
      );
  }

  #open(name: string, resource: Monitored): void {
    const { kubeConfig, log, onChange, onDelete } = this.#options;
    const { metadataOnly, shape } = shapeOf(resource);
    const informer = openInformer<KubernetesObject>(
      kubeConfig,
      {
        name,
        path: listPath(resource),
        metadataOnly,
        shape,
        onChange: (object, previous) => {
          onChange(resource, object, previous);
          if (name === DEVICE_CLASSES) this.#readDeviceClasses();
        },
        onDelete: (object) => {
          onDelete(resource, object);
          if (name === DEVICE_CLASSES) this.#readDeviceClasses();
        },
        onState: () => this.#stateChanged(name),
      },
      { log, signal: this.#over.signal },
    );
    const monitor: Monitor = {
      resource,
      informer,
      resync: this.#resyncLater(() => monitor),
      idleSince: null,
      // It could not be counted until now.
      unsureSince: Number.NEGATIVE_INFINITY,
    };
    this.#monitors.set(name, monitor);
  }

  #close(name: string, why: string): void {
    const monitor = this.#monitors.get(name);
    if (monitor === undefined) return;
    this.#monitors.delete(name);
    clearTimeout(monitor.resync);
    this.#options.log.info({ resource: name }, `${name} are not watched any more: ${why}`);
    void monitor.informer.stop();
    this.#options.notifier.notify();
  }

  /** A random interval, so that not all resources are listed at the same time. */
  #resyncLater(monitor: () => Monitor): NodeJS.Timeout {
    const after = Math.min(this.#options.replenishmentResyncMs * (1 + Math.random()), LONGEST_TIMER_MS);
    return setTimeout(() => {
      monitor().informer.relist();
      monitor().resync = this.#resyncLater(monitor);
    }, after).unref();
  }

  #stateChanged(name: string): void {
    const monitor = this.#monitors.get(name);
    if (monitor === undefined) return;
    const { informer } = monitor;
    if (informer.trouble() !== null) {
      monitor.unsureSince ??= performance.now();
    } else if (informer.isSynced() && !this.#isStale(monitor) && monitor.unsureSince !== null) {
      const unsureSeconds = (performance.now() - monitor.unsureSince) / 1000;
      monitor.unsureSince = null;
      if (name === DEVICE_CLASSES) this.#readDeviceClasses();
      // After a shorter interruption the watch reports all changes itself, and counting was never suspended.
      if (unsureSeconds > this.#staleAfterSeconds) this.#options.onFilled(monitor.resource);
    }
    this.#options.notifier.notify();
  }

  #readDeviceClasses(): void {
    const informer = this.#monitors.get(DEVICE_CLASSES)?.informer;
    // The first list is processed as a whole.
    if (informer === undefined || !informer.isSynced()) return;
    const before = this.#deviceClasses;
    this.#deviceClasses = new Map(
      informer.list().map((deviceClass) => [deviceClass.metadata?.name ?? '', extendedResourceOf(deviceClass)]),
    );
    const isSame =
      before.size === this.#deviceClasses.size &&
      [...before].every(([name, resource]) => this.#deviceClasses.get(name) === resource);
    if (isSame) return;
    this.reconsider();
    // A changed device class may change the charges of claims in all namespaces.
    this.#options.onFilled(resourceClaims);
  }
}

function isForbidden(reason: string): boolean {
  return reason.startsWith('403 ');
}

/** What a person applies so that the starter may count a resource. */
function whatAllows(name: string): string {
  const isBuiltIn = Object.entries(COUNTABLE).some(([group, resources]) =>
    resources.some((resource) => groupResourceName({ group, resource }) === name),
  );
  if (name === 'secrets') return 'rights.countSecrets of the chart';
  return isBuiltIn ? 'quotaUsage.mode of the chart' : 'a ClusterRole for custom resources';
}

function extendedResourceOf(
  deviceClass: KubernetesObject & { spec?: { extendedResourceName?: string } },
): string | null {
  return deviceClass.spec?.extendedResourceName ?? null;
}

/** Where device classes are served after a round of discovery; unchanged if discovery failed. */
function nextDeviceClasses(previous: Monitored | undefined, round: Discovery): Monitored | undefined {
  if (round.kind === 'failed') return previous;
  const found = round.resources.find((resource) => groupResourceName(resource) === DEVICE_CLASSES);
  if (found !== undefined) return { ...deviceClasses, version: found.version };
  const isUnasked = previous !== undefined && round.failed.includes(`${previous.group}/${previous.version}`);
  return isUnasked ? previous : undefined;
}

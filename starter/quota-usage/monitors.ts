import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { type GroupResource, groupOf, groupResourceName } from '../../domain/kernel/group-resource.ts';
import type { CountedObject, Evaluator } from '../../domain/quota-usage/evaluator.ts';
import { evaluatorsFor } from '../../domain/quota-usage/evaluators.ts';
import { type Discovery, type Monitored, neededResources, nextMonitors } from '../../domain/quota-usage/monitors.ts';
import type { CountingQuota } from '../../domain/quota-usage/scopes.ts';
import type { Log } from '../../platform/log/log.ts';
import type { WatchConnection } from '../../domain/kernel/watch-connection.ts';
import { createApiGet, listPath } from '../kernel/api-get.ts';
import { type Informer, openInformer } from '../kernel/informer.ts';
import type { Notifier } from './notifier.ts';
import { createDiscovery } from './discovery.ts';
import { shapeOf } from './shape.ts';

export interface MonitorsOptions {
  readonly kubeConfig: KubeConfig;
  /** Milliseconds between two rounds of discovery. */
  readonly discoveryMs: number;
  /** Milliseconds: everything is listed anew after this long, or up to twice as long. */
  readonly replenishmentResyncMs: number;
  /** How long a watch may be broken until what it watches counts as not known. */
  readonly staleAfterSeconds?: number | undefined;
  /** Milliseconds for which a resource is still watched that no quota counts any more: quotas are often replaced. */
  readonly lingerMs?: number | undefined;
  /** What the quotas that there are count. */
  readonly specs: () => Iterable<CountingQuota>;
  readonly onChange: (resource: GroupResource, object: CountedObject, previous: CountedObject | undefined) => void;
  readonly onDelete: (resource: GroupResource, object: CountedObject) => void;
  /** A cache was filled, or is no longer behind: what counts this resource can be counted now. */
  readonly onFilled: (resource: GroupResource) => void;
  /** Notified whenever what is known, or whether it is, may have changed. */
  readonly notifier: Notifier;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** The objects of a resource, or why they are not known; `isFilling` when they will be in a moment. */
type ObjectsAnswer =
  | { readonly objects: readonly CountedObject[] }
  | { readonly unavailable: string; readonly isFilling: boolean };

interface Monitor {
  readonly resource: Monitored;
  readonly informer: Informer<KubernetesObject>;
  resync: NodeJS.Timeout;
  /** Since when no quota counts it; null while one does. */
  idleSince: number | null;
  /** Since when its objects have not been known for sure; null while they are. */
  unsureSince: number | null;
}

/** An API server that is restarted is back within this time; until then what is cached is most likely still true. */
export const STALE_AFTER_SECONDS = 10;
const LINGER_MS = 60_000;
/** Until the first round of discovery has succeeded nothing can be counted. */
const FIRST_DISCOVERY_MS = 1_000;
/** A timer holds at most so many milliseconds. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Cluster-wide, so no quota counts them, but they say what the claims for devices are counted as. */
const deviceClasses: GroupResource = { group: 'resource.k8s.io', resource: 'deviceclasses' };
const resourceClaims: GroupResource = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const DEVICE_CLASSES = groupResourceName(deviceClasses);

/**
 * Watches whatever the quotas of the cluster count, and nothing else: discovery says what there is, the quotas say what of
 * it is needed, and watches come and go with both. One that is forbidden or broken leaves the others alone.
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
  /** API groups of which a version did not answer in the last round. */
  #silentGroups: ReadonlySet<string> = new Set();

  constructor(options: MonitorsOptions) {
    this.#options = options;
    if (options.signal.aborted) this.#stop();
    else options.signal.addEventListener('abort', this.#stop, { once: true });
    this.#discovering = this.#discover();
  }

  /** Whether it is known what the cluster serves. */
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

  /** What the quotas count is not what it was: watches are begun at once, and ended a while later. */
  reconsider(): void {
    if (this.#over.signal.aborted) return;
    const needed = neededResources(this.#options.specs(), this.#evaluators, { deviceClasses: this.#deviceClasses });
    const wanted = new Set(needed.map(groupResourceName));
    const now = Date.now();
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

  /** The objects of a namespace; of the whole cluster where they belong to none. */
  objectsOf(resource: GroupResource, namespace: string): ObjectsAnswer {
    const name = groupResourceName(resource);
    if (!this.#isDiscovered) {
      return { unavailable: `it is not known yet what the cluster serves${this.#lastTrouble}`, isFilling: true };
    }
    if (!this.#served.has(name)) {
      // What the cluster does not serve has no objects: that is known, unless nobody answers for it.
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

  /** The connections of the watches of those resources that are watched. */
  connectionsOf(resources: readonly GroupResource[]): readonly WatchConnection[] {
    return resources.flatMap((one) => this.#monitors.get(groupResourceName(one))?.informer.connection() ?? []);
  }

  /** Whether the first list of a resource is in. */
  isSynced(resource: GroupResource): boolean {
    return this.#monitors.get(groupResourceName(resource))?.informer.isSynced() ?? false;
  }

  get(resource: GroupResource, name: string, namespace: string): KubernetesObject | undefined {
    return this.#monitors.get(groupResourceName(resource))?.informer.get(name, namespace);
  }

  /**
   * Whether the cache of a resource has come as far as this version, once it has or the signal is aborted. What is not
   * watched, or not known anyway, is not waited for.
   */
  async observed(name: string, version: string, signal: AbortSignal): Promise<boolean> {
    const monitor = this.#monitors.get(name);
    if (monitor === undefined) return true;
    if (monitor.informer.isSynced() ? this.#isStale(monitor) : monitor.informer.trouble() !== null) return true;
    return (await monitor.informer.observed(version, signal)) || this.#monitors.get(name) !== monitor;
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

  /** Why the objects are not known, in words; null while they are. */
  #troubleOf(name: string, monitor: Monitor): string | null {
    const { informer } = monitor;
    const reason = informer.trouble();
    if (!informer.isSynced()) {
      return reason === null ? `the cache of ${name} is not filled yet` : `${name} cannot be watched: ${reason}`;
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
        log.error({ err: error }, 'what was discovered could not be taken in');
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
      // What was known once stays countable: when a custom resource goes, its objects have gone, and their number is none.
      for (const one of existing) this.#everKnown.set(groupResourceName(one), one);
      this.#evaluators = evaluatorsFor([...this.#everKnown.values()]);
    }
    const classes = nextDeviceClasses(this.#served.get(DEVICE_CLASSES), round);
    this.#served = new Map(existing.map((one) => [groupResourceName(one), one]));
    if (classes === undefined) this.#deviceClasses = new Map();
    else this.#served.set(DEVICE_CLASSES, classes);
    if (round.kind === 'discovered') this.#silentGroups = new Set(round.failed.map(groupOf));
    if (existing.length > 0) this.#isDiscovered = true;
    this.reconsider();
    this.#options.notifier.notify();
  }

  /** Says what could not be discovered, once for as long as it stays the same. */
  #logDiscovery(round: Discovery): void {
    const { log } = this.#options;
    const failed = round.kind === 'failed' ? round.reason : round.failed.join(', ');
    const trouble = failed === '' ? '' : `: ${failed}`;
    if (trouble === this.#lastTrouble) return;
    this.#lastTrouble = trouble;
    if (round.kind === 'failed')
      log.warn({ reason: failed }, `the resources of the cluster are not known anew${trouble}`);
    else if (trouble === '') log.info('all resources of the cluster are discovered');
    else
      log.warn({ failed: round.failed }, `part of the API does not answer, and keeps what was known of it${trouble}`);
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
      // Nobody could count it until now.
      unsureSince: 0,
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

  /** Each time after another span, so that they do not all list at once. */
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
      monitor.unsureSince ??= Date.now();
    } else if (informer.isSynced() && !this.#isStale(monitor) && monitor.unsureSince !== null) {
      const unsureSeconds = (Date.now() - monitor.unsureSince) / 1000;
      monitor.unsureSince = null;
      if (name === DEVICE_CLASSES) this.#readDeviceClasses();
      // After a shorter break the watch tells of every change itself, and nothing was left uncounted meanwhile.
      if (unsureSeconds > this.#staleAfterSeconds) this.#options.onFilled(monitor.resource);
    }
    this.#options.notifier.notify();
  }

  #readDeviceClasses(): void {
    const informer = this.#monitors.get(DEVICE_CLASSES)?.informer;
    // The first list is taken in as a whole.
    if (informer === undefined || !informer.isSynced()) return;
    const before = this.#deviceClasses;
    this.#deviceClasses = new Map(informer.list().map((one) => [one.metadata?.name ?? '', extendedResourceOf(one)]));
    const isSame =
      before.size === this.#deviceClasses.size &&
      [...before].every(([name, resource]) => this.#deviceClasses.get(name) === resource);
    if (isSame) return;
    this.reconsider();
    // What a class stands for changes what the claims of every namespace are charged.
    this.#options.onFilled(resourceClaims);
  }
}

function extendedResourceOf(
  deviceClass: KubernetesObject & { spec?: { extendedResourceName?: string } },
): string | null {
  return deviceClass.spec?.extendedResourceName ?? null;
}

/** Where the device classes are served after a round; what could not be asked stays as it was. */
function nextDeviceClasses(previous: Monitored | undefined, round: Discovery): Monitored | undefined {
  if (round.kind === 'failed') return previous;
  const found = round.resources.find((one) => groupResourceName(one) === DEVICE_CLASSES);
  if (found !== undefined) return { ...deviceClasses, version: found.version };
  const isUnasked = previous !== undefined && round.failed.includes(`${previous.group}/${previous.version}`);
  return isUnasked ? previous : undefined;
}

/**
 * A namespace with a quota on a virtual clock: admission that charges, a store with one sequence of versions, watches that are
 * late, lists, and the owner of the writes as it is, but for its informers.
 */
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { CachedQuota } from '../../../domain/quota-usage/observation.ts';
import type { DesiredStatus } from '../../../domain/quota-usage/status.ts';
import { CacheChecks } from '../../../starter/quota-usage/cache-checks.ts';
import { createUsageMetrics } from '../../../starter/quota-usage/metrics.ts';
import { QuotaCharges } from '../../../starter/quota-usage/quota-charges.ts';
import { SteadyTime } from '../../../starter/quota-usage/steady-time.ts';
import { createUsageWatch, type UsageWatch } from '../../../starter/quota-usage/usage-watch.ts';
import type { Random } from '../../chaos/random.ts';

const NAMESPACE = 'team-a';
const log = pino({ level: 'silent' });

/** By the virtual clock. */
export async function sleep(ms: number): Promise<void> {
  await new Promise<void>((resolve) => void setTimeout(resolve, ms));
}

interface Stored {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

interface SimulatedClusterOptions {
  /** The limits of the quota, by resource of the core group. */
  readonly hard: Readonly<Record<string, number>>;
  readonly random: Random;
  /** Milliseconds by which a watch is late: of a resource, or of `resourcequotas`. Others take no more than a few. */
  readonly lateMs: Readonly<Record<string, number>>;
  /** Milliseconds from a charge to the storing of its object. */
  readonly storedAfterMs: () => number;
}

export class SimulatedCluster {
  readonly #options: SimulatedClusterOptions;
  readonly #stored = new Map<string, Map<string, Stored>>();
  readonly #watches = new Map<string, { until: number }>();
  readonly #owner: Owner;
  #version = 100;
  #isCut = false;
  #quota: CachedQuota;

  constructor(options: SimulatedClusterOptions) {
    this.#options = options;
    const hard = Object.fromEntries(Object.entries(options.hard).map(([resource, limit]) => [resource, String(limit)]));
    const used = Object.fromEntries(Object.keys(hard).map((resource) => [resource, '0']));
    const name = { namespace: NAMESPACE, name: 'limits', uid: 'uid', resourceVersion: String(this.#version) };
    this.#quota = { ...name, spec: { hard }, status: { hard, used } };
    for (const resource of Object.keys(hard)) this.#stored.set(resource, new Map());
    this.#owner = new Owner(this.#quota, {
      list: async (resource) => await this.#list(resource),
      write: async (version, status) => await this.#write(version, status),
    });
  }

  used(resource: string): number {
    return Number(this.#quota.status.used?.[resource]);
  }

  names(resource: string): readonly string[] {
    return [...(this.#stored.get(resource)?.keys() ?? [])];
  }

  /** Charges the object where there is room, and stores it then unless there is one of that name. */
  async create(resource: string, name: string): Promise<void> {
    await this.#moment();
    if (this.used(resource) >= (this.#options.hard[resource] ?? 0)) return;
    this.#setUsed({ ...this.#quota.status.used, [resource]: String(this.used(resource) + 1) });
    await sleep(this.#options.storedAfterMs());
    if (this.#stored.get(resource)?.has(name) === true) return;
    const object = this.#objectOf(name);
    this.#stored.get(resource)?.set(name, object);
    this.#report(resource, () => this.#owner.onObject(resource, object));
    await this.#moment();
  }

  async remove(resource: string, name: string): Promise<void> {
    await this.#moment();
    this.#stored.get(resource)?.delete(name);
    const last = this.#objectOf(name);
    this.#report(resource, () => this.#owner.onObjectGone(resource, last));
    await this.#moment();
  }

  /** The connections of quotas end: nothing is told of them, and what is written is not answered, until they are listed anew. */
  cutQuotas(): void {
    this.#isCut = true;
  }

  listQuotasAnew(): void {
    this.#isCut = false;
    this.#owner.onQuota(this.#quota, true);
  }

  stop(): void {
    this.#owner.stop();
  }

  #objectOf(name: string): Stored {
    this.#version += 1;
    const resourceVersion = String(this.#version);
    return { metadata: { namespace: NAMESPACE, name, uid: `uid-${resourceVersion}`, resourceVersion } };
  }

  #setUsed(used: Readonly<Record<string, string>>): string {
    this.#version += 1;
    const { status } = this.#quota;
    const quota = { ...this.#quota, resourceVersion: String(this.#version), status: { ...status, used } };
    this.#quota = quota;
    this.#report('resourcequotas', () => this.#isCut || this.#owner.onQuota(quota, false));
    return quota.resourceVersion;
  }

  async #list(resource: string): Promise<{ readonly items: readonly Stored[]; readonly version: string }> {
    await this.#moment();
    const answer = { items: [...(this.#stored.get(resource)?.values() ?? [])], version: String(this.#version) };
    await this.#moment();
    return answer;
  }

  async #write(version: string, { used }: DesiredStatus): Promise<string | null> {
    await this.#moment();
    const written = version === this.#quota.resourceVersion ? this.#setUsed(used) : null;
    await this.#moment();
    if (this.#isCut) throw new Error('the connection has ended');
    return written;
  }

  /** What a watch reports comes in its order, at the latest as late as the watch is. */
  #report(watch: string, tell: () => void): void {
    const lateMs = this.#options.lateMs[watch] ?? 1 + 7 * this.#options.random.next();
    const at = Math.max(performance.now() + lateMs, this.#watches.get(watch)?.until ?? 0);
    this.#watches.set(watch, { until: at });
    setTimeout(tell, at - performance.now());
  }

  /** A way to the API server, or back. */
  async #moment(): Promise<void> {
    await sleep(1 + 4 * this.#options.random.next());
  }
}

interface ApiServer {
  readonly list: (resource: string) => Promise<{ readonly items: readonly Stored[]; readonly version: string }>;
  /** The new version of the quota; null where it is another one by now. */
  readonly write: (version: string, status: DesiredStatus) => Promise<string | null>;
}

/** The owner of the writes, with caches that hold what was reported to it. */
class Owner {
  readonly #caches = new Map<string, { readonly objects: Map<string, Stored>; version: string }>();
  readonly #charges: QuotaCharges;
  readonly #watch: UsageWatch;
  #quota: CachedQuota;

  constructor(quota: CachedQuota, api: ApiServer) {
    this.#quota = quota;
    for (const resource of Object.keys(quota.spec.hard ?? {})) {
      this.#caches.set(resource, { objects: new Map(), version: quota.resourceVersion });
    }
    const checks = new CacheChecks({
      get: async (path) => {
        const { items, version } = await api.list(path.split('/').at(-1) ?? '');
        return { kind: 'answer', body: { items, metadata: { resourceVersion: version } }, etag: undefined };
      },
      cacheOf: ({ resource }) => {
        const { objects, version } = this.#cacheOf(resource);
        const informer = { resourceVersion: () => version, list: () => [...objects.values()] };
        return { resource: { group: '', resource, version: 'v1' }, namespaced: true, informer };
      },
      onChecked: (namespace) => this.#watch.onChecked(namespace),
      log,
    });
    const countedFrom = (resources: readonly string[]) => resources.map((resource) => ({ group: '', resource }));
    this.#charges = new QuotaCharges({ checks, countedFrom });
    const none = { watched: () => 0, wrong: () => [], unmeasured: () => [], waiting: () => 0, isOwner: () => true };
    this.#watch = createUsageWatch({
      cluster: 'prod',
      policy: { mode: 'own', auditAfterMs: 60_000 },
      resyncMs: 5_000,
      cache: () => ({
        quota: () => this.#quota,
        quotas: () => [this.#quota],
        countNow: () => ({ used: this.#counted(), unmeasured: [] }),
        unsettledCharges: (counted) => this.#charges.unsettled(counted),
        confirmCharges: (counted, resources) => this.#charges.confirm(counted, resources),
        evaluators: () => staticEvaluators,
        deviceClasses: () => new Map(),
        chargeEnds: () => [],
      }),
      time: new SteadyTime(),
      request: () => {},
      writing: {
        isOwner: () => true,
        pauseOf: async () => null,
        patch: async ({ resourceVersion }, status) => {
          const written = await api.write(resourceVersion, status);
          return written === null ? 'conflict' : { resourceVersion: written };
        },
      },
      onWritten: () => {},
      onCounted: () => {},
      metrics: createUsageMetrics(new Registry(), none),
      log,
    });
    this.#charges.onQuota(quota, null, 'listed');
  }

  onQuota(quota: CachedQuota, isListed: boolean): void {
    const before = this.#quota;
    this.#quota = quota;
    const origin = this.#watch.isOwnWrite(quota) ? 'written' : 'watched';
    this.#charges.onQuota(quota, before, isListed ? 'listed' : origin);
    this.#watch.onQuota(quota, before);
  }

  onObject(resource: string, object: Stored): void {
    const { name, resourceVersion } = object.metadata;
    const cache = this.#cacheOf(resource);
    cache.objects.set(name, object);
    cache.version = resourceVersion;
    const from = { group: '', resource };
    this.#charges.onObject(from, resourceVersion, this.#quota, { [resource]: '1' });
    this.#watch.onObject(from, object, undefined);
  }

  onObjectGone(resource: string, object: Stored): void {
    const cache = this.#cacheOf(resource);
    cache.objects.delete(object.metadata.name);
    cache.version = object.metadata.resourceVersion;
    this.#watch.onObjectGone({ group: '', resource }, object);
  }

  stop(): void {
    this.#watch.stop();
  }

  #counted(): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#caches].map(([resource, { objects }]) => [resource, String(objects.size)]));
  }

  #cacheOf(resource: string): { readonly objects: Map<string, Stored>; version: string } {
    const cache = this.#caches.get(resource);
    if (cache === undefined) throw new Error(`nothing is limited of ${resource}`);
    return cache;
  }
}

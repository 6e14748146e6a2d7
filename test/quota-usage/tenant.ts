/** Somebody who creates and deletes objects of some kinds in a namespace, and knows at each moment how many there are. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../chaos/random.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { Api } from './side-by-side/api.ts';

/** What a quota limits, by resource; the last two are of pods. */
const LIMITS = { pods: 10, configmaps: 11, services: 6 } as const;
const RESOURCES = ['pods', 'configmaps', 'services'] as const;
type Resource = (typeof RESOURCES)[number];

const QUOTA = 'limits';

export class Tenant {
  readonly #api: Api;
  readonly #namespace: string;
  readonly #random: Random;
  readonly #alive: Record<Resource, string[]> = { pods: [], configmaps: ['kube-root-ca.crt'], services: [] };
  /** The most that there were of a resource at once since this one last began to live. */
  readonly #most: Record<Resource, number> = { pods: 0, configmaps: 0, services: 0 };
  /** How many objects were let in. */
  admitted = 0;
  #made = 0;

  constructor(api: Api, namespace: string, random: Random) {
    this.#api = api;
    this.#namespace = namespace;
    this.#random = random;
  }

  /** Resolves when admission charges what this one creates. */
  async settleIn(): Promise<void> {
    await this.#api.ask('POST', '/api/v1/namespaces', { metadata: { name: this.#namespace } });
    const hard = Object.fromEntries(Object.entries(LIMITS).map(([resource, limit]) => [resource, String(limit)]));
    await eventually(`${this.#namespace} is furnished`, async () => {
      return (await this.#api.ask('GET', this.#at('configmaps', 'kube-root-ca.crt'))).code === 200;
    });
    await this.#api.ask('POST', this.#at('resourcequotas'), { metadata: { name: QUOTA }, spec: { hard } });
    await this.untilTrue();
    for (const resource of RESOURCES) {
      await eventually(`admission charges ${resource}`, async () => {
        await this.create(resource);
        return (await this.used())[resource] === String(this.#alive[resource].length);
      });
    }
  }

  /** Creates and deletes at random until the signal is aborted, and mostly more than there is room for. */
  async live(everyMs: number, signal: AbortSignal): Promise<void> {
    for (const resource of RESOURCES) this.#most[resource] = this.#alive[resource].length;
    while (!signal.aborted) {
      for (const resource of RESOURCES) {
        const chance = this.#random.next();
        if (chance < 0.15) await this.#remove(resource);
        // Charged, and then not made.
        else if (chance < 0.25) await this.#create(resource, this.#random.pick(['taken', ...this.#alive[resource]]));
        else await this.create(resource);
      }
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  }

  async create(resource: Resource): Promise<void> {
    this.#made += 1;
    await this.#create(resource, `made-${this.#made}`);
  }

  async used(): Promise<Readonly<Record<string, string>>> {
    const { object } = await this.#api.ask('GET', this.#at('resourcequotas', QUOTA));
    return object.status?.used ?? {};
  }

  /** Until the status says what is there. */
  async untilTrue(): Promise<void> {
    const told = (used: Readonly<Record<string, string>>): string =>
      RESOURCES.map((resource) => `${resource} ${used[resource]}`).join(', ');
    const there = told(
      Object.fromEntries(RESOURCES.map((resource) => [resource, String(this.#alive[resource].length)])),
    );
    await eventually(`${this.#namespace} says ${there}`, async () => {
      const now = told(await this.used());
      if (now !== there) throw new Error(`it says ${now}`);
      return true;
    });
  }

  /** `pods of NAMESPACE: 12 of 10` for each resource of which there were too many. */
  overAdmitted(): readonly string[] {
    return RESOURCES.filter((resource) => this.#most[resource] > LIMITS[resource]).map(
      (resource) => `${resource} of ${this.#namespace}: ${this.#most[resource]} of ${LIMITS[resource]}`,
    );
  }

  async #create(resource: Resource, name: string): Promise<void> {
    const { code } = await this.#api.ask('POST', this.#at(resource), { metadata: { name }, ...specOf(resource) });
    if (code !== 201) return;
    this.admitted += 1;
    this.#alive[resource].push(name);
    this.#most[resource] = Math.max(this.#most[resource], this.#alive[resource].length);
  }

  async #remove(resource: Resource): Promise<void> {
    const name = this.#alive[resource].findLast((each) => each !== 'kube-root-ca.crt');
    if (name === undefined) return;
    const { code } = await this.#api.ask('DELETE', this.#at(resource, name));
    if (code === 200) this.#alive[resource].splice(this.#alive[resource].indexOf(name), 1);
  }

  #at(...rest: readonly string[]): string {
    return ['/api/v1/namespaces', this.#namespace, ...rest].join('/');
  }
}

function specOf(resource: Resource): object {
  switch (resource) {
    case 'pods':
      return { spec: { containers: [{ name: 'main', image: 'main:1' }] } };
    case 'configmaps':
      return {};
    case 'services':
      return { spec: { ports: [{ port: 80 }] } };
  }
}

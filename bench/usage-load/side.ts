import type { KubeConfig } from '@kubernetes/client-node';
import { inParallel } from '../../activities/kernel/in-parallel.ts';
import { orNull } from '../../activities/kubernetes/failure.ts';
import { eventually } from '../../test/kernel/stack/eventually.ts';
import { loadKubeConfig } from '../../platform/kubernetes/kubernetes-access.ts';
import { Hand } from './apply.ts';
import { LagBook } from './lag-book.ts';
import { type NamespaceModel, usedOf } from './namespace-model.ts';
import { type Change, type LoadPlan, ROOT_CERTIFICATE } from './plan.ts';
import { QuotaWatch } from './quota-watch.ts';
import { closedService } from './shapes.ts';
import { usedKey } from './used-key.ts';

/** Requests that are under way at the same time while a cluster is filled or emptied. */
export const AT_ONCE = 32;

/** What a namespace's quota is called. */
const QUOTA = 'compute';

/** How long a status may take to become true, in milliseconds. */
const FILLED_WITHIN_MS = 600_000;

export function quotaIn(namespace: string): string {
  return `${namespace}/${QUOTA}`;
}

/** One of the clusters that are compared: what is done to it, and what its quotas show. */
export class Side {
  readonly name: string;
  readonly hand: Hand;
  readonly book = new LagBook();
  readonly watch: QuotaWatch;
  /** The changes of a namespace are made in their order. */
  readonly #queues = new Map<string, Promise<void>>();

  constructor(name: string, kubeconfig: string) {
    const kubeConfig: KubeConfig = loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: 30_000 }, {});
    this.name = name;
    this.hand = new Hand(kubeConfig);
    this.watch = new QuotaWatch(kubeConfig, this.book);
  }

  /** Creates all namespaces with what is in them, and returns when each quota shows it. */
  async fillWith(namespaces: LoadPlan['namespaces']): Promise<void> {
    const all = [...namespaces];
    const { hand } = this;
    await inParallel(AT_ONCE, all, async ([name]) => {
      await hand.create(() => hand.core.createNamespace({ body: { metadata: { name } } }));
    });
    // The controller manager creates this ConfigMap. If it came while the quota is counted for the first time, it might be
    // missing in that count and not be charged by admission either.
    await inParallel(AT_ONCE, all, async ([name]) => await this.#untilCertified(name));
    await inParallel(AT_ONCE, all, async ([name, { hard }]) => await this.#createQuota(name, hard));
    // Admission refuses what a quota counts until the quota's status says something.
    await this.#until('every quota shows what it counts', () =>
      all.every(([name]) => this.watch.shows(quotaIn(name)) !== undefined),
    );
    await inParallel(AT_ONCE, all, async ([name, model]) => await this.#fillNamespace(name, model));
    const expected = all.map(([name, model]) => [quotaIn(name), usedKey(usedOf(model))] as const);
    await this.#until('every status is true', () =>
      expected.every(([quota, used]) => this.watch.shows(quota) === used),
    );
  }

  /** Makes a change after the earlier ones of its namespace. Resolves when it is made, with when it was begun. */
  async make({ change, namespace, operation, expected }: Change): Promise<{ readonly begunAt: number }> {
    const quota = quotaIn(namespace);
    let begunAt = 0;
    const made = (this.#queues.get(namespace) ?? Promise.resolve()).then(async () => {
      begunAt = performance.now();
      await this.hand.apply(namespace, operation, ({ at, version }) =>
        this.book.answered({ quota, change, expected, at, version }),
      );
    });
    this.#queues.set(
      namespace,
      made.catch(() => {}),
    );
    await made;
    return { begunAt };
  }

  async #untilCertified(namespace: string): Promise<void> {
    const { core } = this.hand;
    await eventually(
      `${this.name}: ${namespace} has the ConfigMap ${ROOT_CERTIFICATE}`,
      async () => await orNull(core.readNamespacedConfigMap({ namespace, name: ROOT_CERTIFICATE })),
      FILLED_WITHIN_MS,
    );
  }

  async #createQuota(namespace: string, hard: NamespaceModel['hard']): Promise<void> {
    const { hand } = this;
    const body = { metadata: { name: QUOTA }, spec: { hard: { ...hard } } };
    await hand.create(() => hand.core.createNamespacedResourceQuota({ namespace, body }));
  }

  async #fillNamespace(namespace: string, { pods, configMaps }: NamespaceModel): Promise<void> {
    const { hand } = this;
    await hand.create(() => hand.core.createNamespacedService({ namespace, body: closedService }));
    for (const name of configMaps) if (name !== ROOT_CERTIFICATE) await hand.createConfigMap(namespace, name);
    for (const pod of pods.values()) {
      await hand.createPod(namespace, pod);
      if (pod.phase === 'Running') await hand.reportRunning(namespace, pod.name, pod.spec.containers);
    }
  }

  async #until(what: string, isSo: () => boolean): Promise<void> {
    await eventually(`${this.name}: ${what}`, isSo, FILLED_WITHIN_MS);
  }
}

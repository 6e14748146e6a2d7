import { setTimeout as sleep } from 'node:timers/promises';
import {
  CoreV1Api,
  type KubeConfig,
  type KubernetesObject,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { statusCode } from '../../activities/kubernetes/failure.ts';
import type { Operation } from './plan.ts';
import { actuated, type LoadPod, podLabels } from './shapes.ts';

/** An answer of the API server to a change. */
interface Answer {
  /** In milliseconds of `performance.now()`. */
  readonly at: number;
  /** Null where the answer names none: a deletion of what is not a pod. */
  readonly version: number | null;
}

/**
 * Requests that were refused for a moment (the quota was written at the same time, the server was busy) are made again;
 * they have taken no effect.
 */
const TRIES = 20;
const AGAIN_MS = 20;

const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);
const strategic = setHeaderOptions('Content-Type', PatchStrategy.StrategicMergePatch);

/** Makes changes to one cluster. */
export class Hand {
  readonly core: CoreV1Api;
  /** How many requests had to be made again. */
  repeated = 0;

  constructor(kubeConfig: KubeConfig) {
    this.core = kubeConfig.makeApiClient(CoreV1Api);
  }

  /**
   * Makes a change.
   *
   * @param onAnswer called as soon as the API server has answered the request that changes the usage.
   * @returns when all is done that belongs to the change.
   */
  async apply(namespace: string, operation: Operation, onAnswer: (answer: Answer) => void): Promise<void> {
    const answered = (object: unknown): void => onAnswer({ at: performance.now(), version: versionOf(object) });
    switch (operation.kind) {
      case 'podCreated':
        answered(await this.createPod(namespace, operation.pod));
        return;
      case 'podDeleted':
        answered(await this.deletePod(namespace, operation.name));
        return;
      case 'podFinished': {
        const { name } = operation;
        const body = { status: { phase: 'Succeeded' } };
        answered(await this.#try(() => this.core.patchNamespacedPodStatus({ namespace, name, body }, merge)));
        return;
      }
      case 'podGrown':
      case 'podShrunk': {
        const resized = await this.#resize(namespace, operation);
        if (operation.kind === 'podGrown') answered(resized);
        const reported = await this.reportRunning(namespace, operation.name, [operation.container]);
        // Until the kubelet says that it has given resources back, they count.
        if (operation.kind === 'podShrunk') answered(reported);
        return;
      }
      case 'serviceOpened':
      case 'serviceClosed': {
        const { name, type } = operation;
        const body = { spec: { type } };
        answered(await this.#try(() => this.core.patchNamespacedService({ namespace, name, body }, merge)));
        return;
      }
      case 'configMapCreated':
        answered(await this.createConfigMap(namespace, operation.name));
        return;
      case 'configMapDeleted': {
        const { name } = operation;
        answered(await this.#try(() => this.core.deleteNamespacedConfigMap({ namespace, name })));
      }
    }
  }

  /** Makes the request until it is answered. */
  async create<T>(request: () => Promise<T>): Promise<T> {
    return await this.#try(request);
  }

  /** As a user does: what is running in it is reported later. */
  async createPod(namespace: string, { name, spec }: LoadPod): Promise<unknown> {
    const body = { metadata: { name, labels: podLabels }, spec };
    return await this.#try(() => this.core.createNamespacedPod({ namespace, body }));
  }

  async createConfigMap(namespace: string, name: string): Promise<unknown> {
    return await this.#try(() => this.core.createNamespacedConfigMap({ namespace, body: { metadata: { name } } }));
  }

  /** At once: there is no kubelet that would let it end. */
  async deletePod(namespace: string, name: string): Promise<unknown> {
    return await this.#try(() => this.core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }));
  }

  /** Says what a kubelet says of a pod whose containers run with what they ask for. */
  async reportRunning(
    namespace: string,
    name: string,
    containers: readonly Parameters<typeof actuated>[0][],
  ): Promise<unknown> {
    const body = { status: { phase: 'Running', containerStatuses: containers.map(actuated) } };
    return await this.#try(() => this.core.patchNamespacedPodStatus({ namespace, name, body }, merge));
  }

  async #resize(
    namespace: string,
    { name, container }: Extract<Operation, { readonly container: unknown }>,
  ): Promise<unknown> {
    const body = { spec: { containers: [{ name: container.name, resources: container.resources }] } };
    return await this.#try(() => this.core.patchNamespacedPodResize({ namespace, name, body }, strategic));
  }

  async #try<T>(request: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await request();
      } catch (error) {
        if (tries >= TRIES || !isForAMoment(error)) throw error;
        this.repeated += 1;
        await sleep(AGAIN_MS * tries);
      }
    }
  }
}

function isForAMoment(error: unknown): boolean {
  const code = statusCode(error);
  if (code === 409) return !(error as Error).message.includes('AlreadyExists');
  return code === 429 || code === 500 || code === 503 || code === 504;
}

function versionOf(object: unknown): number | null {
  const version = (object as KubernetesObject).metadata?.resourceVersion;
  return version === undefined || version === '' ? null : Number(version);
}

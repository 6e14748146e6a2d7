/** The cluster as commands read it, with the rights of whoever asks. */
import { ApiException } from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import { apiMessage, kubernetesFailure } from '../../activities/kubernetes/failure.ts';
import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import { KubernetesAccessError, loadKubeConfig } from '../../platform/kubernetes/kubernetes-access.ts';
import { type ApiGet, createApiGet } from '../../activities/kubernetes/api-get.ts';
import type { LoadedConfig } from './controller.ts';
import { CommandFailed } from './shared.ts';

export interface Cluster {
  readonly name: string;
  readonly kubernetes: Kubernetes;
  readonly get: ApiGet;
}

/**
 * Runs a part of a command with the cluster, and closes the connections to it afterwards.
 *
 * @throws {CommandFailed} when there is no cluster to talk to.
 */
export async function withCluster<T>(
  { config: { kubernetes, network, timings }, sources }: LoadedConfig,
  run: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  const { kubeconfig, context, clusterName } = kubernetes;
  const kubeConfig = load(
    { kubeconfig, context, proxies: network.proxies, requestTimeoutMs: timings.requestTimeout },
    sources.env,
  );
  try {
    return await run({
      name: clusterName,
      kubernetes: connectKubernetes(kubeConfig),
      get: createApiGet(kubeConfig),
    });
  } finally {
    await kubeConfig.close();
  }
}

function load(...from: Parameters<typeof loadKubeConfig>): ReturnType<typeof loadKubeConfig> {
  try {
    return loadKubeConfig(...from);
  } catch (error) {
    if (error instanceof KubernetesAccessError) throw new CommandFailed(error.message);
    throw error;
  }
}

/**
 * What the API server said, as a sentence for whoever asked: the rights that are missing are their own.
 *
 * @param rights which ones the command needs, as a sentence of its own.
 */
export function readingFailure(error: unknown, rights: string): unknown {
  if (error instanceof ApiException && error.code === 403) {
    const message = apiMessage(error) ?? 'the API server refuses to answer (403)';
    return new CommandFailed(`Kubernetes answers: ${message}. ${rights}`);
  }
  const failure = kubernetesFailure(error);
  return failure instanceof ApplicationFailure ? new CommandFailed(failure.message) : failure;
}

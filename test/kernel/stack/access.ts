import type { KubeConfig } from '@kubernetes/client-node';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';

/** As long as a machine that starts servers beside this may need for an answer, in milliseconds. */
const REQUEST_TIMEOUT_MS = 60_000;

/**
 * A kubeconfig for what tests themselves ask. It keeps its connections, which the library's own does not: a connection for
 * every request costs both sides three times what the request does.
 */
export function accessOf(kubeconfig: string): KubeConfig {
  return loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: REQUEST_TIMEOUT_MS }, {});
}

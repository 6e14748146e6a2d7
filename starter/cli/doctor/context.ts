import type { ClosableKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import type { Config } from '../../config.ts';

/** What the checks of the cluster go by. */
export interface DoctorContext {
  /** With the settings of the workers, as far as they are known. */
  readonly config: Config;
  readonly kubeConfig: ClosableKubeConfig;
  readonly kubernetes: Kubernetes;
  /** Who asks, as the API server calls them. */
  readonly self: string;
  /** The accounts of worker and starter, as the API server calls them. */
  readonly accounts: Accounts;
  /** A kubeconfig that asks as somebody else, to be closed. */
  readonly as: (user: string) => ClosableKubeConfig;
}

export type Accounts = Readonly<Record<'worker' | 'starter', string>>;

/** The service account that a user of the API server is (`system:serviceaccount:NAMESPACE:NAME`); null for any other user. */
export function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | null {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace === undefined || name === undefined ? null : { namespace, name };
}

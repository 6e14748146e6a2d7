import type { PairedProcess, PairName } from '../../../domain/kernel/controllers.ts';
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
  readonly accounts: readonly Account[];
  /** A kubeconfig that asks as somebody else, to be closed. */
  readonly as: (user: string) => ClosableKubeConfig;
}

/** Who a worker or a starter is. */
export interface Account {
  readonly process: PairedProcess;
  /** The controller that the process runs; null: all. */
  readonly pair: PairName | null;
  /** As the API server calls it. */
  readonly user: string;
}

/** Accounts that are named, where they are others than those of the chart. */
export type NamedAccounts = Readonly<Partial<Record<PairedProcess, string>>>;

/** The service account that a user of the API server is (`system:serviceaccount:NAMESPACE:NAME`); null for any other user. */
export function serviceAccountOf(user: string): { readonly namespace: string; readonly name: string } | null {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace === undefined || name === undefined ? null : { namespace, name };
}

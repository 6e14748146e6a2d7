import type { EpochMs } from '../../kernel/time.ts';
import type { Labels, Taint } from './pod.ts';
import type { Amounts } from '../../kernel/amounts.ts';

/** A Node of the cluster, or one that is to come. */
export interface Node {
  readonly name: string;
  /** Empty for one that is to come. */
  readonly uid: string;
  readonly labels: Labels;
  /** Those that say something about scaling or draining; others are left out. */
  readonly annotations: Labels;
  readonly taints: readonly Taint[];
  /** `spec.unschedulable`: it is cordoned. */
  readonly isCordoned: boolean;
  readonly allocatable: Amounts;
  readonly providerId: string;
  readonly createdAt: EpochMs;
  /**
   * Kubernetes' condition `Ready`; `Unknown` where the kubelet has gone silent. `since` is the kubelet's, whose clock may be any: never
   * before the Node was created or after the condition was last written, which are times of the API server.
   */
  readonly ready: { readonly status: 'True' | 'False' | 'Unknown'; readonly since: EpochMs };
  readonly isDeleting: boolean;
  /** What keeps it while it is being deleted; absent where nothing does. */
  readonly finalizers?: readonly string[];
}

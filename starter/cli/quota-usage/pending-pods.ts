/** Pods that are there, are charged, and do not run yet: how many, and why as they say themselves. */

/** The part of a pod that says why it waits, in the shape of Kubernetes' JSON. */
export interface WaitingPod {
  readonly metadata?: { readonly deletionTimestamp?: Date | string | undefined } | undefined;
  readonly status?:
    | {
        readonly phase?: string | undefined;
        readonly conditions?:
          | readonly {
              readonly type: string;
              readonly status: string;
              readonly reason?: string | undefined;
              readonly message?: string | undefined;
            }[]
          | undefined;
        readonly initContainerStatuses?: readonly ContainerStatus[] | undefined;
        readonly containerStatuses?: readonly ContainerStatus[] | undefined;
      }
    | undefined;
}

interface ContainerStatus {
  readonly state?:
    | { readonly waiting?: { readonly reason?: string | undefined; readonly message?: string | undefined } | undefined }
    | undefined;
}

/** Pods that wait for the same reason. */
interface PendingReason {
  /** `Unschedulable`, `SchedulingGated`, `ImagePullBackOff`, …; `NotScheduled` of a pod that no scheduler has looked at. */
  readonly reason: string;
  readonly pods: number;
  /** What one of them says; null where it says nothing. */
  readonly message: string | null;
}

export interface PendingPods {
  readonly count: number;
  /** The most frequent first. */
  readonly reasons: readonly PendingReason[];
}

export function pendingPods(pods: readonly WaitingPod[]): PendingPods {
  const pending = pods.filter(
    ({ metadata, status }) => status?.phase === 'Pending' && metadata?.deletionTimestamp === undefined,
  );
  const byReason = Map.groupBy(pending.map(reasonOf), ({ reason }) => reason);
  const reasons = [...byReason].map(
    ([reason, same]): PendingReason => ({
      reason,
      pods: same.length,
      message: same.find(({ message }) => message !== null)?.message ?? null,
    }),
  );
  return {
    count: pending.length,
    reasons: reasons.toSorted((a, b) => b.pods - a.pods || (a.reason < b.reason ? -1 : 1)),
  };
}

/** The scheduler goes first; of a pod that has its node, a container that waits says more than the pod. */
function reasonOf({ status }: WaitingPod): { readonly reason: string; readonly message: string | null } {
  const conditions = status?.conditions ?? [];
  const scheduled = conditions.find(({ type }) => type === 'PodScheduled');
  const waiting = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    .map(({ state }) => state?.waiting)
    .find((state) => state?.reason !== undefined && state.reason !== 'PodInitializing');
  const blockers =
    scheduled?.status === 'False'
      ? scheduled
      : (waiting ?? conditions.find((condition) => condition.status === 'False' && condition.reason !== undefined));
  const fallback = scheduled?.status === 'True' ? 'Starting' : 'NotScheduled';
  return { reason: blockers?.reason ?? fallback, message: blockers?.message ?? null };
}

import type { EpochMs } from '../../kernel/time.ts';
import type { NewNodes, Removal } from '../model/plan.ts';

/** Values of the search attribute `HeadroomPhase`. */
export type NodeGroupPhase =
  | 'Starting'
  | 'Observing'
  | 'Steady'
  | 'ScalingUp'
  | 'ScalingDown'
  | 'AwaitingApproval'
  | 'Blocked'
  | 'Paused'
  | 'Deleting'
  | 'Ended';

type NodeGroupReason =
  | 'FirstObservation'
  | 'WouldScaleUp'
  | 'WouldScaleDown'
  | 'NothingToDo'
  | 'PodsUnhelped'
  | 'NewNodes'
  | 'MachinesComing'
  | 'MachinesGoing'
  | 'MachinesFree'
  | 'InstanceTypesDue'
  | 'BackingOff'
  | 'TooFewReady'
  | 'Draining'
  | 'DrainWaits'
  | 'ApprovalRequired'
  | 'Invalid'
  | 'HeldByOther'
  | 'ReadFailed'
  | 'WriteFailed'
  | 'Paused'
  | 'GloballyPaused'
  | 'GroupDeleted'
  | 'GroupGone';

interface Shown {
  readonly phase: NodeGroupPhase;
  readonly reason: NodeGroupReason;
  /** One sentence. */
  readonly detail: string;
  /** Further sentences. */
  readonly facts: readonly string[];
}

/** What to do next. Drains run beside everything else, so each verdict may begin some. */
export type NodeGroupVerdict = Shown & {
  readonly drains: readonly Removal[];
} & (
    | { readonly kind: 'end' }
    /** Take the finalizer off: nothing of the group is left. */
    | { readonly kind: 'release' }
    /** Create machines and drive them until each is ready or has failed. */
    | { readonly kind: 'create'; readonly newNodes: readonly NewNodes[] }
    /** Ask the provider for the group's instance types. */
    | { readonly kind: 'refresh' }
    /** Drive the machines that are not settled. */
    | { readonly kind: 'drive' }
    /** Wait for a reconcile request, or for a moment; null: for no moment. */
    | { readonly kind: 'wait'; readonly until: EpochMs | null }
  );

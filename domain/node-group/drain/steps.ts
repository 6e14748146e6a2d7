/** The state machine of a drain: forward until its machine is gone, or back until its marks are. */
import type { DrainOutcome } from '../decide/drain-outcome.ts';
import type { Removal } from '../model/plan.ts';
import type { DrainTarget } from '../target.ts';
import type { Evicted, Marked, Replacement } from './answers.ts';
import type { BlockedReason, DrainProgress } from './drain-progress.ts';

/** How a drain ends. */
export interface DrainEnding extends Pick<DrainOutcome, 'outcome'> {
  readonly reason:
    | BlockedReason
    | 'Drained'
    | 'Cancelled'
    | 'NodeGone'
    | 'OtherDrain'
    | 'ReplacementFailed'
    | 'WriteFailed';
  /** `<namespace>/<name>` of the PodDisruptionBudget that stood in the way; null where none did. */
  readonly pdb: string | null;
  /** One sentence. */
  readonly detail: string;
}

export type DrainStep =
  /** The node is cordoned, so that nothing more comes while the replacement does. */
  | { readonly kind: 'marking' }
  | { readonly kind: 'awaitingReplacement' }
  | {
      readonly kind: 'evicting';
      readonly progress: DrainProgress | null;
      /** What refuses evictions, as it is shown. */
      readonly refusedBy: readonly string[];
      /** One sentence; null before the first look. */
      readonly detail: string | null;
      /** How often the node was empty already, and had to be looked at again; absent: never. */
      readonly takenBack?: number;
    }
  /** The machine is being deleted. Nobody can stop that; where it must not go just now, the node is looked at again. */
  | { readonly kind: 'deleting'; readonly takenBack?: number }
  /** The marks are taken back. */
  | { readonly kind: 'undoing'; readonly ending: DrainEnding }
  | { readonly kind: 'ended'; readonly ending: DrainEnding };

type Evicting = Extract<DrainStep, { kind: 'evicting' }>;
type Deleting = Extract<DrainStep, { kind: 'deleting' }>;

/** Why the node is drained, and what comes in its place. */
export interface DrainOrder {
  readonly target: DrainTarget;
  readonly removal: Pick<Removal, 'machine' | 'reason' | 'detail'>;
  /** The VPSieNode of the replacement; null where the pods fit elsewhere already. */
  readonly replacement: string | null;
}

export type DrainPhase = 'Draining' | 'Undoing' | 'Paused' | 'Blocked' | 'Ended';

export interface DrainShown {
  readonly phase: DrainPhase;
  readonly reason: string;
  readonly detail: string;
  readonly facts: readonly string[];
}

const EVICTING = { kind: 'evicting', progress: null, refusedBy: [], detail: null } as const satisfies DrainStep;

/** Evictions mark the node themselves: a step of its own is needed only where something is awaited in between. */
export function firstStep({ replacement }: Pick<DrainOrder, 'replacement'>): DrainStep {
  return replacement === null ? EVICTING : { kind: 'marking' };
}

export function afterMarked(marked: Marked): DrainStep {
  return marked.kind === 'marked' ? { kind: 'awaitingReplacement' } : unmarkedEnd(marked);
}

export function afterReplacement(replacement: Replacement): DrainStep {
  return replacement.kind === 'ready' ? EVICTING : blocked('ReplacementFailed', replacement.detail);
}

export function afterEvicted(evicted: Evicted, { takenBack = 0 }: Pick<Evicting, 'takenBack'> = {}): DrainStep {
  switch (evicted.kind) {
    case 'empty':
      return { kind: 'deleting', takenBack };
    case 'refused': {
      const { progress, by: refusedBy, detail } = evicted;
      return { kind: 'evicting', progress, refusedBy, detail, takenBack };
    }
    case 'blocked':
      return blocked(evicted.reason, evicted.detail, evicted.pdb);
    default:
      return unmarkedEnd(evicted);
  }
}

/** @param isTakenBack somebody has taken the node back meanwhile, or it must not go now: it is looked at again. */
export function afterDeleted(
  { target: { node }, removal: { machine } }: DrainOrder,
  isTakenBack: boolean,
  { takenBack = 0 }: Pick<Deleting, 'takenBack'> = {},
): DrainStep {
  if (isTakenBack) return { ...EVICTING, takenBack: takenBack + 1 };
  const detail = `${node} was drained, and its machine ${machine} deleted`;
  return { kind: 'ended', ending: { outcome: 'drained', reason: 'Drained', pdb: null, detail } };
}

/** The marks are where they were before the drain. */
export function afterUndone({ ending }: Extract<DrainStep, { kind: 'undoing' }>): DrainStep {
  return { kind: 'ended', ending };
}

/** A write that was in vain for too long, or that the API server rejects. */
export function afterFailure(message: string): DrainStep {
  return blocked('WriteFailed', message);
}

/**
 * A person, or whoever runs the workflow, wants it to stop.
 *
 * @param by who says so: `stopped by alice`.
 * @returns null where it is too late, or over.
 */
export function afterStop(step: DrainStep, by: string): DrainStep | null {
  if (step.kind === 'deleting' || step.kind === 'undoing' || step.kind === 'ended') return null;
  return { kind: 'undoing', ending: { outcome: 'cancelled', reason: 'Cancelled', pdb: null, detail: by } };
}

/** What people see of a step. */
export function shownStep(step: DrainStep, { target, removal, replacement }: DrainOrder): DrainShown {
  const { node } = target;
  const facts = [`why ${node} is drained: ${removal.detail}`, `its machine: ${removal.machine}`];
  const draining = (reason: string, detail: string): DrainShown => ({ phase: 'Draining', reason, detail, facts });
  switch (step.kind) {
    case 'marking':
      return draining('Marking', `${node} is marked and cordoned`);
    case 'awaitingReplacement':
      return draining('AwaitingReplacement', `nothing is evicted before the replacement ${replacement ?? ''} is ready`);
    case 'evicting':
      return draining(
        step.refusedBy.length > 0 ? 'EvictionsRefused' : 'Evicting',
        step.detail ?? `the pods of ${node} are being evicted`,
      );
    case 'deleting':
      return draining('DeletingMachine', `${node} is empty; its machine ${removal.machine} is being deleted`);
    case 'undoing':
      return {
        phase: 'Undoing',
        reason: step.ending.reason,
        detail: `the marks of the drain are taken off ${node}: ${step.ending.detail}`,
        facts,
      };
    case 'ended':
      return { phase: 'Ended', reason: step.ending.reason, detail: step.ending.detail, facts };
  }
}

function blocked(reason: DrainEnding['reason'], detail: string, pdb: string | null = null): DrainStep {
  return { kind: 'undoing', ending: { outcome: 'blocked', reason, pdb, detail } };
}

function unmarkedEnd(marked: Exclude<Marked, { kind: 'marked' }>): DrainStep {
  const none = { pdb: null } as const;
  switch (marked.kind) {
    case 'nodeGone':
      // With the node its marks are gone.
      return {
        kind: 'ended',
        ending: {
          ...none,
          outcome: 'nodeGone',
          reason: 'NodeGone',
          detail: 'the node is gone, or another one has its name',
        },
      };
    case 'uncordoned': {
      const detail = 'somebody made the node schedulable again';
      return { kind: 'undoing', ending: { ...none, outcome: 'cancelled', reason: 'Cancelled', detail } };
    }
    case 'foreign':
      return blocked('OtherDrain', `the node has the marks of another drain: ${marked.drain}`);
  }
}

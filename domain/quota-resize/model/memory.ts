import type { ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Decision, Refusal } from './decision.ts';
import type { Reason } from './verdict.ts';

/** An operator's word, and who gave it. */
interface Said {
  readonly by: string;
  readonly at: EpochMs;
  readonly reason: string;
}

/** An approval holds for exactly the limits and the head that it was given for. */
interface Approval extends Said {
  readonly limits: ResourceList;
  /** "" when it was given before there was a pull request. */
  readonly headSha: string;
}

/** What an episode remembers between two looks, and carries through continue-as-new. JSON only. */
export interface ResizeMemory {
  readonly version: 1;
  readonly quotaUid: string | null;
  /** The decision in hand: proposed, open, or merged and awaiting its sync. */
  readonly decision: Decision | null;
  /** The decision that this run finished last, so that a Lease that could not be cleaned does not bring it back. */
  readonly finished: string | null;
  readonly approval: Approval | null;
  readonly rejection: Said | null;
  /** The need as it was last computed, and since when it has been the same. */
  readonly need: { readonly digest: string; readonly since: EpochMs; readonly firstSeen: EpochMs } | null;
  readonly needGoneSince: EpochMs | null;
  /** How often the open pull request was updated because the need grew. */
  readonly updates: number;
  /** Why Headroom set out to close the pull request: found closed afterwards, it was not a person's refusal. */
  readonly closing: { readonly reason: Reason; readonly detail: string } | null;
  /** The mode in force when the namespace and the quota were last there: their annotations go with them. */
  readonly mode: 'observe' | 'propose' | null;
  /** An act that left no trace here (interrupted, or the forge had moved), so that it is repeated with growing distance. */
  readonly tried: { readonly key: string; readonly count: number; readonly at: EpochMs } | null;
  /** Why the decision cannot move, until it is tried again. */
  readonly blocked: {
    readonly reason: BlockedReason;
    readonly message: string;
    readonly at: EpochMs;
    /** What it was blocked for; another path or other values are tried at once. */
    readonly key: string;
  } | null;
  readonly lastRecommendation: { readonly limits: ResourceList; readonly at: EpochMs } | null;
  readonly refusals: readonly Refusal[];
  /** The last change of ours: a merge, or the cluster having followed it. */
  readonly lastChange: EpochMs | null;
  /** A cooldown that began before this moment is over. */
  readonly cooldownSkippedAt: EpochMs | null;
  readonly syncWarnedAt: EpochMs | null;
  readonly syncCheckedAt: EpochMs | null;
  /** The approval that is waited for, since when, and when people were last reminded of it. */
  readonly awaiting: { readonly key: string; readonly since: EpochMs; readonly remindedAt: EpochMs } | null;
  /** What people were told already, by what it was about. */
  readonly told: readonly string[];
  /** Since when another quota of the namespace has the first word. */
  readonly yieldedSince: EpochMs | null;
}

export const blockedReasons = [
  'LeaseHeld',
  'FileBusy',
  'FileNotFound',
  'FoundTwice',
  'NotYaml',
  'Unplaceable',
  'RepositoryNotConfigured',
  'RepositoryNotFound',
  'ForgeRejected',
  'ForeignCommit',
  'MergeQueue',
  'NotMergeable',
] as const satisfies readonly Reason[];

export type BlockedReason = (typeof blockedReasons)[number];

export function emptyMemory(): ResizeMemory {
  return {
    version: 1,
    quotaUid: null,
    decision: null,
    finished: null,
    approval: null,
    rejection: null,
    need: null,
    needGoneSince: null,
    updates: 0,
    closing: null,
    mode: null,
    tried: null,
    blocked: null,
    lastRecommendation: null,
    refusals: [],
    lastChange: null,
    cooldownSkippedAt: null,
    syncWarnedAt: null,
    syncCheckedAt: null,
    awaiting: null,
    told: [],
    yieldedSince: null,
  };
}

/**
 * Reads the memory of any earlier version, as a continued run receives it.
 *
 * @throws Error when it is of a version that this code does not know, which is a deployment going backwards.
 */
export function upgradeMemory(carried: { readonly version: number } | undefined): ResizeMemory {
  if (carried === undefined) return emptyMemory();
  if (carried.version === 1) return { ...emptyMemory(), ...(carried as ResizeMemory) };
  throw new Error(
    `the carried memory has version ${carried.version}, this worker knows up to 1: run a worker of the newer release`,
  );
}

import type { V1Lease } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import {
  type Decision,
  decidedLimits,
  leaseHolder,
  type Rejection,
  withoutBatchedQuotas,
} from '../../../domain/quota-resize/model/decision.ts';
import {
  fileKey,
  carrierOfLease,
  filesOfLease,
  hasUnreadDecision,
  type LeaseMemory,
  leaseNames,
  leaseRelation,
  type LockedFile,
  pullRequestNumberOf,
  quotaLeaseLabels,
  readLeaseMemory,
  withLocks,
  withMemory,
  withoutDecision,
} from '../../../domain/quota-resize/model/lease.ts';
import { isHeldByOthers, type LeaseRecord } from '../../../domain/quota-resize/model/observation.ts';
import { failure } from '../../kernel/failure.ts';
import { createLease, holderOf, type LeaseNamespace, readLease, replaceLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { lockFiles, unlockFiles } from './file-lock.ts';
import type { LeaseOutcome } from '../interface.ts';

interface LeaseOptions extends LeaseNamespace {
  /**
   * Whether the pull request of an earlier tool's holder `pr-N` is closed. Null: such a holder always counts as active.
   */
  readonly abandonedHolder: ((pullRequest: number) => Promise<boolean>) | null;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/** A quota's Lease in the cluster; `lease` is null when there is none yet and `name` is free. */
interface Found {
  readonly name: string;
  readonly lease: V1Lease | null;
}

interface LeaseState {
  readonly holder: string | null;
  readonly memory: LeaseMemory;
  /** The files whose locks belong to the decision. */
  readonly files: readonly LockedFile[];
  /** The quota whose decision also holds this quota's Lease. */
  readonly carriedBy: string | null;
}

/** The state of a Lease that nobody holds. */
const UNLOCKED: Omit<LeaseState, 'memory'> = { holder: null, files: [], carriedBy: null };

/**
 * The Leases of quotas in Headroom's namespace: each is the lock and the memory of a quota; files have Leases of their
 * own.
 */
export class LeaseStore {
  readonly #options: LeaseOptions;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The quota's Lease; a missing one is returned as unlocked and without memory. */
  async read(target: QuotaTarget): Promise<LeaseRecord> {
    const found = await this.#find(target);
    const { holder, carriedBy, memory } = this.#stateOf(found.lease);
    const { unread: _, ...current } = memory;
    return {
      name: found.name,
      holder,
      carriedBy,
      holderIsAbandoned: await this.#isAbandoned(holder),
      ...current,
      ...(hasUnreadDecision(memory) ? { hasUnreadDecision: true } : {}),
    };
  }

  /**
   * Locks the files and then the quota for a decision, and stores the decision; then locks its batched quotas, leaving
   * out those that somebody else holds. Locks that the decision already has are kept. On `held` and `fileBusy` no new
   * lock remains.
   */
  async acquire(target: QuotaTarget, decision: Decision, files: readonly LockedFile[]): Promise<LeaseOutcome> {
    const ours = leaseHolder(decision.id);
    const before = this.#stateOf((await this.#find(target)).lease);
    if (await this.#isHeldByOthers(before, decision)) return { kind: 'held', by: describeHolder(before) };

    const lock = await lockFiles(this.#options, target, ours, files);
    if (lock.kind === 'fileBusy') return lock;
    let heldBy: string | null = null;
    let earlier: readonly LockedFile[] = [];
    await this.#change(target, async (state) => {
      heldBy = (await this.#isHeldByOthers(state, decision)) ? describeHolder(state) : null;
      if (heldBy !== null) return null;
      earlier = state.holder === ours ? state.files : [];
      return {
        holder: ours,
        files,
        carriedBy: null,
        memory: { ...state.memory, decision: withProgress(decision, state.memory.decision) },
      };
    });
    if (heldBy !== null) {
      await unlockFiles(this.#options, ours, lock.acquired);
      return { kind: 'held', by: heldBy };
    }
    // The quota may have moved to another file since this decision first locked one.
    const current = new Set(files.map(fileKey));
    const left = earlier.filter((file) => !current.has(fileKey(file)));
    await unlockFiles(this.#options, ours, left);
    return { kind: 'acquired', batchedQuotas: await this.#acquireBatchedQuotas(target, decision) };
  }

  /** Locks the Leases of batched quotas; the decision is stored again without those that somebody else holds. */
  async #acquireBatchedQuotas(target: QuotaTarget, decision: Decision): Promise<readonly string[]> {
    const ours = leaseHolder(decision.id);
    const quotas = (decision.batchedQuotas ?? []).map(({ quota }) => quota);
    const locked: string[] = [];
    for (const quota of quotas.toSorted((a, b) => (a < b ? -1 : 1))) {
      let isOurs = false;
      await this.#change({ ...target, quota }, async (state) => {
        const isBusy = state.memory.decision !== null && state.holder !== ours;
        isOurs = !isBusy && !(await this.#isHeldByOthers(state, decision));
        return isOurs ? { ...state, holder: ours, files: [], carriedBy: target.quota } : null;
      });
      if (isOurs) locked.push(quota);
    }
    const leftOut = quotas.filter((quota) => !locked.includes(quota));
    if (leftOut.length > 0) await this.update(target, withoutBatchedQuotas(decision, leftOut));
    return locked;
  }

  /** Unlocks batched quotas that the decision does not raise. */
  async releaseUnraised(target: QuotaTarget, decision: Decision, quotas: readonly string[]): Promise<void> {
    const ours = leaseHolder(decision.id);
    for (const quota of quotas) {
      await this.#changeExisting({ ...target, quota }, (state) =>
        state.holder === ours ? { ...state, ...UNLOCKED } : null,
      );
    }
  }

  /**
   * Unlocks the batched quotas of a decision that was merged or given up; a merge or a rejection is stored in their
   * Leases too.
   */
  async #releaseBatchedQuotas(target: QuotaTarget, decision: Decision, rejection: Rejection | null): Promise<void> {
    const ours = leaseHolder(decision.id);
    for (const batchedQuota of decision.batchedQuotas ?? []) {
      await this.#changeExisting({ ...target, quota: batchedQuota.quota }, (state) => {
        if (state.holder !== ours) return null;
        const own = rejection === null ? null : { ...rejection, limits: decidedLimits(batchedQuota) };
        return { ...UNLOCKED, memory: memoryAfter(state.memory, decision, own) };
      });
    }
  }

  /**
   * Stores the decision in the Lease that it holds. A Lease that was unlocked or deleted meanwhile is acquired again.
   *
   * @throws ApplicationFailure `InvalidInput` when somebody else holds the Lease.
   */
  async update(target: QuotaTarget, decision: Decision): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#change(target, async (state, name) => {
      if (await this.#isHeldByOthers(state, decision)) {
        throw failure({
          type: 'InvalidInput',
          nonRetryable: true,
          message: `decision ${decision.id} for ${targetName(target)} cannot go on: its Lease ${name} is held by ${describeHolder(state)}`,
        });
      }
      return { ...state, holder: ours, memory: { ...state.memory, decision } };
    });
  }

  /**
   * Unlocks the files and the quota if the decision holds them. After a merge last-modified is set and the decision
   * stays in the Lease, so that a later run can wait for its sync; any other decision is removed. A rejection is
   * stored.
   */
  async release(target: QuotaTarget, decision: Decision, rejection: Rejection | null): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#unlockFiles(target, decision);
    await this.#releaseBatchedQuotas(target, decision, rejection);
    await this.#changeExisting(target, (state) => {
      // Garbage collection may have unlocked the Lease meanwhile, but the decision in it is still this one.
      const unlockedOurs = state.holder === null && state.memory.decision?.id === decision.id;
      if (state.holder !== ours && !unlockedOurs) return null;
      const memory = memoryAfter(state.memory, decision, rejection);
      return { ...UNLOCKED, memory: decision.merge === null ? withoutDecision(memory) : { ...memory, decision } };
    });
  }

  /**
   * After the cluster showed the merged limits: the decision is removed, and last-modified is at least `at`. Does
   * nothing without a Lease.
   */
  async synced(target: QuotaTarget, decision: Decision, at: EpochMs): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#unlockFiles(target, decision);
    await this.#changeExisting(target, (state) => {
      const { memory } = state;
      const recorded = memory.decision;
      return {
        ...(state.holder === ours ? { ...state, ...UNLOCKED } : state),
        memory: {
          ...memory,
          lastModified: Math.max(memory.lastModified ?? 0, at),
          decision: recorded === null || recorded.id === decision.id ? null : recorded,
        },
      };
    });
  }

  /** Stores what was recommended when, in a Lease that need not exist or be held. */
  async rememberRecommendation(
    target: QuotaTarget,
    recommendation: NonNullable<LeaseMemory['lastRecommendation']>,
  ): Promise<void> {
    await this.#change(target, (state) => {
      const recorded = state.memory.lastRecommendation;
      if (recorded !== null && recorded.at >= recommendation.at) return null;
      return { ...state, memory: { ...state.memory, lastRecommendation: recommendation } };
    });
  }

  async #find(target: QuotaTarget): Promise<Found> {
    let free: string | null = null;
    let legacy: Found | null = null;
    for (const name of leaseNames(target)) {
      const lease = await readLease(this.#options, name);
      if (lease === null) {
        free ??= name;
        continue;
      }
      const relation = leaseRelation(lease, target);
      if (relation === 'own') return { name, lease };
      if (relation === 'legacy') legacy ??= { name, lease };
    }
    if (legacy !== null) return legacy;
    if (free !== null) return { name: free, lease: null };
    throw failure({
      type: 'InvalidInput',
      nonRetryable: true,
      message: `no Lease name is left for ${targetName(target)}: ${leaseNames(target).join(' and ')} in ${this.#options.systemNamespace} are Leases of others`,
    });
  }

  #stateOf(lease: V1Lease | null): LeaseState {
    if (lease === null) {
      const memory = { lastModified: null, lastRecommendation: null, rejections: [], decision: null };
      return { ...UNLOCKED, memory };
    }
    const { memory, problems } = readLeaseMemory(lease);
    for (const problem of problems) this.#options.log.warn({ lease: lease.metadata?.name }, problem);
    return { holder: holderOf(lease), files: filesOfLease(lease), carriedBy: carrierOfLease(lease), memory };
  }

  async #isHeldByOthers({ holder, memory }: LeaseState, { id }: Decision): Promise<boolean> {
    const holderIsAbandoned = await this.#isAbandoned(holder);
    return isHeldByOthers({ holder, holderIsAbandoned, hasUnreadDecision: hasUnreadDecision(memory) }, id);
  }

  async #isAbandoned(holder: string | null): Promise<boolean> {
    const { abandonedHolder, log } = this.#options;
    const number = pullRequestNumberOf(holder);
    if (number === null || abandonedHolder === null) return false;
    try {
      return await abandonedHolder(number);
    } catch (error) {
      // The forge may be unavailable; until it answers, the lock counts as active.
      log.warn({ holder, error: String(error) }, 'cannot tell whether the pull request of a Lease holder is closed');
      return false;
    }
  }

  async #changeExisting(target: QuotaTarget, change: (state: LeaseState) => LeaseState | null): Promise<void> {
    await this.#change(target, (state, _name, exists) => (exists ? change(state) : null));
  }

  /** Reads, calls `change` for the new state (null: unchanged), and writes; repeated after a conflict. */
  async #change(
    target: QuotaTarget,
    change: (state: LeaseState, name: string, exists: boolean) => LeaseState | null | Promise<LeaseState | null>,
  ): Promise<void> {
    await retryOnConflict(`the Lease of ${targetName(target)}`, async () => {
      const { name, lease } = await this.#find(target);
      const next = await change(this.#stateOf(lease), name, lease !== null);
      if (next === null) return;
      const annotations = withMemory(
        withLocks(lease?.metadata?.annotations ?? {}, next.files, next.carriedBy),
        target,
        next.memory,
      );
      if (lease === null) {
        await createLease(this.#options, { name, labels: quotaLeaseLabels, annotations }, next.holder);
      } else if (holderOf(lease) !== next.holder || !isSame(annotations, lease.metadata?.annotations)) {
        await replaceLease(this.#options, lease, next.holder, annotations);
      }
    });
  }

  /** The files in the Lease and those of the decision: after a crash only one of them may know a file. */
  async #unlockFiles(target: QuotaTarget, decision: Decision): Promise<void> {
    const ours = leaseHolder(decision.id);
    const { lease } = await this.#find(target);
    const recorded = decision.pullRequest === null ? [] : [decision.pullRequest];
    const files = [...(lease === null ? [] : filesOfLease(lease)), ...recorded];
    const byKey = new Map(files.map((file) => [fileKey(file), file]));
    await unlockFiles(this.#options, ours, [...byKey.values()]);
  }
}

function describeHolder({ holder, memory }: LeaseState): string {
  return hasUnreadDecision(memory) ? 'a decision that this release cannot read' : (holder ?? 'nobody');
}

/** What a quota's Lease stores after a decision has ended: the time of a merge, or the rejection. */
function memoryAfter(memory: LeaseMemory, { merge }: Decision, rejection: Rejection | null): LeaseMemory {
  return {
    ...memory,
    lastModified: merge === null ? memory.lastModified : Math.max(memory.lastModified ?? 0, merge.at),
    rejections: rejection === null ? memory.rejections : [...memory.rejections, rejection],
  };
}

/** A run that was reset sends the original decision again; the progress that was stored since is kept. */
function withProgress(decision: Decision, recorded: Decision | null): Decision {
  if (recorded?.id !== decision.id) return decision;
  return {
    ...decision,
    pullRequest: decision.pullRequest ?? recorded.pullRequest,
    merge: decision.merge ?? recorded.merge,
  };
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>> | undefined): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b ?? {}).length && keys.every((key) => a[key] === b?.[key]);
}

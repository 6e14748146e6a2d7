import type { V1Lease } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { equalTexts } from '../../../domain/kernel/record.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import {
  type Decision,
  decidedLimits,
  filesOfDecision,
  leaseHolder,
  type Merge,
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
import { type LeaseApproval, readLeaseApproval } from '../../../domain/quota-resize/model/lease-approval.ts';
import { isHeldByOthers } from '../../../domain/quota-resize/model/observation.ts';
import { failure } from '../../kernel/failure.ts';
import { createLease, holderOf, type LeaseNamespace, readLease, replaceLease } from '../../kubernetes/lease-object.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import { areApprovalsVerified } from './approval-policy.ts';
import {
  asUnreleased,
  type Ending,
  endOfRecorded,
  memoryAfter,
  withEndOfLast,
  withMerge,
  withProgress,
  withRecordedMerge,
  withRejectionOf,
  withTimes,
} from './remembered-end.ts';
import { describeHolder, type Found, type LeaseState, type StoredLease, UNLOCKED } from './lease-state.ts';
import { unlockFile } from './file-lock.ts';
import { type ReadNeeded, withDecision } from './needed.ts';
import { NOT_ENDED, type PullRequestEnds } from './ends.ts';
import type { LeaseOutcome } from '../interface.ts';

interface LeaseOptions extends LeaseNamespace {
  /**
   * Whether the pull request of an earlier tool's holder `pr-N` is closed. Null: such a holder always counts as active.
   */
  readonly abandonedHolder: ((pullRequest: number) => Promise<boolean>) | null;
  readonly ends: PullRequestEnds;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

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
  async read(target: QuotaTarget): Promise<StoredLease> {
    const found = await this.#find(target);
    const { holder, carriedBy, memory } = this.#stateOf(found.lease);
    const { unread: _, ...current } = memory;
    const approval = await this.#approvalOf(found.lease, memory.decision);
    return {
      name: found.name,
      holder,
      carriedBy,
      holderIsAbandoned: await this.#isAbandoned(holder),
      ...current,
      decision: asUnreleased(memory.decision, holder),
      ...(hasUnreadDecision(memory) ? { hasUnreadDecision: true } : {}),
      ...(approval === null ? {} : { approval }),
    };
  }

  /** The approval of the decision, if the API server has verified who wrote it. */
  async #approvalOf(lease: V1Lease | null, decision: Decision | null): Promise<LeaseApproval | null> {
    const { approval, problem } = readLeaseApproval(lease?.metadata?.annotations);
    const { log } = this.#options;
    const name = lease?.metadata?.name;
    if (problem !== null) log.warn({ lease: name }, `the approval in the Lease ${name} is ignored: ${problem}`);
    if (approval === null || approval.decision !== decision?.id) return null;
    if (await areApprovalsVerified(this.#options)) return approval;
    const why = 'the ValidatingAdmissionPolicy headroom-approvals is not in force';
    log.warn({ lease: name, by: approval.by }, `the approval in the Lease ${name} is not believed: ${why}`);
    return null;
  }

  /**
   * Locks the quota for a decision, and stores the decision; then locks its batched quotas, leaving out those that
   * somebody else holds. Files are locked when the pull request is opened.
   *
   * @param readNeeded absent: nothing is known to be needed.
   */
  async acquire(target: QuotaTarget, decision: Decision, readNeeded?: ReadNeeded): Promise<LeaseOutcome> {
    const ours = leaseHolder(decision.id);
    let heldBy: string | null = null;
    await this.#change(target, async (state) => {
      heldBy = (await this.#isHeldByOthers(state, decision)) ? describeHolder(state) : null;
      if (heldBy !== null) return null;
      const stored = withProgress(decision, state.memory.decision);
      const memory = await withEndOfLast(this.#options.ends, target, state.memory, stored);
      return {
        holder: ours,
        files: state.holder === ours ? state.files : [],
        carriedBy: null,
        memory: await withDecision(memory, stored, target.quota, readNeeded),
      };
    });
    if (heldBy !== null) return { kind: 'held', by: heldBy };
    return { kind: 'acquired', batchedQuotas: await this.#acquireBatchedQuotas(target, decision) };
  }

  /**
   * Records the files that the decision is about to lock and does not name itself, so that they are unlocked with it.
   *
   * @throws ApplicationFailure `InvalidInput` when somebody else holds the Lease.
   */
  async recordFiles(target: QuotaTarget, decision: Decision, files: readonly LockedFile[]): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#changeHeld(target, decision, async (state) => {
      const isOurs = state.holder === ours;
      const recorded = isOurs ? state.files : [];
      const named = filesOfDecision(state.memory.decision ?? decision);
      const keys = new Set([...recorded, ...named].map(fileKey));
      const added = files.filter((file) => !keys.has(fileKey(file)));
      if (isOurs && added.length === 0) return null;
      if (isOurs) return { ...state, files: [...recorded, ...added] };
      const stored = withMerge(withTimes(decision, state.memory.decision), null);
      const remembered = await withEndOfLast(this.#options.ends, target, state.memory, stored);
      const memory = await withDecision(remembered, stored, target.quota, undefined);
      return { ...state, holder: ours, files: [...recorded, ...added], memory };
    });
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

  /**
   * Unlocks batched quotas, which the decision does not raise any more: it is stored without them before, so that its pull
   * request is not merged with what others may raise by then.
   */
  async releaseUnraised(target: QuotaTarget, decision: Decision, quotas: readonly string[]): Promise<void> {
    const ours = leaseHolder(decision.id);
    await this.#changeExisting(target, ({ memory, ...state }) => {
      const { decision: last } = memory;
      if (last?.id !== decision.id) return null;
      return { ...state, memory: { ...memory, decision: withoutBatchedQuotas(last, quotas) } };
    });
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
  async #releaseBatchedQuotas(
    target: QuotaTarget,
    decision: Decision,
    merge: Merge | null,
    given: Ending,
  ): Promise<void> {
    const { rejection } = given;
    const ours = leaseHolder(decision.id);
    for (const batchedQuota of decision.batchedQuotas ?? []) {
      await this.#changeExisting({ ...target, quota: batchedQuota.quota }, (state) => {
        if (state.holder !== ours) return null;
        const own = rejection === null ? null : { ...rejection, limits: decidedLimits(batchedQuota) };
        return { ...UNLOCKED, memory: memoryAfter(state.memory, merge, { ...given, rejection: own }) };
      });
    }
  }

  /**
   * Stores the decision in the Lease that it holds. A Lease that was unlocked or deleted meanwhile is acquired again.
   *
   * @throws ApplicationFailure `InvalidInput` when somebody else holds the Lease.
   */
  async update(target: QuotaTarget, decision: Decision, readNeeded?: ReadNeeded): Promise<void> {
    const holder = leaseHolder(decision.id);
    await this.#changeHeld(target, decision, async (state) => {
      const stored = withRecordedMerge(decision, state.memory.decision);
      const memory = await withEndOfLast(this.#options.ends, target, state.memory, stored);
      return { ...state, holder, memory: await withDecision(memory, stored, target.quota, readNeeded) };
    });
  }

  /**
   * Unlocks the files and the quota if the decision holds them. After a merge last-modified is set and the decision
   * stays in the Lease, so that a later run can wait for its sync; any other decision is removed. A rejection or a
   * withdrawal is stored.
   *
   * @param claimed which decision is meant. What becomes of it is what its Lease and the forge say, who closed it as well.
   */
  async release(target: QuotaTarget, claimed: Decision, given: Ending): Promise<void> {
    const ours = leaseHolder(claimed.id);
    const recorded = await this.#recorded(target, claimed.id);
    const { ends } = this.#options;
    const end = recorded === null ? NOT_ENDED : await endOfRecorded(ends, target, { recorded, claimed });
    const { merge } = end;
    const ending = withRejectionOf(recorded, end, given);
    const decision = recorded ?? claimed;
    await this.unlockFiles(target, decision);
    await this.#releaseBatchedQuotas(target, decision, merge, ending);
    await this.#changeExisting(target, (state) => {
      const { decision: last } = state.memory;
      const isRecorded = last?.id === claimed.id;
      // Garbage collection may have unlocked the Lease meanwhile, but the decision in it is still this one.
      if (state.holder !== ours && !(state.holder === null && isRecorded)) return null;
      const memory = memoryAfter(state.memory, merge, ending);
      const stays = isRecorded && merge !== null;
      return { ...UNLOCKED, memory: stays ? { ...memory, decision: { ...last, merge } } : withoutDecision(memory) };
    });
  }

  /**
   * After the cluster showed the merged limits: the decision is removed, and last-modified is at least `at`. Does
   * nothing without a Lease, and for a decision that is not merged.
   *
   * @param claimed which decision is meant.
   */
  async synced(target: QuotaTarget, claimed: Decision, at: EpochMs): Promise<void> {
    const recorded = await this.#recorded(target, claimed.id);
    const { ends } = this.#options;
    if (recorded !== null && (await endOfRecorded(ends, target, { recorded, claimed })).merge === null) return;
    await this.release(target, claimed, { rejection: null });
    const until = Math.min(at, Date.now());
    await this.#changeExisting(target, ({ memory, ...state }) => ({
      ...state,
      memory: {
        ...memory,
        lastModified: Math.max(memory.lastModified ?? 0, until),
        decision: memory.decision?.id === claimed.id ? null : memory.decision,
      },
    }));
  }

  /** The decision in the quota's Lease; null where it has another one, or none. */
  async #recorded(target: QuotaTarget, id: string): Promise<Decision | null> {
    const { lease } = await this.#find(target);
    const { decision } = this.#stateOf(lease).memory;
    return decision?.id === id ? decision : null;
  }

  /** Changes what is remembered of a quota, whoever holds its Lease; null: nothing. A missing Lease is created. */
  async remember(target: QuotaTarget, change: (memory: LeaseMemory) => LeaseMemory | null): Promise<void> {
    await this.#change(target, (state) => {
      const memory = change(state.memory);
      return memory === null || memory === state.memory ? null : { ...state, memory };
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
      const memory = { lastModified: null, lastRecommendation: null, rejections: [], raises: [], decision: null };
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

  /** @throws ApplicationFailure `InvalidInput` when somebody else holds the Lease. */
  async #changeHeld(
    target: QuotaTarget,
    decision: Decision,
    change: (state: LeaseState) => Promise<LeaseState | null>,
  ): Promise<void> {
    await this.#change(target, async (state, name) => {
      if (!(await this.#isHeldByOthers(state, decision))) return await change(state);
      throw failure({
        type: 'InvalidInput',
        nonRetryable: true,
        message: `decision ${decision.id} for ${targetName(target)} cannot go on: its Lease ${name} is held by ${describeHolder(state)}`,
      });
    });
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
      } else if (holderOf(lease) !== next.holder || !equalTexts(annotations, lease.metadata?.annotations)) {
        await replaceLease(this.#options, lease, next.holder, annotations);
      }
    });
  }

  /**
   * Unlocks the files in the Lease and those of the decision, and gives up its places in their queues: after a crash only
   * one of them may know a file.
   */
  async unlockFiles(target: QuotaTarget, decision: Decision): Promise<void> {
    for (const file of await this.lockedFiles(target, decision)) {
      await unlockFile(this.#options, { target, decision }, file);
    }
  }

  /** The files in the Lease and those of the decision: it has locked them, or waits for them. */
  async lockedFiles(target: QuotaTarget, decision: Decision): Promise<readonly LockedFile[]> {
    const { lease } = await this.#find(target);
    const { files: recorded, memory } = this.#stateOf(lease);
    const own = memory.decision?.id === decision.id ? filesOfDecision(memory.decision) : [];
    const files = [...recorded, ...own, ...filesOfDecision(decision)];
    return [...new Map(files.map((file) => [fileKey(file), file])).values()];
  }
}

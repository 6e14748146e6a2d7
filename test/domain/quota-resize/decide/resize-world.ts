/**
 * A small world for the state machine: one quota, its file in Git, pull requests, a Lease and people, without any I/O. An
 * act is a list of steps that may be cut off after any of them, as a worker's death or a Terminate would do.
 */
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import {
  type Decision,
  decidedLimits,
  FOUND_IN_GIT,
  leaseHolder,
  type LockedDecision,
  type Rejection,
  type UnmergedDecision,
} from '../../../../domain/quota-resize/model/decision.ts';
import {
  decisionOf,
  emptyMemory,
  requireState,
  type ResizeMemory,
} from '../../../../domain/quota-resize/model/memory.ts';
import { coveredBy } from '../../../../domain/quota-resize/sizing/requirement.ts';
import type {
  LeaseRecord,
  PullRequestObservation,
  QuotaObservation,
} from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import { cpu, demand, lease, NOW, policy, ref, SECOND, timings } from '../model/observations.ts';

type Act = Exclude<Verdict, { kind: 'hold' } | { kind: 'end' }>;
type ApplyOutcome = (memory: ResizeMemory) => ResizeMemory;
type Steps = Generator<string, ApplyOutcome, void>;

interface PullRequest {
  readonly number: number;
  readonly decisionId: string;
  readonly pushedAt: number;
  headSha: string;
  /** The cpu limit that the head's file has. */
  limit: string;
  /** What it raises besides. */
  along: string;
  ours: boolean;
  state: 'open' | 'closed';
  closedBy: string;
  merge: PullRequestObservation['merge'];
  basedOn: number;
  conflicts: boolean;
  /** Headroom gave it up and left it to people. */
  left: boolean;
}

/** GitHub refuses what is asked; no retry helps. */
class Refused extends Error {}

export class World {
  now = NOW;
  uid = 'uid-1';
  idPrefix = 'id';
  namespace: QuotaObservation['namespace'] = 'present';
  quotaIsThere = true;
  /** The cluster's limit, Git's limit and how often Git's file changed. */
  hard = '10';
  inGit = '10';
  commits = 0;
  used = '5';
  missing = '0';
  byMessage = false;
  lastDenied = NOW;
  annotations: Record<string, string> = {};
  autoMerge = true;
  pause: QuotaObservation['pause'] = null;
  lease: LeaseRecord = lease();
  sourceIsMissing = false;
  fileIsBusy = false;
  githubRefuses = false;
  /** GitHub answers every merge with "something moved", although it shows nothing of it. */
  mergesMove = false;
  syncs = true;
  frozen = false;
  /** What people were told, by what it was about. */
  readonly learntFrom: string[] = [];
  checks: 'passed' | 'pending' | 'failing' | 'none' = 'passed';
  /** How long checks run that pass, from the push, in milliseconds. */
  checksTake = 0;
  readonly pulls: PullRequest[] = [];
  #ids = 0;

  observe(memory: ResizeMemory): { observation: QuotaObservation; pullRequest: PullRequestObservation | null } {
    if (this.syncs) this.hard = this.inGit;
    const quota: QuotaObservation = {
      namespace: this.namespace,
      quota: this.quotaIsThere ? { ...cpu(this.used, this.hard), uid: this.uid } : null,
      usage: 'off',
      policy: policy(this.annotations, { autoMerge: this.autoMerge }),
      warnings: [],
      timings,
      pause: this.pause,
      demand:
        this.missing === '0'
          ? []
          : [
              demand(
                { 'requests.cpu': this.missing },
                { basis: this.byMessage ? 'message' : 'workload', lastSeen: this.lastDenied },
              ),
            ],
      contradictions: [],
      mergeHold: this.frozen ? { reason: 'Frozen', until: this.now + 3_600_000, detail: 'frozen for an hour' } : null,
      otherQuotas: [],
      candidates: [],
      lease: this.lease,
    };
    const decision = decisionOf(memory) ?? this.lease.decision;
    const pull = decision?.pullRequest && decision.merge === null ? this.pullOf(decision) : undefined;
    return { observation: quota, pullRequest: pull === undefined ? null : this.show(pull) };
  }

  pullOf(decision: Pick<Decision, 'id'>): PullRequest | undefined {
    return this.pulls.find((pull) => pull.decisionId === decision.id);
  }

  show(pull: PullRequest): PullRequestObservation {
    const behind = pull.basedOn !== this.commits;
    const isPending = this.checks === 'pending' || this.now < pull.pushedAt + this.checksTake;
    const waits = isPending || this.checks === 'failing';
    const fresh = this.now < pull.pushedAt + SECOND;
    return {
      number: pull.number,
      url: ref().url,
      state: pull.state,
      headSha: pull.headSha,
      headIsOurs: pull.ours,
      mergeability: fresh
        ? 'computing'
        : pull.conflicts
          ? 'conflict'
          : behind
            ? 'behind'
            : waits
              ? 'unstable'
              : 'clean',
      checks: {
        total: this.checks === 'none' ? 0 : 1,
        pending: isPending ? ['build'] : [],
        failing: this.checks === 'failing' ? ['build'] : [],
      },
      hasRequiredChecks: false,
      closedBy: pull.closedBy,
      merge: pull.merge,
    };
  }

  /** Does an act; null when it was cut off after that many steps, and then nobody learns of its outcome. */
  act(verdict: Act, cutAfter: number | null): ApplyOutcome | null {
    try {
      const steps = this.#steps(verdict);
      for (let done = 0; ; done += 1) {
        if (done === cutAfter) return null;
        const step = steps.next();
        if (step.done === true) return step.value;
      }
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const block = { reason: 'ForgeRejected', message: 'not allowed', key: verdict.blockedKey } as const;
      return (memory) => applyOutcome.blocked(memory, block, this.now);
    }
  }

  personCloses(pull: PullRequest): void {
    Object.assign(pull, { state: 'closed', closedBy: 'ann' });
  }

  merges(pull: PullRequest, by: string): void {
    this.inGit = pull.limit;
    this.commits += 1;
    const merge = { sha: `m${pull.number}`, at: this.now, by, limits: { 'requests.cpu': pull.limit } };
    Object.assign(pull, { state: 'closed', closedBy: by, merge });
  }

  *#steps(verdict: Act): Steps {
    const { now } = this;
    const key = verdict.blockedKey;
    switch (verdict.kind) {
      case 'recommend':
        this.lease = { ...this.lease, lastRecommendation: { limits: decidedLimits(verdict.proposal), at: now } };
        yield 'recommended';
        return (memory) => applyOutcome.recommended(memory, verdict.proposal, now);
      case 'propose': {
        const block = (reason: 'FileNotFound' | 'LeaseHeld'): ApplyOutcome => {
          return (memory) => applyOutcome.blocked(memory, { reason, message: 'in the way', key }, now);
        };
        if (this.sourceIsMissing) return block('FileNotFound');
        const { changes, evidence, demandByMessage, approvalRequirement } = verdict.proposal;
        this.#ids += 1;
        const id = `${this.idPrefix}-${this.#ids}`;
        const along = verdict.batchedQuotas.length === 0 ? {} : { batchedQuotas: verdict.batchedQuotas };
        const taken = {
          changes,
          evidence,
          demandByMessage,
          approvalRequirement,
          pullRequest: null,
          merge: null,
          ...along,
        };
        const decision: LockedDecision = { id, quotaUid: this.uid, decidedAt: now, ...taken };
        if (coveredBy(changes, { 'requests.cpu': this.inGit })) {
          const merge = { sha: 'base', at: now, by: FOUND_IN_GIT, limits: { 'requests.cpu': this.inGit } };
          return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
        }
        if (this.lease.holder !== null) return block('LeaseHeld');
        this.lease = { ...this.lease, holder: leaseHolder(id), decision };
        yield 'locked';
        return (memory) => applyOutcome.acquired(requireState(memory, 'Idle'), decision);
      }
      case 'open':
        return yield* this.#open(verdict.decision, key);
      case 'rebuild':
        return yield* this.#rebuild(verdict.decision, key);
      case 'merge': {
        const pull = this.pullOf(verdict.decision);
        if (this.githubRefuses) throw new Refused();
        const shown = pull === undefined ? null : this.show(pull);
        if (pull?.state !== 'open' || pull.headSha !== verdict.decision.pullRequest.headSha) return (memory) => memory;
        if (this.mergesMove || shown?.mergeability !== 'clean') return (memory) => memory;
        this.merges(pull, 'headroom-bot');
        yield 'merged';
        const merge = pull.merge;
        if (merge === null) throw new Error('merged, and no merge');
        this.#release({ ...verdict.decision, merge }, null);
        yield 'released';
        return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), verdict.decision, merge);
      }
      case 'dequeue':
        throw new Error('there is no merge queue in this world');
      case 'close': {
        if (this.githubRefuses) throw new Refused();
        const pull = this.pullOf(verdict.decision);
        if (pull?.state === 'open') Object.assign(pull, { state: 'closed', closedBy: 'headroom-bot' });
        yield 'closed';
        return yield* this.#givenUp(verdict);
      }
      case 'release': {
        const pull = this.pullOf(verdict.decision);
        if (pull !== undefined) pull.left = true;
        return yield* this.#givenUp(verdict);
      }
      case 'mergedByPerson':
        this.#release(verdict.decision, null);
        yield 'released';
        return (memory) => applyOutcome.merged(requireState(memory, 'Open'), verdict.decision, verdict.decision.merge);
      case 'closedByPerson':
        this.#release(verdict.decision, verdict.rejection);
        yield 'released';
        return (memory) => applyOutcome.closed(requireState(memory, 'Open'), verdict.rejection);
      case 'synced':
        this.#forget(verdict.decision, now);
        yield 'synced';
        return (memory) => applyOutcome.synced(requireState(memory, 'Merged'), now);
      case 'forget':
        this.#forget(verdict.decision, verdict.decision.merge.at);
        yield 'forgotten';
        return (memory) => applyOutcome.forgotten(requireState(memory, 'Merged'));
      case 'revise':
        this.#update(verdict.decision);
        yield 'noted';
        return (memory) => applyOutcome.revised(requireState(memory, 'Locked', 'Open'), verdict.decision);
      case 'notify':
        this.learntFrom.push(verdict.about);
        yield 'said';
        return (memory) => applyOutcome.emitted(memory, verdict.about);
      case 'warnSync':
        yield 'warned';
        return (memory) =>
          applyOutcome.syncChecked(requireState(memory, 'Merged'), { 'requests.cpu': this.inGit }, now);
    }
  }

  *#givenUp({ decision, rejection }: Extract<Act, { kind: 'close' | 'release' }>): Steps {
    const withdrawnAt = rejection === null ? this.now : null;
    this.#release(decision, rejection);
    if (withdrawnAt !== null) this.lease = { ...this.lease, lastWithdrawal: withdrawnAt };
    yield 'released';
    return (memory) => applyOutcome.closed(requireState(memory, 'Locked', 'Open'), rejection, withdrawnAt);
  }

  *#open(decision: UnmergedDecision, key: string): Steps {
    if (this.githubRefuses) throw new Refused();
    let pull = this.pullOf(decision);
    if (pull === undefined) {
      const limit = this.#limitOf(decision);
      if (coveredBy(decision.changes, { 'requests.cpu': this.inGit })) return this.#alreadyInGit(decision);
      if (this.sourceIsMissing) {
        return (memory) => applyOutcome.blocked(memory, { reason: 'FileNotFound', message: 'no file', key }, this.now);
      }
      if (this.fileIsBusy) {
        return (memory) => applyOutcome.blocked(memory, { reason: 'FileBusy', message: 'in the queue', key }, this.now);
      }
      const number = this.pulls.length + 1;
      pull = {
        number,
        decisionId: decision.id,
        pushedAt: this.now,
        headSha: `head-${number}-0`,
        limit,
        along: alongWith(decision),
        ours: true,
        state: 'open',
        closedBy: 'unknown',
        merge: null,
        basedOn: this.commits,
        conflicts: false,
        left: false,
      };
      this.pulls.push(pull);
      yield 'opened';
    }
    return yield* this.#noted(decision, pull);
  }

  *#rebuild(decision: UnmergedDecision, key: string): Steps {
    const { pullRequest } = decision;
    this.#update(pullRequest === null ? decision : { ...decision, pullRequest: { ...pullRequest, headSha: '' } });
    yield 'noted';
    const pull = this.pullOf(decision);
    if (pull === undefined) return yield* this.#open(decision, key);
    if (this.githubRefuses) throw new Refused();
    if (pull.state === 'open' && pull.ours) {
      if (coveredBy(decision.changes, { 'requests.cpu': this.inGit })) {
        Object.assign(pull, { state: 'closed', closedBy: 'headroom-bot' });
        yield 'closed';
        return this.#alreadyInGit(decision);
      }
      const limit = this.#limitOf(decision);
      const along = alongWith(decision);
      const isOther = pull.limit !== limit || pull.along !== along;
      if (pull.basedOn !== this.commits || pull.conflicts || isOther) {
        const [, count = '0'] = /-(\d+)$/.exec(pull.headSha) ?? [];
        const headSha = `head-${pull.number}-${Number(count) + 1}`;
        Object.assign(pull, { headSha, limit, along, basedOn: this.commits, conflicts: false, pushedAt: this.now });
        yield 'pushed';
      }
    }
    return yield* this.#noted(decision, pull);
  }

  *#noted(decision: UnmergedDecision, pull: PullRequest): Steps {
    const existing = decision.pullRequest;
    const pullRequest = ref({
      number: pull.number,
      headSha: pull.ours ? pull.headSha : (existing?.headSha ?? `head-${pull.number}-0`),
      openedAt: existing?.openedAt ?? pull.pushedAt,
      pushedAt: pull.pushedAt,
    });
    this.#update({ ...decision, pullRequest });
    pull.left = false;
    yield 'noted';
    return (memory) => applyOutcome.opened(requireState(memory, 'Locked', 'Open'), decision, pullRequest);
  }

  #alreadyInGit(decision: UnmergedDecision): ApplyOutcome {
    const merge = { sha: 'base', at: this.now, by: FOUND_IN_GIT, limits: { 'requests.cpu': this.inGit } };
    this.#release({ ...decision, merge }, null);
    return (memory) => applyOutcome.merged(requireState(memory, 'Idle', 'Locked', 'Open'), decision, merge);
  }

  #update(decision: Decision): void {
    const ours = leaseHolder(decision.id);
    if (this.lease.holder !== null && this.lease.holder !== ours) throw new Refused();
    this.lease = { ...this.lease, holder: ours, decision };
  }

  #release(decision: Decision, rejection: Rejection | null): void {
    if (this.lease.holder !== leaseHolder(decision.id)) return;
    this.lease = {
      ...this.lease,
      holder: null,
      lastModified: decision.merge?.at ?? this.lease.lastModified,
      rejections: rejection === null ? this.lease.rejections : [...this.lease.rejections, rejection],
      decision: decision.merge === null ? null : decision,
    };
  }

  /** The merged decision is in the Lease no more. */
  #forget(decision: Decision, at: number): void {
    const existing = this.lease.decision;
    this.lease = {
      ...this.lease,
      holder: this.lease.holder === leaseHolder(decision.id) ? null : this.lease.holder,
      lastModified: Math.max(this.lease.lastModified ?? 0, at),
      decision: existing?.id === decision.id ? null : existing,
    };
  }

  #limitOf(decision: Decision): string {
    return decidedLimits(decision)['requests.cpu'] ?? this.inGit;
  }
}

/** The other quotas that a decision raises, with their limits. */
function alongWith({ batchedQuotas = [] }: Decision): string {
  return JSON.stringify(batchedQuotas.map(({ quota, changes }) => [quota, decidedLimits({ changes })]));
}

/** More acts than this in a row, with nothing else happening, are a loop. */
const MAX_ACTS = 10;

/** The workflow's loop around the world: looks, acts and rests, and says what it did. */
export class Episode {
  readonly world: World;
  memory: ResizeMemory = emptyMemory();
  last: Verdict | null = null;
  #check: (world: World, memory: ResizeMemory, verdict: Verdict) => void;

  constructor(world: World, check: (world: World, memory: ResizeMemory, verdict: Verdict) => void) {
    this.world = world;
    this.#check = check;
  }

  /** Looks and acts until it waits or ends. `cutAfter` cuts the first act off after so many steps, and it goes no further. */
  run(cutAfter: number | null = null): Verdict {
    for (let acts = 0; acts <= MAX_ACTS; acts += 1) {
      const seen = this.world.observe(this.memory);
      // Through JSON, as it is carried from run to run.
      const carried = JSON.parse(JSON.stringify(this.memory)) as ResizeMemory;
      const [memory, verdict] = decide(seen, carried, this.world.now);
      this.memory = memory;
      this.last = verdict;
      this.#check(this.world, memory, verdict);
      if (verdict.kind === 'hold') return verdict;
      if (verdict.kind === 'end') {
        this.memory = emptyMemory();
        return verdict;
      }
      const outcome = this.world.act(verdict, cutAfter);
      if (outcome !== null) this.memory = outcome(this.memory);
      else if (cutAfter !== null) return verdict;
      this.#check(this.world, this.memory, verdict);
    }
    throw new Error(`more than ${MAX_ACTS} acts in a row, the last was ${this.last?.kind} ${this.last?.reason}`);
  }

  /** Waits until the last verdict wants to look again, or a minute where it does not say. */
  rest(): void {
    const until = this.last?.kind === 'hold' ? this.last.wait.until : undefined;
    this.world.now = until ?? this.world.now + 60 * SECOND;
  }
}

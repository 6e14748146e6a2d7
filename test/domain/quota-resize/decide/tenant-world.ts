/**
 * The world of the state machine as tenants have it: tenants write annotations and ask for workloads, people say yes or no,
 * and now and then another tool holds a Lease. What is merged is remembered as Leases do.
 */
import { HourlyBudget, HourlyBudgets } from '../../../../domain/kernel/hourly-budget.ts';
import { MINUTE_MS } from '../../../../domain/kernel/time.ts';
import { parseQuantity } from '../../../../domain/kernel/quantity.ts';
import {
  approvedPlaces,
  approvedValues,
  type Decision,
  decidedLimits,
  leaseHolder,
} from '../../../../domain/quota-resize/model/decision.ts';
import { command } from '../../../../domain/quota-resize/decide/commands.ts';
import { holdOfDecision } from '../../../../domain/quota-resize/decide/unattended-hold.ts';
import { eventTypes } from '../../../../domain/quota-resize/model/event-reasons.ts';
import type { OtherQuota } from '../../../../domain/quota-resize/model/observation.ts';
import { isUnmerged, type ResizeMemory } from '../../../../domain/quota-resize/model/memory.ts';
import { BUILT_IN_GUARDRAIL, type Guardrail } from '../../../../domain/quota-resize/policy/guardrail.ts';
import { mergeHold } from '../../../../domain/quota-resize/policy/merge-window.ts';
import { type RecordedRaise, SYNCS_WITHIN_MS } from '../../../../domain/quota-resize/policy/recorded-raise.ts';
import { type DecidedRaise, totalLimits } from '../../../../domain/quota-resize/policy/totals.ts';
import type { NeededLimits } from '../../../../domain/quota-resize/sizing/needed.ts';
import { growthLimits } from '../../../../domain/quota-resize/policy/unattended-limit.ts';
import { cpu, demand } from '../model/observations.ts';
import { resolve } from '../policy/policies.ts';
import { Episode, World } from './resize-world.ts';

const CPU = 'requests.cpu';
const OTHER_TOOL = 'another tool';
const EVENT_TTL = 60 * MINUTE_MS;

/**
 * What people do about a pull request: they close it at once, merge it, send `reject` or `approve`, approve in the Lease, or
 * never look at it.
 */
export type Answer = 'close' | 'merge' | 'reject' | 'approve' | 'verify' | 'none';

/** One quota, and what its tenant does. */
export interface Tenant {
  /** Written one after the other, a tick each, and from the beginning again. Names without their prefix. */
  readonly annotations: readonly Readonly<Record<string, string>>[];
  /** How much CPU is missing at the n-th tick, in millicores. */
  readonly missing: (tick: number) => number;
  /** Millicores that are used all the time. */
  readonly used?: number;
}

export interface Story extends Tenant {
  /** One after the other, a tick each. */
  readonly answer: Answer | readonly Answer[];
  /** Milliseconds from one tick to the next. */
  readonly tick: number;
  readonly ticks: number;
  /** Further quotas under the same guardrail. */
  readonly others?: readonly Tenant[];
  readonly guardrail?: Partial<Guardrail>;
  /** Whether another tool takes the Lease at the n-th tick, if it is free, or keeps it. */
  readonly isTaken?: (tick: number) => boolean;
}

/** What came of a story for one quota, by when. */
export interface Came {
  readonly opened: readonly { readonly at: number; readonly limit: number }[];
  /** When a decision ended that people had said no to, or nobody had answered, with its limit. */
  readonly rejected: readonly { readonly at: number; readonly limit: number; readonly by: string }[];
  /** When people approved. */
  readonly approved: readonly number[];
  /** The limits in Git, from the beginning on. */
  readonly limits: readonly Limit[];
  readonly events: readonly number[];
  /** Of them, the Warnings, by their reason. */
  readonly warnings: ReadonlyMap<string, readonly number[]>;
  readonly comments: readonly number[];
  /** When a decision was stored in the Lease. */
  readonly stored: readonly number[];
}

interface Limit {
  readonly at: number;
  readonly limit: number;
  /** Absent where a person merged or approved it. */
  readonly isUnattended?: true;
  /** The sum of all limits that were known then, in millicores. */
  readonly sum: number;
}

function millicores(text: string): number {
  return Number(parseQuantity(text).nano / 1_000_000n);
}

type Act = Parameters<World['act']>[0];

/** The reason and the key of the Event that an act writes, without one where each is another; null where it writes none. */
function eventOf(act: Act): readonly [string, string | null] | null {
  switch (act.kind) {
    case 'propose':
      return act.announce ? ['QuotaResizeRecommended', null] : null;
    case 'close':
    case 'release':
      return act.rejection === null ? null : ['QuotaResizeRejected', act.decision.id];
    case 'notify':
      return [act.event.reason, act.about];
    case 'recommend':
      return ['QuotaResizeRecommended', null];
    case 'merge':
    case 'mergedByPerson':
      return ['QuotaResizeMerged', act.decision.id];
    case 'closedByPerson':
      return ['QuotaResizeRejected', act.decision.id];
    case 'warnSync':
      return ['SyncOverdue', act.decision.id];
    case 'open':
    case 'rebuild':
    case 'revise':
    case 'dequeue':
    case 'synced':
    case 'forget':
      return null;
  }
}

function writesComment(act: Act): boolean {
  return act.kind === 'close' || act.kind === 'rebuild' || (act.kind === 'notify' && act.comment !== null);
}

/** How a limit was merged. */
type How = 'byPerson' | 'approved' | 'unattended';

/** What the quotas of a story share. */
interface Together {
  readonly guardrail: Guardrail;
  readonly worlds: TenantWorld[];
}

class TenantWorld extends World {
  readonly name: string;
  readonly #together: Together;
  readonly #raises: RecordedRaise[] = [];
  #needed: NeededLimits = {};
  #isApproved = false;
  /** The limit before one that a person has merged, and neither the cluster nor a Lease shows yet. */
  #unseen: string | null = null;
  /** Of the present run. */
  #warned = new Set<string>();
  #warnings = new HourlyBudget(10);
  /** Of the worker. */
  readonly #warningsOf = new HourlyBudgets(10);
  /** When the Events were written that are there: an hour later the API server has deleted them. */
  readonly #there = new Map<string, number>();
  readonly events: number[] = [];
  readonly warnings = new Map<string, number[]>();
  readonly comments: number[] = [];
  readonly stored: number[] = [];
  readonly limits: Limit[];
  readonly opened: Came['opened'][number][] = [];
  readonly rejected: Came['rejected'][number][] = [];
  readonly approved: number[] = [];

  constructor(together: Together) {
    super();
    this.#together = together;
    this.name = `quota-${together.worlds.length}`;
    this.uid = `uid-${this.name}`;
    this.idPrefix = this.name;
    together.worlds.push(this);
    this.limits = [{ at: this.now, limit: millicores(this.inGit), sum: millicores(this.inGit) }];
  }

  /** The limit that a merge of another quota can know. */
  get known(): string {
    return this.#unseen ?? this.inGit;
  }

  override observe(memory: ResizeMemory): ReturnType<World['observe']> {
    const seen = super.observe(memory);
    this.#unseen = null;
    const { policy, warnings } = this.#policy(this.lease.decision);
    for (const { layer, key, value } of warnings) this.#warn(`${layer}/${key}=${value}`);
    const others = this.#together.worlds.filter((world) => world !== this);
    const { demand } = seen.observation;
    const otherQuotas = demand.length === 0 ? [] : others.flatMap((world) => world.otherQuota(this.lease.decision));
    const batched = others.map(({ name: quota, uid, hard }) => ({ quota, uid, hard: { [CPU]: hard } }));
    const facts = { ...seen.observation, policy, otherQuotas, batched };
    const target = { namespace: 'team-a', quota: this.name };
    const rest = holdOfDecision(facts, target, this.#needed, this.now);
    return { ...seen, observation: { ...facts, mergeHold: mergeHold(policy, this.now) ?? rest } };
  }

  /** The policy with what the guardrail leaves, for a decision that raises the quota. */
  #policy(decision: Decision | null): ReturnType<typeof resolve> {
    const defaults = { mode: 'propose', guardrails: [this.#together.guardrail] } as const;
    const { policy, warnings } = resolve(this.annotations, {}, defaults);
    const growth = growthLimits(policy, { [CPU]: this.hard }, this.#raises, this.now);
    return { policy: { ...policy, unattended: [...growth, ...this.#totals(decision)] }, warnings };
  }

  /** As another quota sees it that misses room for the same workloads; none where it has room for them. */
  otherQuota(owner: Decision | null): readonly OtherQuota[] {
    if (this.missing === '0') return [];
    if (this.syncs) this.hard = this.inGit;
    const isBatched = owner?.batchedQuotas?.some(({ quota }) => quota === this.name) === true;
    const { policy } = this.#policy(this.lease.decision ?? (isBatched ? owner : null));
    const quota = { ...cpu(this.used, this.hard), uid: this.uid };
    const missed = [demand({ [CPU]: this.missing }, { lastSeen: this.lastDenied })];
    return [{ name: this.name, quota, policy, demand: missed, contradictions: [], candidates: [], lease: this.lease }];
  }

  #totals(decision: Decision | null): ReturnType<typeof totalLimits> {
    const { guardrail, worlds } = this.#together;
    const own = { namespace: 'team-a', quota: this.name, hard: { [CPU]: this.hard }, decision };
    const all = worlds.map(({ name, hard }) => ({ namespace: 'team-a', quota: name, hard: { [CPU]: hard } }));
    return totalLimits(
      guardrail,
      own,
      all,
      worlds.flatMap((world) => world.decided()),
    );
  }

  decided(): readonly DecidedRaise[] {
    const { decision } = this.lease;
    const namespace = 'team-a';
    const merged = this.#raises.filter(({ at }) => at > this.now - SYNCS_WITHIN_MS);
    const decided = decision === null ? [] : Object.entries(this.#limitsOf(decision));
    return [
      ...merged.map(({ decision: id, at: decidedAt, to: limits }) => {
        return { namespace, quota: this.name, decision: id, decidedAt, isMerged: true, limits };
      }),
      ...decided.map(([quota, limits]) => {
        const { id = '', decidedAt = 0, merge = null } = decision ?? {};
        return { namespace, quota, decision: id, decidedAt, isMerged: merge !== null, limits };
      }),
    ];
  }

  override act(...given: Parameters<World['act']>): ReturnType<World['act']> {
    const [verdict] = given;
    if (['propose', 'open', 'rebuild', 'revise'].includes(verdict.kind)) this.stored.push(this.now);
    const event = eventOf(verdict);
    if (event !== null) this.#event(...event);
    if (writesComment(verdict) && this.pulls.some(({ state }) => state === 'open')) this.comments.push(this.now);
    if ('rejection' in verdict && verdict.rejection !== null) {
      const { at, by, limits } = verdict.rejection;
      this.rejected.push({ at, by, limit: millicores(limits[CPU] ?? '0') });
    }
    // What is stored was needed just now.
    if (verdict.kind === 'propose') this.#needed = this.#limitsOf({ ...verdict.proposal, ...verdict });
    if (verdict.kind === 'rebuild' || verdict.kind === 'revise') this.#needed = this.#limitsOf(verdict.decision);
    this.#isApproved = verdict.kind === 'merge' && verdict.decision.approvalRequirement !== null;
    const before = this.pulls.length;
    const outcome = super.act(...given);
    for (const { limit } of this.pulls.slice(before)) this.opened.push({ at: this.now, limit: millicores(limit) });
    this.#carry();
    if (outcome === null) return null;
    return (memory) => {
      const next = outcome(memory);
      // A block is an Event at every try.
      if (next.attempt.kind === 'blocked') this.#event(next.attempt.reason, next.attempt.key);
      return next;
    };
  }

  override merges(pull: Parameters<World['merges']>[0], by: string): void {
    const isByPerson = by === 'ann';
    const how = isByPerson ? 'byPerson' : this.#isApproved ? 'approved' : 'unattended';
    const { decision } = this.lease;
    const before = this.inGit;
    super.merges(pull, by);
    this.#raised(pull.decisionId, before, how);
    for (const { quota, changes } of decision?.id === pull.decisionId ? (decision.batchedQuotas ?? []) : []) {
      const other = this.#together.worlds.find(({ name }) => name === quota);
      other?.mergedAlong(pull.decisionId, decidedLimits({ changes })[CPU] ?? other.inGit, how);
    }
  }

  mergedAlong(decision: string, limit: string, how: How): void {
    const before = this.inGit;
    this.inGit = limit;
    this.commits += 1;
    this.lease = { ...this.lease, lastModified: this.now };
    this.#raised(decision, before, how);
  }

  #raised(decision: string, before: string, how: How): void {
    const raise = { decision, at: this.now, from: { [CPU]: before }, to: { [CPU]: this.inGit } };
    if (how !== 'byPerson') this.#raises.push(how === 'unattended' ? raise : { ...raise, isApproved: true });
    this.#unseen = how === 'byPerson' ? before : null;
    const sum = this.#together.worlds.reduce((all, { known }) => all + millicores(known), 0);
    const limit = { at: this.now, limit: millicores(this.inGit), sum };
    this.limits.push(how === 'unattended' ? { ...limit, isUnattended: true } : limit);
  }

  #limitsOf({ changes, batchedQuotas = [] }: Pick<Decision, 'changes' | 'batchedQuotas'>): NeededLimits {
    const others = batchedQuotas.map(({ quota, changes: theirs }) => [quota, decidedLimits({ changes: theirs })]);
    return Object.fromEntries([[this.name, decidedLimits({ changes })], ...others]) as NeededLimits;
  }

  /** The Leases of batched quotas are locked with the decision, and unlocked with it. */
  #carry(): void {
    const { decision, holder } = this.lease;
    const isHeld = decision !== null && decision.merge === null && holder === leaseHolder(decision.id);
    const along = isHeld ? (decision.batchedQuotas ?? []).map(({ quota }) => quota) : [];
    for (const other of this.#together.worlds) {
      const isCarried = other.lease.carriedBy === this.name;
      if (isCarried && !along.includes(other.name)) other.lease = { ...other.lease, holder: null, carriedBy: null };
      if (!isCarried && along.includes(other.name) && other.lease.holder === null)
        other.lease = { ...other.lease, holder, carriedBy: this.name };
    }
  }

  answer(answer: Answer, episode: Episode): void {
    const pull = this.pulls.findLast(({ state }) => state === 'open');
    if (answer === 'close' && pull !== undefined) this.personCloses(pull);
    if (answer === 'merge' && pull !== undefined) this.merges(pull, 'ann');
    const { state } = episode.memory;
    if (answer === 'verify' && isUnmerged(state)) {
      const { decision } = state;
      const headSha = decision.pullRequest?.headSha ?? '';
      const approved = { limits: approvedValues(decision), headSha, places: approvedPlaces(decision) };
      const approval = { by: 'ann', at: this.now, reason: '', decision: decision.id, ...approved };
      this.lease = { ...this.lease, approval };
    }
    if (answer === 'approve' || answer === 'verify') this.approved.push(this.now);
    if (answer !== 'reject' && answer !== 'approve') return;
    const outcome = command(episode.memory, answer, { by: 'ann', reason: '' }, this.now);
    if (outcome.kind === 'done') episode.memory = outcome.memory;
  }

  /** Another tool takes the Lease, or gives it back. */
  takeLease(isTaken: boolean): void {
    const { holder } = this.lease;
    if (isTaken && holder === null) this.lease = { ...this.lease, holder: OTHER_TOOL };
    if (!isTaken && holder === OTHER_TOOL) this.lease = { ...this.lease, holder: null };
  }

  /** What a run knew of its warnings ends with it. */
  runEnded(): void {
    this.#warned = new Set();
    this.#warnings = new HourlyBudget(10);
  }

  #warn(key: string): void {
    if (this.#warned.has(key) || this.#warnings.isSpent(this.now)) return;
    this.#warned.add(key);
    this.#warnings.spend(this.now);
    this.#event('PolicyInvalid', key);
  }

  #event(reason: string, key: string | null): void {
    const name = `${reason} ${key ?? this.now}`;
    if (this.now < (this.#there.get(name) ?? 0) + EVENT_TTL) return;
    // Reasons of blocks are Warnings; a recommendation has a rhythm of its own.
    const type = Object.entries(eventTypes).find(([one]) => one === reason)?.[1] ?? 'Warning';
    if (type === 'Warning' && reason !== 'QuotaResizeRecommended') {
      if (this.#warningsOf.isSpent(reason, this.now)) return;
      this.#warningsOf.spend(reason, this.now);
      const written = this.warnings.get(reason) ?? [];
      this.warnings.set(reason, [...written, this.now]);
    }
    this.#there.set(name, this.now);
    this.events.push(this.now);
  }
}

/** Plays a story of several quotas. */
export function playAll({
  answer,
  tick,
  ticks,
  others = [],
  guardrail = {},
  isTaken,
  ...first
}: Story): readonly Came[] {
  const together: Together = { guardrail: { ...BUILT_IN_GUARDRAIL, ...guardrail }, worlds: [] };
  const answers = typeof answer === 'string' ? [answer] : answer;
  const quotas = [first, ...others].map((tenant) => {
    const world = new TenantWorld(together);
    return { tenant, world, episode: new Episode(world, () => {}) };
  });
  for (let count = 0; count < ticks; count += 1) {
    for (const { tenant, world, episode } of quotas) {
      const { annotations, missing, used = 9_000 } = tenant;
      world.annotations = { ...annotations[count % annotations.length] };
      world.sourceIsMissing = world.annotations['git-path']?.startsWith('missing') === true;
      world.fileIsBusy = world.annotations['git-path']?.startsWith('busy') === true;
      const lacking = missing(count);
      world.missing = lacking === 0 ? '0' : `${lacking}m`;
      world.used = `${used}m`;
      world.lastDenied = world.now;
      world.takeLease(isTaken?.(count) === true);
      if (episode.run().kind === 'end') world.runEnded();
      world.answer(answers[count % answers.length] ?? 'none', episode);
      world.now += tick;
    }
  }
  return quotas.map(({ world: { opened, rejected, approved, limits, events, warnings, comments, stored } }) => {
    return { opened, rejected, approved, limits, events, warnings, comments, stored };
  });
}

/** Plays a story of one quota. */
export function play(story: Story): Came {
  const [came] = playAll(story);
  if (came === undefined) throw new Error('a story has a quota');
  return came;
}

/** Plans for the whole cluster: when they are made, whom they wake, and what each group's workflow is told of them. */
import { isDeepStrictEqual } from 'node:util';
import { failure } from '../../activities/kernel/failure.ts';
import { notYet } from '../../activities/kernel/not-yet.ts';
import type { NodeGroupCacheActivities, ObserveInput } from '../../activities/node-group/interface.ts';
import { NAMESPACE } from '../../domain/node-group/api/names.ts';
import { type ReadNodeGroup, readNodeGroup } from '../../domain/node-group/api/read-node-group.ts';
import { ownersAmong } from '../../domain/node-group/machine/machine-node.ts';
import { type GroupView, observationOf } from '../../domain/node-group/decide/observe.ts';
import { wakeReason } from '../../domain/node-group/decide/wake.ts';
import type { NodeGroupObservation } from '../../domain/node-group/decide/observation.ts';
import type { Machine, Mode, NodeGroup } from '../../domain/node-group/model/node-group.ts';
import type { Node } from '../../domain/node-group/model/node.ts';
import type { Pod } from '../../domain/node-group/model/pod.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { formatFence, isOnlyClaimed, type PlanClaims } from '../../domain/node-group/plan-claim.ts';
import {
  areEqualWishes,
  type GroupWishes,
  NO_WISHES,
  type Wishes,
  wishesOf,
} from '../../domain/node-group/plan-wishes.ts';
import { firstFilledFirst } from '../../domain/node-group/plan/fill-later.ts';
import { LeftOver } from '../../domain/node-group/plan/left-over.ts';
import { laterOver } from '../../domain/node-group/rules/fill-later.ts';
import { nextMoment } from '../../domain/node-group/plan/next-moment.ts';
import type { Blocked } from '../../domain/node-group/plan/offers.ts';
import type { MeasuredGroup } from './metrics.ts';
import type { GroupCounts } from '../../domain/node-group/status/group-status.ts';
import { groupCounts } from '../../domain/node-group/status/group-counts.ts';
import { statusPatch, wantedStatusOf } from '../../domain/node-group/status/status-patch.ts';
import { fieldsOf } from '../../domain/node-group/scheduling/read-pod.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';
import type { Log } from '../../platform/log/log.ts';
import type { PlanPart } from './plan-messages.ts';
import { Planner, type PlanContext, type Planned } from './planner.ts';
import type { NodeGroupCaches } from './caches.ts';
import { WakeBook } from './wake-book.ts';

export interface PlansOptions {
  readonly cluster: string;
  /** What holds for groups that say nothing of their own. */
  readonly mode: Mode;
  readonly caches: Pick<NodeGroupCaches, 'all' | 'node' | 'machines' | 'trouble'> & {
    readonly groups: Pick<NodeGroupCaches['groups'], 'list' | 'get'>;
  };
  /** What is read from the API server for each plan. */
  readonly fresh: () => Promise<FreshFacts>;
  readonly onPlan: (plan: Planned) => void;
  /** Wakes the workflow of a group, or starts it. */
  readonly wake: (group: string, cause: string, resourceVersion: string) => void;
  /** The API server's time. */
  readonly now: () => EpochMs;
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly signal: AbortSignal;
}

export interface FreshFacts {
  /** The resourceVersion of the Lease of plans. */
  readonly lease: string;
  /** Those that count. */
  readonly claims: PlanClaims;
  readonly wishes: readonly GroupWishes[];
  /** Who else acts on NodeGroups; null for nobody. */
  readonly heldBy: string | null;
  /** Groups that are paused, by name. */
  readonly blocked: Readonly<Record<string, Blocked>>;
}

// Karpenter's: pods of one rollout are planned for together.
const IDLE_MS = 1_000;
const LONGEST_MS = 10_000;
/** A plan without a change before it: for windows of budgets that begin, claims that end and all else that time decides. */
const AGAIN_MS = 60_000;
/** After a plan that failed. */
const FAILED_MS = 10_000;
/** How old instance types may be where something depends on them, and where nothing does, in milliseconds. */
const TYPES_OLD_MS = 3_600_000;
const TYPES_OLDEST_MS = 86_400_000;
/** Whoever is woken for what time has ended goes by a clock of its own, in milliseconds. */
const CLOCKS_MS = 10_000;
/** A cache that is not complete is asked again so soon, in milliseconds. */
const INCOMPLETE_MS = 1_000;

interface Made {
  readonly plan: Planned;
  readonly facts: FreshFacts;
  /** When time changes it; null where none does. */
  readonly until: EpochMs | null;
}

/** The plan that a group was woken for, and what of it was the reason. */
interface Due {
  readonly made: Made;
  readonly key: string;
}

export class Plans implements NodeGroupCacheActivities {
  readonly #options: PlansOptions;
  readonly #planner: Planner;
  readonly #now: () => EpochMs;
  readonly #wakes = new WakeBook();
  /**
   * Groups that were woken to make nodes, and have not observed since. What the first of them does changes the cluster, and must not be
   * the reason for another plan: of two plans only one is acted on, and the pods of a group that has to look again wait.
   */
  readonly #due = new Map<string, Due>();
  readonly #leftOver = new LeftOver();
  /** Whether there is nothing to wait for any more before the next plan. */
  #isBurstOver = false;
  #facts: FreshFacts = { lease: '', claims: { plan: '', claims: [] }, wishes: [], heldBy: null, blocked: {} };
  /** The plan that comes by itself; null while it is being made. */
  #timer: { readonly handle: NodeJS.Timeout; readonly at: EpochMs } | null = null;
  /** The first change for which no group was woken yet; one that looks by itself wakes no other. */
  #changedSince: EpochMs | null = null;
  /** Whether something changed that the last plan does not know. */
  #isDirty = true;
  #last: Made | null = null;
  #trouble: string | null = null;

  constructor(options: PlansOptions) {
    this.#options = options;
    this.#now = options.now;
    this.#planner = new Planner({
      context: async () => await this.#context(),
      all: () => options.caches.all(),
      now: this.#now,
    });
  }

  /** An object changed. */
  change(part: PlanPart, key: string, read: unknown): void {
    this.#planner.change(part, key, read);
    if (part === 'pods') this.#leftOver.pod(key, read as Pod | null);
    else if (part === 'nodes') this.#leftOver.node(key, read as Node | null);
    else if (part === 'machines') this.#leftOver.machine(key, read as Machine | null);
    // Groups of the plan that have not acted yet make machines of which nothing is seen.
    if (this.#due.size === 0 && this.#leftOver.take()) this.#isBurstOver = true;
    this.soon();
  }

  sample(sample: Parameters<Planner['sample']>[0]): void {
    this.#planner.sample(sample);
    this.soon();
  }

  /** Plans when nothing has changed for a moment, but not much later than the first change; at once when pods are left over. */
  soon(): void {
    this.#isDirty = true;
    const now = this.#now();
    this.#changedSince ??= now;
    const due = this.#isBurstOver ? now : Math.min(now + IDLE_MS, this.#changedSince + LONGEST_MS);
    this.#schedule(due - now);
  }

  /** Wakes every group again that has something to do, in case a request was lost. */
  resync(): void {
    this.#wakes.resync();
    this.soon();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    await this.#planner.stop();
  }

  /** What metrics say of the groups that there are. */
  measured(): readonly MeasuredGroup[] {
    const at = this.#now();
    return this.#read().flatMap((read) => {
      if (read.group === null) return [];
      const { name, minNodes, maxNodes } = read.group;
      const counts = this.#countsOf(this.#machinesOf(name));
      const { current, ready } = counts;
      const { desiredNodes = current } = wantedStatusOf(read, counts, at);
      const { failed } = wishesOf(writtenWishes(this.#facts.wishes, read), at);
      const resting = failed.filter(({ isStopped }) => isStopped !== true).length;
      return [{ name, minNodes, maxNodes, desired: desiredNodes, current, ready, resting }];
    });
  }

  /** The last plan; null before the first. */
  get last(): Planned | null {
    return this.#last?.plan ?? null;
  }

  /** Pending pods that get no new node, by the last plan. */
  get unhelped(): number {
    return this.#last?.plan.unhelped.total ?? 0;
  }

  /** See `NodeGroupCacheActivities`. */
  async observeNodeGroup({ target, wishes }: ObserveInput): Promise<NodeGroupObservation> {
    if (target.cluster !== this.#options.cluster) {
      const message = `these are the caches of the cluster ${this.#options.cluster}, not of ${target.cluster}`;
      throw failure({ type: 'InvalidInput', message, nonRetryable: true });
    }
    const trouble = this.#options.caches.trouble();
    if (trouble !== null) throw notYet(trouble, INCOMPLETE_MS);
    const made = await this.#planFor(target.group);
    const view = this.#viewOf(target.group, made);
    const written = writtenWishes(made.facts.wishes, view.read);
    const seen = observationOf(view);
    this.#wakes.told(target.group, wakeReason(view, seen));
    return areEqualWishes(written, wishes, view.at) ? seen : { ...seen, otherWishes: wishesOf(written, view.at) };
  }

  /**
   * The plan that the group was woken for, to make nodes; or the last plan where nothing has happened since, not even by time, and all
   * that was read for it is as it was; otherwise a new one.
   */
  async #planFor(group: string): Promise<Made> {
    const due = this.#due.get(group);
    this.#due.delete(group);
    const last = this.#isDirty ? null : this.#last;
    if (due === undefined && last === null) return await this.#make();
    const facts = await this.#options.fresh();
    if (due !== undefined && this.#isStillDue(group, due, facts)) return due.made;
    return last !== null && last.facts.lease === facts.lease && isStillTrue(last, facts, this.#now())
      ? last
      : await this.#make();
  }

  /**
   * Whether the group is as it was, and so is the Lease but for what others have claimed of the same plan. A plan that should have followed long
   * ago, and has not, would know of changes.
   */
  #isStillDue(group: string, { made, key }: Due, now: FreshFacts): boolean {
    const { plan, facts } = made;
    if (this.#changedSince !== null && this.#now() - this.#changedSince > LONGEST_MS) return false;
    const isOpen = facts.lease === now.lease || isOnlyClaimed(plan.fence, facts.claims.claims, now.claims);
    if (!isOpen || !isStillTrue(made, now, this.#now())) return false;
    const view = this.#viewOf(group, made);
    return wakeReason(view, observationOf(view)).key === key;
  }

  async #make(): Promise<Made> {
    this.#isDirty = false;
    try {
      const plan = await this.#planner.plan();
      const groups = this.#read().flatMap(({ group }) => group ?? []);
      const made = { plan, facts: this.#facts, until: nextMoment(plan, groups) };
      this.#last = made;
      this.#options.onPlan(plan);
      this.#scheduleNext(made);
      return made;
    } catch (error) {
      this.#isDirty = true;
      throw error;
    }
  }

  async #context(): Promise<PlanContext> {
    const facts = await this.#options.fresh();
    this.#facts = facts;
    const { lease, claims, wishes, blocked } = facts;
    return {
      lease,
      claims: claims.claims,
      wishes,
      blocked,
      groups: this.#read().flatMap(({ group }) => group ?? []),
    };
  }

  #schedule(ms: number): void {
    if (this.#options.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    const handle = setTimeout(() => void this.#planAndWake(), Math.max(0, ms));
    this.#timer = { handle, at: this.#now() + ms };
  }

  async #planAndWake(): Promise<void> {
    const { caches, log, signal } = this.#options;
    this.#timer = null;
    const incomplete = caches.trouble();
    if (incomplete !== null) {
      this.#due.clear();
      return this.#schedule(INCOMPLETE_MS);
    }
    this.#changedSince = null;
    this.#isBurstOver = false;
    try {
      const made = await this.#make();
      if (this.#trouble !== null) log.info('there are plans for the node groups again');
      this.#trouble = null;
      for (const read of firstFilledFirst(this.#read(), made.plan.newNodes)) this.#wakeFor(read, made);
    } catch (error) {
      this.#due.clear();
      const { reason } = failureOf(error);
      if (reason !== this.#trouble && !signal.aborted) log.warn({ reason }, 'there is no plan for the node groups');
      this.#trouble = reason;
      this.#schedule(FAILED_MS);
    }
  }

  /** Time alone changes a plan too, whoever it was made for: when a node has been unneeded for long enough, or a window begins. */
  #scheduleNext({ until }: Made): void {
    const now = this.#now();
    const due = Math.min(Math.max(until ?? Number.POSITIVE_INFINITY, now + IDLE_MS), now + AGAIN_MS);
    if (this.#timer === null || due < this.#timer.at) this.#schedule(due - now);
  }

  /** Wakes a group whose part of the plan is another one than it was woken for, and asks for something. */
  #wakeFor(read: ReadNodeGroup, made: Made): void {
    const { name, resourceVersion } = read;
    const view = this.#viewOf(name, made);
    const seen = observationOf(view);
    const reason = wakeReason(view, seen);
    const cause = this.#wakes.planned(name, reason);
    // Whether a node may go is asked of the cluster as it is.
    const isToGrow = seen.newNodes.length > 0 && seen.removals.length === 0;
    if (isToGrow && (cause !== null || this.#due.has(name))) this.#due.set(name, { made, key: reason.key });
    else this.#due.delete(name);
    if (cause !== null) this.#options.wake(name, cause, resourceVersion);
  }

  #viewOf(group: string, { plan, facts: { heldBy } }: Made): GroupView {
    const { caches, mode } = this.#options;
    const object = caches.groups.get(group, NAMESPACE);
    const read = object === undefined ? null : readNodeGroup(object, { mode });
    const own = this.#machinesOf(group);
    const ownersOf = ownersAmong(caches.machines());
    const at = this.#now();
    const leaving = plan.marked
      .filter((node) => node.group === group)
      .map(({ node, uid, drain }) => ({ node, uid, drain }));
    return {
      at,
      read,
      heldBy,
      fence: formatFence(plan.fence),
      machines: own,
      hasNode: ({ name, node: known }) => {
        const node = known === null ? null : caches.node(known);
        return node !== null && ownersOf(node).some((owner) => owner.name === name);
      },
      isLaterOver: ({ node: known }) => {
        const node = known === null ? null : caches.node(known);
        const of = { taints: read?.group?.taints ?? [], isDeleting: read?.isDeleting === true };
        return node !== null && laterOver(node, of, at - CLOCKS_MS).length > 0;
      },
      plan,
      claimed: plan.claimed.get(group) ?? 0,
      leaving,
      isStatusDue:
        read !== null && statusPatch(statusOf(object), wantedStatusOf(read, this.#countsOf(own), at), at) !== null,
      areTypesDue: read !== null && read.group !== null && areTypesDue(read.group, plan, at),
    };
  }

  #machinesOf(group: string): readonly Machine[] {
    return this.#options.caches.machines().filter((machine) => machine.group === group);
  }

  #countsOf(machines: readonly Machine[]): GroupCounts {
    const { caches } = this.#options;
    return groupCounts(machines.map((machine) => [machine, machine.node === null ? null : caches.node(machine.node)]));
  }

  #read(): readonly ReadNodeGroup[] {
    const { caches, mode } = this.#options;
    return caches.groups.list().map((object) => readNodeGroup(object, { mode }));
  }
}

/** Whether time has not ended the plan, and all that was read for it is as it was, but for the Lease. */
function isStillTrue({ facts, until }: Made, now: FreshFacts, at: EpochMs): boolean {
  if (until !== null && until <= at) return false;
  const others = ({ wishes, heldBy, blocked }: FreshFacts): object => ({ wishes, heldBy, blocked });
  return isDeepStrictEqual(others(facts), others(now));
}

function statusOf(object: unknown): Readonly<Record<string, unknown>> {
  return fieldsOf(fieldsOf(object)['status']);
}

/** What is written down of a group. */
function writtenWishes(wishes: FreshFacts['wishes'], read: ReadNodeGroup | null): Wishes {
  return wishes.find(({ group, uid }) => group === read?.name && uid === read.uid) ?? NO_WISHES;
}

/** Instance types and prices change rarely; a group without any can do nothing. */
function areTypesDue({ instanceTypesAt, offeringIds, instanceTypes }: NodeGroup, plan: Planned, now: number): boolean {
  if (instanceTypesAt === null) return true;
  const isNeeded = plan.unhelped.total > 0 || plan.newNodes.length > 0;
  const isOther = !instanceTypes.every(({ id }) => offeringIds.includes(id));
  return isOther || now - instanceTypesAt >= (isNeeded ? TYPES_OLD_MS : TYPES_OLDEST_MS);
}

/** Plans for the whole cluster: when they are made, whom they wake, and what each group's workflow is told of them. */
import { isDeepStrictEqual } from 'node:util';
import { failure } from '../../activities/kernel/failure.ts';
import { notYet } from '../../activities/kernel/not-yet.ts';
import type { NodeGroupCacheActivities, ObserveInput } from '../../activities/node-group/interface.ts';
import { NAMESPACE } from '../../domain/node-group/api/names.ts';
import { type ReadNodeGroup, readNodeGroup } from '../../domain/node-group/api/read-node-group.ts';
import { type GroupView, observationOf } from '../../domain/node-group/decide/observe.ts';
import { wakeReason } from '../../domain/node-group/decide/wake.ts';
import type { NodeGroupObservation } from '../../domain/node-group/decide/observation.ts';
import type { Machine, Mode, NodeGroup } from '../../domain/node-group/model/node-group.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { formatFence, type PlanClaim } from '../../domain/node-group/plan-claim.ts';
import {
  areEqualWishes,
  type GroupWishes,
  NO_WISHES,
  type Wishes,
  wishesOf,
} from '../../domain/node-group/plan-wishes.ts';
import { nextMoment } from '../../domain/node-group/plan/next-moment.ts';
import type { Blocked } from '../../domain/node-group/plan/offers.ts';
import type { MeasuredGroup } from './metrics.ts';
import type { GroupCounts } from '../../domain/node-group/status/group-status.ts';
import { groupCounts } from '../../domain/node-group/status/group-counts.ts';
import { statusPatch, wantedStatusOf } from '../../domain/node-group/status/status-patch.ts';
import { fieldsOf } from '../../domain/node-group/scheduling/read-pod.ts';
import { failureOf } from '../kernel/api-get.ts';
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
  readonly log: Pick<Log, 'info' | 'warn'>;
  readonly signal: AbortSignal;
}

export interface FreshFacts {
  /** The Lease of plans. */
  readonly lease: string;
  readonly claims: readonly PlanClaim[];
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
/** A cache that is not complete is asked again so soon, in milliseconds. */
const INCOMPLETE_MS = 1_000;

/** What was read for a plan; it is another plan where one of these is. Claims are in the Lease. */
type PlanFacts = Omit<FreshFacts, 'claims'>;

interface Made {
  readonly plan: Planned;
  readonly facts: PlanFacts;
  /** When time changes it; null where none does. */
  readonly until: EpochMs | null;
}

export class Plans implements NodeGroupCacheActivities {
  readonly #options: PlansOptions;
  readonly #planner: Planner;
  readonly #wakes = new WakeBook();
  #facts: PlanFacts = { lease: '', wishes: [], heldBy: null, blocked: {} };
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
    this.#planner = new Planner({ context: async () => await this.#context(), all: () => options.caches.all() });
  }

  /** An object changed. */
  change(part: PlanPart, key: string, read: unknown): void {
    this.#planner.change(part, key, read);
    this.soon();
  }

  sample(sample: Parameters<Planner['sample']>[0]): void {
    this.#planner.sample(sample);
    this.soon();
  }

  /** Plans when nothing has changed for a moment, but not much later than the first change. */
  soon(): void {
    this.#isDirty = true;
    const now = Date.now();
    this.#changedSince ??= now;
    const due = Math.min(now + IDLE_MS, this.#changedSince + LONGEST_MS);
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
    const at = Date.now();
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
    const made = await this.#current();
    const view = this.#viewOf(target.group, made);
    const written = writtenWishes(made.facts.wishes, view.read);
    const seen = observationOf(view);
    this.#wakes.told(target.group, wakeReason(view, seen));
    return areEqualWishes(written, wishes, view.at) ? seen : { ...seen, otherWishes: wishesOf(written, view.at) };
  }

  /** The last plan where nothing has happened since, not even by time, and all that was read for it is as it was; otherwise a new one. */
  async #current(): Promise<Made> {
    const last = this.#last;
    if (last !== null && !this.#isDirty && (last.until === null || last.until > Date.now())) {
      const { claims: _, ...facts } = await this.#options.fresh();
      if (isDeepStrictEqual(facts, last.facts)) return last;
    }
    return await this.#make();
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
    const { claims, ...facts } = await this.#options.fresh();
    this.#facts = facts;
    const { lease, wishes, blocked } = facts;
    return {
      lease,
      claims,
      wishes,
      blocked,
      groups: this.#read().flatMap(({ group }) => group ?? []),
    };
  }

  #schedule(ms: number): void {
    if (this.#options.signal.aborted) return;
    if (this.#timer !== null) clearTimeout(this.#timer.handle);
    const handle = setTimeout(() => void this.#planAndWake(), Math.max(0, ms));
    this.#timer = { handle, at: Date.now() + ms };
  }

  async #planAndWake(): Promise<void> {
    const { caches, log, signal } = this.#options;
    this.#timer = null;
    const incomplete = caches.trouble();
    if (incomplete !== null) return this.#schedule(INCOMPLETE_MS);
    this.#changedSince = null;
    try {
      const made = await this.#make();
      if (this.#trouble !== null) log.info('there are plans for the node groups again');
      this.#trouble = null;
      for (const read of this.#read()) this.#wakeFor(read, made);
    } catch (error) {
      const { reason } = failureOf(error);
      if (reason !== this.#trouble && !signal.aborted) log.warn({ reason }, 'there is no plan for the node groups');
      this.#trouble = reason;
      this.#schedule(FAILED_MS);
    }
  }

  /** Time alone changes a plan too, whoever it was made for: when a node has been unneeded for long enough, or a window begins. */
  #scheduleNext({ until }: Made): void {
    const now = Date.now();
    const due = Math.min(Math.max(until ?? Number.POSITIVE_INFINITY, now + IDLE_MS), now + AGAIN_MS);
    if (this.#timer === null || due < this.#timer.at) this.#schedule(due - now);
  }

  /** Wakes a group whose part of the plan is another one than it was woken for, and asks for something. */
  #wakeFor(read: ReadNodeGroup, made: Made): void {
    const { name, resourceVersion } = read;
    const view = this.#viewOf(name, made);
    const seen = observationOf(view);
    const cause = this.#wakes.planned(name, wakeReason(view, seen));
    if (cause !== null) this.#options.wake(name, cause, resourceVersion);
  }

  #viewOf(group: string, { plan, facts: { heldBy } }: Made): GroupView {
    const { caches, mode } = this.#options;
    const object = caches.groups.get(group, NAMESPACE);
    const read = object === undefined ? null : readNodeGroup(object, { mode });
    const own = this.#machinesOf(group);
    const at = Date.now();
    const leaving = plan.marked
      .filter((node) => node.group === group)
      .map(({ node, uid, drain }) => ({ node, uid, drain }));
    return {
      at,
      read,
      heldBy,
      fence: formatFence(plan.fence),
      machines: own,
      nodes: { has: (name) => caches.node(name) !== null },
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

import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { GroupInput, KeptWishes } from '../../activities/node-group/interface.ts';
import { decide, pausedVerdict } from '../../domain/node-group/decide/decide.ts';
import { type NodeGroupMemory, withoutDrains } from '../../domain/node-group/decide/memory.ts';
import type { NodeGroupObservation, SeenGroup } from '../../domain/node-group/decide/observation.ts';
import { newNodesText, removalsText } from '../../domain/node-group/decide/sentences.ts';
import type { NodeGroupVerdict } from '../../domain/node-group/decide/verdict.ts';
import type { NewNodes, Removal } from '../../domain/node-group/model/plan.ts';
import { machinesInPlace } from '../../domain/node-group/pair-replacements.ts';
import {
  areEqualWishes,
  joinedWishes,
  NO_WISHES,
  type Wishes,
  wishesOf,
  withBound,
  withoutNodes,
} from '../../domain/node-group/plan-wishes.ts';
import { nodeDrainId, type NodeGroupTarget } from '../../domain/node-group/target.ts';
import { Attempts } from '../kernel/attempts.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { brief } from '../kernel/visibility.ts';
import {
  ensureMachinesSettled,
  ensureGroupReleased,
  ensureGroupStatus,
  ensureInstanceTypes,
  ensureRemovalsClaimed,
  ensureScaledUp,
  ensureWishesKept,
  observing,
} from './activities.ts';
import type { nodeDrain } from './drain.ts';
import { drainInstructions } from './drain-messages.ts';
import type { NodeGroupRunStatus } from './messages.ts';

type Shown = Pick<NodeGroupRunStatus, 'phase' | 'reason' | 'detail' | 'facts'>;
export type NodeGroupRun = ControllerRun<Shown, NodeGroupMemory>;

/** Milliseconds to wait after a failed read or write. A reconcile request ends it. */
const FAILED_RESTS = { firstRestMs: 15_000, longestRestMs: 900_000 };

/** After so many passes in a row there is a rest between them, in milliseconds. */
const MOST_RESTLESS = 5;
const RESTLESS_MS = 10_000;

/** The steps of a group's passes, which its workflow takes in turn. */
export class NodeGroupPasses {
  readonly #target: NodeGroupTarget;
  readonly #run: NodeGroupRun;
  /** The memory before the last decision. */
  #before: NodeGroupMemory;
  readonly #attempts: Attempts<Shown, 'ReadFailed' | 'WriteFailed'>;
  /** What is written down of people's wishes and failed drains; null while this run has not seen it. */
  #written: Wishes | null = null;
  /** Passes in a row that were followed by another one at once. */
  #restless = 0;

  constructor(target: NodeGroupTarget, run: NodeGroupRun) {
    this.#target = target;
    this.#run = run;
    this.#before = run.memory;
    this.#attempts = new Attempts(run, {
      ...FAILED_RESTS,
      shown: (reason, detail) => ({ phase: 'Blocked', reason, detail, facts: [] }),
    });
  }

  /** Nothing is written during a pause, so nothing is observed either. */
  async whilePaused(): Promise<void> {
    const { inForce } = this.#run.pauses;
    if (inForce === null) return;
    this.#run.publish(pausedVerdict(inForce));
    await this.#run.awaitResume('immediate');
  }

  /** Null after a failure, when the backoff is over, and after an interruption. */
  async observe(): Promise<NodeGroupObservation | null> {
    const isKept = await this.#keepWishes();
    const wishes = wishesOf(this.#run.memory, Date.now());
    const { observeNodeGroup } = observing(this.#target.cluster);
    const input = { target: this.#target, wishes };
    const summary = brief(`the group ${this.#target.group}, and its part of the plan`);
    const seen = await this.#attempts.make(
      'ReadFailed',
      async () => await observeNodeGroup.executeWithOptions({ summary }, [input]),
    );
    if (seen === null) return null;
    const { group, otherWishes = wishes } = seen;
    this.#written = otherWishes;
    if (group === null || otherWishes === wishes) return seen;
    // Of a run before this one, that was terminated.
    if (this.#run.memory.uid === null) this.#run.remember(takenUp(this.#run.memory, group.uid, otherWishes));
    const isOfGroup = this.#run.memory.uid === group.uid;
    // What cannot be written stops nothing else; the decision goes by it all the same.
    if (!isKept || !isOfGroup || areEqualWishes(this.#run.memory, otherWishes, Date.now())) return seen;
    // Something else was written down, by which this plan went.
    await this.#observeAgain();
    return null;
  }

  /**
   * Writes down what people have said since, and which drains have failed: plans go by that, whoever makes them. False where it could
   * not be done, or was interrupted: the backoff is over then.
   */
  async #keepWishes(): Promise<boolean> {
    const { memory } = this.#run;
    const now = Date.now();
    if (memory.uid === null || this.#written === null || areEqualWishes(memory, this.#written, now)) return true;
    const input = {
      target: this.#target,
      uid: memory.uid,
      wishes: wishesOf(memory, now),
      forgetsGone: true,
      bindsNodes: true,
    } as const;
    const summary = 'what people have said, for whoever plans';
    const gone = await this.#attempts.make(
      'WriteFailed',
      async () => (await ensureWishesKept.executeWithOptions({ summary }, [input])) ?? NONE_GONE,
    );
    if (gone === null) return false;
    const { bound = {} } = gone;
    this.#written = withBound(withoutNodes(input.wishes, gone), bound);
    // More may have been said meanwhile.
    this.#run.remember(withBound(withoutNodes(this.#run.memory, gone), bound));
    return true;
  }

  /** What was written down of a group that is gone goes too. */
  async #forgetWishes(): Promise<void> {
    const uid = this.#before.uid;
    if (uid === null || areEqualWishes(this.#before, NO_WISHES, Date.now())) return;
    const summary = `nothing is wanted of ${this.#target.group} any more`;
    const input = { target: this.#target, uid, wishes: NO_WISHES };
    await this.#write(
      async () => void (await ensureWishesKept.executeWithOptions({ summary: brief(summary) }, [input])),
    );
  }

  /** The next step, which is shown and remembered. */
  decide(seen: NodeGroupObservation): NodeGroupVerdict {
    this.#before = this.#run.memory;
    const [memory, verdict] = decide(seen, this.#before);
    this.#run.remember(memory);
    this.#run.publish(verdict);
    return verdict;
  }

  /** Does what the verdict asks for; what takes long is not waited for longer than until the next request. */
  async act(seen: NodeGroupObservation, verdict: NodeGroupVerdict): Promise<void> {
    const { group } = seen;
    if (group === null) return await this.#forgetWishes();
    await this.#endStaleDrains(seen, group, verdict.drains);
    const { uid } = group;
    const input = { target: this.#target, uid };
    const summary = brief(verdict.detail);
    const replaced = verdict.drains.filter(({ replacement }) => replacement !== null);
    const others = verdict.drains.filter(({ replacement }) => replacement === null);
    if (others.length > 0 && !(await this.#claim(seen, group, others))) return await this.#observeAgain();
    await Promise.all(others.map(async (removal) => await this.#drain(group, removal, null)));
    if (replaced.length > 0 && !(await this.#replace(seen, group, replaced))) return await this.#observeAgain();
    switch (verdict.kind) {
      case 'create':
        return await this.#settle(seen, async () => {
          const { newNodes } = verdict;
          const order = { ...input, fence: seen.fence, newNodes, drives: true };
          const made = await ensureScaledUp.executeWithOptions({ summary }, [order]);
          return made.kind === 'created' ? made.failed : null;
        });
      case 'drive':
        return await this.#drive(seen, input, summary);
      case 'refresh':
        return await this.#write(async () => await ensureInstanceTypes.executeWithOptions({ summary }, [input]));
      case 'release':
        await this.#write(async () => await ensureGroupReleased.executeWithOptions({ summary }, [input]));
        // The starter says when it is gone, unless somebody else keeps it.
        await this.#run.wait({ until: Date.now() + RELEASED_MS, summary: verdict.detail });
        return;
      case 'wait':
        // Nobody else drives the machines that are to be ready first.
        if (replaced.length > 0) return await this.#drive(seen, input, summary);
        if ((seen.isStatusDue || seen.inVain !== undefined) && seen.heldBy === null) {
          const { inVain } = seen;
          const status = inVain === undefined ? input : { ...input, inVain };
          await this.#write(
            async () => await ensureGroupStatus.executeWithOptions({ summary: brief(verdict.detail) }, [status]),
          );
        }
        this.#restless = 0;
        await this.#run.wait({ until: verdict.until, summary: verdict.detail });
        return;
      case 'end':
        return;
    }
  }

  async #drive(seen: NodeGroupObservation, input: GroupInput, summary: string): Promise<void> {
    await this.#settle(seen, async () => (await ensureMachinesSettled.executeWithOptions({ summary }, [input])).failed);
  }

  /**
   * Waits until machines are settled. The starter says when there is more to do, or something else to show, so where all came that
   * were asked for, and there was nothing else to show, nothing is observed again: that saves a fifth of the events of a scaling.
   */
  async #settle(seen: NodeGroupObservation, act: () => Promise<readonly string[] | null>): Promise<void> {
    const failed = await this.#attempts.make('WriteFailed', async () => await this.#run.waitFor(act));
    const { awaiting, drains } = this.#run.memory;
    const isMoreShown = awaiting.length > 0 || drains.length > 0 || hasMoreToShow(seen);
    if (failed === null || failed.length > 0 || isMoreShown) {
      return await this.#observeAgain();
    }
    this.#restless = 0;
    const detail = 'every machine that was asked for is a ready node';
    this.#run.publish({ phase: 'Steady', reason: 'NothingToDo', detail, facts: [] });
    await this.#run.wait({ until: null, summary: detail });
  }

  /** Passes that find something to do each time, and never get it done, become slower. */
  async #observeAgain(): Promise<void> {
    this.#restless += 1;
    if (this.#restless < MOST_RESTLESS) return;
    await this.#run.wait({ until: Date.now() + RESTLESS_MS, summary: 'machines and plans have not come to rest' });
  }

  async #write(act: () => Promise<void>): Promise<void> {
    await this.#attempts.make('WriteFailed', act);
  }

  /** Claims the nodes, so that no other plan lets their pods count on nodes that go too. False: observe again. */
  async #claim(seen: NodeGroupObservation, group: SeenGroup, drains: readonly Removal[]): Promise<boolean> {
    const nodes = drains.map(({ uid }) => uid);
    const input = { target: this.#target, uid: group.uid, fence: seen.fence, nodes };
    const summary = brief(`to be drained: ${removalsText(drains)}`);
    // Not to be interrupted: what was claimed and not drained would count as leaving all the same.
    const isClaimed = await this.#attempts.make(
      'WriteFailed',
      async () => await ensureRemovalsClaimed.executeWithOptions({ summary }, [input]),
      async (attempt) => await attempt(),
    );
    if (isClaimed === true) return true;
    this.#run.remember(withoutDrains(this.#run.memory, drains, this.#before));
    return false;
  }

  /** Creates the machines that are to be ready before nodes are drained, and begins their drains. False: observe again. */
  async #replace(seen: NodeGroupObservation, group: SeenGroup, replaced: readonly Removal[]): Promise<boolean> {
    const newNodes = replaced.map((removal) => replacementOf(group, removal));
    const replaces = replaced.map(({ uid }) => uid);
    const input = { target: this.#target, uid: group.uid, fence: seen.fence, newNodes, replaces };
    const summary = brief(`creating ${newNodesText(newNodes)}`);
    const made = await this.#attempts.make(
      'WriteFailed',
      async () => await ensureScaledUp.executeWithOptions({ summary }, [input]),
    );
    const nodes = replaced.map(({ uid, replacement }) => ({ uid, instanceType: replacement?.instanceType ?? '' }));
    const replacements = machinesInPlace(nodes, made?.kind === 'created' ? made.machines : []);
    const without: Removal[] = [];
    for (const removal of replaced) {
      const replacement = replacements.get(removal.uid);
      // Without one nothing may be evicted: the plan was superseded, or the machine given up already.
      if (replacement === undefined) without.push(removal);
      else await this.#drain(group, removal, replacement.name);
    }
    this.#run.remember(withoutDrains(this.#run.memory, without, this.#before));
    return without.length === 0;
  }

  async #drain(group: SeenGroup, { node, uid, machine, reason, detail }: Removal, replacement: string | null) {
    const target = { ...this.#target, node, uid };
    await this.#start({ target, groupUid: group.uid, removal: { machine, reason, detail }, replacement });
  }

  /**
   * Takes back the marks of drains that nobody carries out any more. Whether one runs is known by its id: where it does, nothing
   * is started.
   */
  async #endStaleDrains(seen: NodeGroupObservation, group: SeenGroup, begun: readonly Removal[]): Promise<void> {
    const own = new Set([...this.#run.memory.drains, ...begun].map(({ uid }) => uid));
    const stale = this.#run.memory.drains.filter(({ uid, since }) => {
      const isNew = begun.some((removal) => removal.uid === uid);
      return !isNew && seen.at - since >= STALE_AFTER_MS;
    });
    // Marks of others, such as those of another installation, are theirs to take back.
    const { cluster } = this.#target;
    const foreign = seen.leaving.filter(({ uid, drain }) => !own.has(uid) && drain === nodeDrainId({ cluster, uid }));
    for (const { node, uid } of [...stale, ...foreign]) {
      const removal = { machine: '', reason: 'Requested', detail: 'its drain had ended without a word' } as const;
      const target = { ...this.#target, node, uid };
      await this.#start({ target, groupUid: group.uid, removal, undoesOnly: true });
    }
    // Those that run are asked about again after as long.
    const { memory } = this.#run;
    const asked = new Set(stale.map(({ uid }) => uid));
    const drains = memory.drains.map((drain) => (asked.has(drain.uid) ? { ...drain, since: seen.at } : drain));
    if (asked.size > 0) this.#run.remember({ ...memory, drains });
  }

  /** Drains outlive the runs of this workflow, and say themselves how they ended. */
  async #start(input: Parameters<typeof nodeDrain>[0]): Promise<void> {
    try {
      await startChild<typeof nodeDrain>('nodeDrain', {
        workflowId: nodeDrainId(input.target),
        args: [input],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        cancellationType: ChildWorkflowCancellationType.ABANDON,
        staticSummary: brief(`${input.target.node} of ${input.target.group}`),
        staticDetails: drainInstructions(input.target),
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }
}

/** What an earlier version of the activity says. */
const NONE_GONE: KeptWishes = { names: [], uids: [] };
/** Milliseconds after which a group that was released is looked at again. */
const RELEASED_MS = 60_000;
/** Milliseconds after which it is asked whether a drain still runs: somebody may have terminated it. */
const STALE_AFTER_MS = 600_000;

function takenUp(memory: NodeGroupMemory, uid: string, written: Wishes): NodeGroupMemory {
  return { ...memory, ...joinedWishes(memory, written), uid };
}

/** Whether there is more to say of a group than that its machines are ready. */
function hasMoreToShow({ claimed, going, group, unhelped }: NodeGroupObservation): boolean {
  return unhelped.total > 0 || claimed > 0 || going > 0 || (group?.backoff ?? null) !== null;
}

function replacementOf({ name: group }: SeenGroup, { replacement }: Removal): NewNodes {
  const { instanceType = '', kinds } = replacement ?? {};
  const machine = { group, instanceType, count: 1, reason: 'Replacement', pods: [], podCount: 0 } as const;
  return kinds === undefined ? machine : { ...machine, kinds };
}

import { ChildWorkflowCancellationType, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { decide, pausedVerdict } from '../../domain/node-group/decide/decide.ts';
import { type NodeGroupMemory, restingNodes } from '../../domain/node-group/decide/memory.ts';
import type { NodeGroupObservation, SeenGroup } from '../../domain/node-group/decide/observation.ts';
import type { NodeGroupVerdict } from '../../domain/node-group/decide/verdict.ts';
import type { NewNodes, Removal } from '../../domain/node-group/model/plan.ts';
import { nodeDrainId, type NodeGroupTarget } from '../../domain/node-group/target.ts';
import type { ControllerRun } from '../kernel/controller-run.ts';
import { failedActivity } from '../kernel/failure.ts';
import { brief } from '../kernel/visibility.ts';
import {
  driveMachines,
  ensureGroupReleased,
  ensureGroupStatus,
  ensureInstanceTypes,
  ensureScaledUp,
  observing,
} from './activities.ts';
import type { nodeDrain } from './drain.ts';
import type { NodeGroupRunStatus } from './messages.ts';

type Shown = Pick<NodeGroupRunStatus, 'phase' | 'reason' | 'detail' | 'facts'>;
export type NodeGroupRun = ControllerRun<Shown, NodeGroupMemory>;

/** Backoff in milliseconds after a failed read or write; it doubles each time. A reconcile request ends it. */
const FAILED_REST_MS = 15_000;
const LONGEST_FAILED_REST_MS = 900_000;

/** The steps of a group's passes, which its workflow takes in turn. */
export class NodeGroupPasses {
  readonly #target: NodeGroupTarget;
  readonly #run: NodeGroupRun;
  #failures = 0;

  constructor(target: NodeGroupTarget, run: NodeGroupRun) {
    this.#target = target;
    this.#run = run;
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
    const { requested } = this.#run.memory;
    const input = { target: this.#target, requested, resting: restingNodes(this.#run.memory) };
    const { observeNodeGroup } = observing(this.#target.cluster);
    return await this.#tried('ReadFailed', async () => await observeNodeGroup(input));
  }

  /** The next step, which is shown and remembered. */
  decide(seen: NodeGroupObservation): NodeGroupVerdict {
    const [memory, verdict] = decide(seen, this.#run.memory);
    this.#run.remember(memory);
    this.#run.publish(verdict);
    return verdict;
  }

  /** Begins what the verdict asks for; what has begun is not waited for longer than until the next request. */
  async act(seen: NodeGroupObservation, verdict: NodeGroupVerdict): Promise<void> {
    const { group } = seen;
    if (group === null) return;
    await this.#endStaleDrains(seen, group, verdict.drains);
    const isCreated = await this.#create(seen, group, verdict);
    if (!isCreated) return;
    const { uid } = group;
    const input = { target: this.#target, uid };
    const summary = brief(verdict.detail);
    switch (verdict.kind) {
      case 'create':
      case 'drive':
        await this.#tried(
          'WriteFailed',
          async () => await this.#run.waitFor(async () => await driveMachines.executeWithOptions({ summary }, [input])),
        );
        return;
      case 'refresh':
        await this.#tried('ReadFailed', async () => await ensureInstanceTypes.executeWithOptions({ summary }, [input]));
        return;
      case 'release':
        await this.#tried(
          'WriteFailed',
          async () => await ensureGroupReleased.executeWithOptions({ summary }, [input]),
        );
        return;
      case 'wait':
        if (seen.isStatusDue && seen.heldBy === null) {
          const isWritten = await this.#tried('WriteFailed', async () => {
            await ensureGroupStatus(input);
            return true;
          });
          if (isWritten !== true) return;
        }
        await this.#run.wait({ until: verdict.until, summary: verdict.detail });
        return;
      case 'end':
        return;
    }
  }

  /** Whether everything that was to be created was, and drains began. False: observe again. */
  async #create(seen: NodeGroupObservation, group: SeenGroup, verdict: NodeGroupVerdict): Promise<boolean> {
    const replaced = verdict.drains.filter(({ replacement }) => replacement !== null);
    const newNodes: readonly NewNodes[] = [
      ...(verdict.kind === 'create' ? verdict.newNodes : []),
      ...replaced.map((removal) => replacementOf(group, removal)),
    ];
    if (newNodes.length === 0) {
      for (const removal of verdict.drains) await this.#drain(group, removal, null);
      return true;
    }
    const input = { target: this.#target, uid: group.uid, fence: seen.fence, newNodes };
    const summary = brief(verdict.detail);
    const made = await this.#tried(
      'WriteFailed',
      async () => await ensureScaledUp.executeWithOptions({ summary }, [input]),
    );
    if (made?.kind !== 'created') {
      this.#forgetDrains(verdict.drains);
      return false;
    }
    const replacements = made.machines.slice(made.machines.length - replaced.length);
    for (const removal of verdict.drains) {
      await this.#drain(group, removal, replacements[replaced.indexOf(removal)] ?? null);
    }
    return true;
  }

  /** They did not begin; the next plan says whether they are still to. */
  #forgetDrains(drains: readonly Removal[]): void {
    const { memory } = this.#run;
    const uids = new Set(drains.map(({ uid }) => uid));
    this.#run.remember({ ...memory, drains: memory.drains.filter(({ uid }) => !uids.has(uid)) });
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
    const foreign = seen.leaving.filter(({ uid }) => !own.has(uid));
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
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
  }

  async #tried<T>(reason: 'ReadFailed' | 'WriteFailed', attempt: () => Promise<T>): Promise<T | null> {
    try {
      const answer = await this.#run.interruptible(attempt);
      this.#failures = 0;
      return answer;
    } catch (error) {
      const failed = failedActivity(error);
      if (failed === null) throw error;
      if (this.#run.pauses.foundIn(failed)) return null;
      const { message } = failed;
      this.#run.publish({ phase: 'Blocked', reason, detail: message, facts: [] });
      const rest = Math.min(FAILED_REST_MS * 2 ** this.#failures, LONGEST_FAILED_REST_MS);
      this.#failures += 1;
      await this.#run.wait({ until: Date.now() + rest, summary: message });
      return null;
    }
  }
}

/** Milliseconds after which it is asked whether a drain still runs: somebody may have terminated it. */
const STALE_AFTER_MS = 600_000;

function replacementOf({ name: group }: SeenGroup, { replacement }: Removal): NewNodes {
  const instanceType = replacement?.instanceType ?? '';
  return { group, instanceType, count: 1, reason: 'Replacement', pods: [], podCount: 0 };
}

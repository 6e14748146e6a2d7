/** When a group's workflow is woken: it costs actions, so only for what it would act on, or show. */
import { freeMachines, type GroupView, unsettledMachines } from './observe.ts';
import type { NodeGroupObservation } from './observation.ts';

export interface WakeReason {
  /** The same for as long as nothing has changed that the workflow would act on, or show. */
  readonly key: string;
  /** A few words for people; null where there is nothing to do: then nobody is woken. */
  readonly cause: string | null;
  /** Whether there is something to act on, and not only to show: then a lost request is made again. */
  readonly isToAct: boolean;
  /** Whether the workflow shows what is no longer true when the reason is over. */
  readonly isShown: boolean;
}

export function wakeReason(view: GroupView, seen: NodeGroupObservation): WakeReason {
  const { group, newNodes, removals, problems, heldBy, unhelped, areTypesDue } = seen;
  // Machines on their way are driven by whoever created them; others need somebody who looks.
  const unsettled = unsettledMachines(view).filter(({ isDeleting, phase }) => isDeleting || phase === 'Ready');
  const stray = [...unsettled, ...freeMachines(view)];
  // The status is written when machines are settled, and when drains have ended.
  const isStatusDue = seen.isStatusDue && seen.unsettled === 0 && seen.leaving.length === 0;
  const { inVain } = seen;
  const toAct = named({
    'nodes are to come': newNodes.length > 0,
    'nodes are to go': removals.length > 0,
    'machines are to be settled': stray.length > 0,
    'the group is being deleted': group?.isDeleting === true,
    'its instance types are not known, or old': areTypesDue,
    'its status is out of date': isStatusDue,
    'what came of nodes is to be noted': inVain !== undefined,
  });
  const isHalted = seen.kept.first.some(({ reason }) => reason === 'TooFewReady');
  const toShow = named({
    'the group is invalid': problems.length > 0,
    'some pending pods get no new node': unhelped.total > 0,
    'another controller is there': heldBy !== null,
    'too few of its nodes are ready': isHalted,
    'a deleted VPSieNode waits for its drain': seen.asked > 0,
  });
  const key = JSON.stringify({
    uid: group?.uid,
    generation: group?.generation,
    mode: group?.mode,
    newNodes: newNodes.map(({ instanceType, count, reason }) => [instanceType, count, reason]),
    // With the machines that there are: the same number of new nodes, asked for again once the first ones have come, is another demand.
    beside: newNodes.length === 0 ? [] : view.machines.map(({ name }) => name).toSorted(),
    removals: removals.map(({ uid, reason }) => [uid, reason]),
    stray: stray.map(({ name }) => name),
    // Not their names: pods that come and go would wake every group each time.
    unhelped: [...new Set(unhelped.first.map(({ reason }) => reason))].toSorted(),
    problems,
    heldBy,
    areTypesDue,
    isStatusDue,
    inVain,
    isHalted,
    asked: seen.kept.first.slice(0, seen.asked).map(({ node, reason }) => [node, reason]),
  });
  const all = [...toAct, ...toShow];
  const observes = group?.mode === 'observe' || heldBy !== null;
  const asks = removals.length > 0 && group !== null && group.approval !== 'none';
  return {
    key,
    cause: all.length === 0 ? null : all.join(', '),
    isToAct: toAct.length > 0 && !observes,
    isShown: toShow.length > 0 || asks || (toAct.length > 0 && observes),
  };
}

function named(reasons: Readonly<Record<string, boolean>>): readonly string[] {
  return Object.keys(reasons).filter((reason) => reasons[reason] === true);
}

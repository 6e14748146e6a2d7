import { pauseReason, pauseSentence, type PauseInForce } from '../../kernel/pause.ts';
import { listText } from '../../kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { Removal } from '../model/plan.ts';
import { needsApproval } from '../rules/approval.ts';
import type { NodeGroupMemory } from './memory.ts';
import { freshMemory, removalKey } from './memory.ts';
import type { NodeGroupObservation, SeenGroup } from './observation.ts';
import { facts, newNodesText, removalsText } from './sentences.ts';
import type { NodeGroupVerdict } from './verdict.ts';

/** The next step for a NodeGroup. */
export function decide(
  seen: NodeGroupObservation,
  before: NodeGroupMemory,
): readonly [NodeGroupMemory, NodeGroupVerdict] {
  const { group } = seen;
  const shown = { facts: facts(seen), drains: [] } as const;
  if (group === null) {
    const detail = 'the NodeGroup is gone';
    return [freshMemory, { kind: 'end', phase: 'Ended', reason: 'GroupGone', detail, ...shown }];
  }
  const memory = stillTrue(
    isAbout(before, group) ? { ...before, uid: group.uid } : { ...freshMemory, uid: group.uid },
    seen,
  );
  if (seen.heldBy !== null) {
    // The starter says when that is over.
    return [
      memory,
      { kind: 'wait', until: null, phase: 'Blocked', reason: 'HeldByOther', detail: seen.heldBy, ...shown },
    ];
  }
  // Nothing stands behind it any more, so it is let go whatever else it says.
  if (group.isDeleting && machineCount(seen) === 0) return [memory, deleting(seen, memory, [])];
  if (seen.problems.length > 0) {
    return [
      memory,
      { kind: 'wait', until: null, phase: 'Blocked', reason: 'Invalid', detail: seen.problems.join('; '), ...shown },
    ];
  }
  if (seen.areTypesDue && !group.isDeleting) {
    const detail = `asking ${group.provider} for the instance types of the group`;
    return [memory, { kind: 'refresh', phase: 'Starting', reason: 'InstanceTypesDue', detail, ...shown }];
  }
  if (group.mode === 'observe') return [memory, observed(seen)];
  return acting(seen, group, memory);
}

/** Whether the memory is about this group. Commands before the first observation concern the group that is found then. */
function isAbout({ uid }: NodeGroupMemory, group: SeenGroup): boolean {
  return uid === null || uid === group.uid;
}

/** In a mode that only observes: what would be done. */
function observed(seen: NodeGroupObservation): NodeGroupVerdict {
  const shown = { kind: 'wait', until: null, phase: 'Observing', facts: facts(seen), drains: [] } as const;
  if (seen.newNodes.length > 0) {
    return { ...shown, reason: 'WouldScaleUp', detail: `would create ${newNodesText(seen.newNodes)}` };
  }
  if (seen.removals.length > 0) {
    return { ...shown, reason: 'WouldScaleDown', detail: `would take away ${removalsText(seen.removals)}` };
  }
  return { ...shown, ...(haltOf(seen) ?? idle(seen)) };
}

/** What is shown while nothing is taken away, as too few nodes are ready; null while enough are. */
function haltOf({ kept }: NodeGroupObservation): { readonly reason: 'TooFewReady'; readonly detail: string } | null {
  const halted = kept.first.find(({ reason }) => reason === 'TooFewReady');
  return halted === undefined ? null : { reason: 'TooFewReady', detail: halted.detail };
}

function idle(seen: NodeGroupObservation): Pick<NodeGroupVerdict, 'reason' | 'detail'> {
  const { total, first } = seen.unhelped;
  if (total === 0) {
    const nodes = machineCount(seen) === 0 ? 'the group has no nodes' : 'every node is needed';
    return { reason: 'NothingToDo', detail: `every pod has a node, and ${nodes}` };
  }
  const [pod] = first;
  const example = pod === undefined ? '' : `, such as ${pod.namespace}/${pod.name}: ${pod.detail}`;
  return {
    reason: 'PodsUnhelped',
    detail: `${total} pending ${total === 1 ? 'pod gets' : 'pods get'} no new node${example}`,
  };
}

function acting(
  seen: NodeGroupObservation,
  group: SeenGroup,
  before: NodeGroupMemory,
): readonly [NodeGroupMemory, NodeGroupVerdict] {
  const { memory, drains, awaiting } = admitted(seen, group, before);
  const shown = { facts: facts(seen), drains } as const;
  if (group.isDeleting) return [memory, deleting(seen, memory, drains)];
  if (seen.newNodes.length > 0) {
    const detail = `creating ${newNodesText(seen.newNodes)}`;
    return [
      memory,
      { kind: 'create', newNodes: seen.newNodes, phase: 'ScalingUp', reason: 'NewNodes', detail, ...shown },
    ];
  }
  if (seen.unsettled > 0 || seen.free > 0) return [memory, { kind: 'drive', ...driving(seen), ...shown }];
  const wait = { kind: 'wait', until: earliest(seen, memory), ...shown } as const;
  const leaving = [...new Set([...memory.drains.map(({ node }) => node), ...drains.map(({ node }) => node)])];
  if (leaving.length > 0) {
    return [memory, { ...wait, phase: 'ScalingDown', reason: 'Draining', detail: `draining ${listText(leaving)}` }];
  }
  if (awaiting.length > 0) {
    const detail = `approve or reject taking away ${removalsText(awaiting)}`;
    return [memory, { ...wait, phase: 'AwaitingApproval', reason: 'ApprovalRequired', detail }];
  }
  const halt = haltOf(seen);
  if (halt !== null) return [memory, { ...wait, phase: 'Blocked', ...halt }];
  const { backoff } = group;
  if (backoff !== null && backoff.until > seen.at) {
    const detail = `no more machines are asked for until ${formatInstant(backoff.until)}: ${backoff.reason}`;
    return [memory, { ...wait, phase: 'Blocked', reason: 'BackingOff', detail }];
  }
  if (seen.asked > 0) {
    const waiting = seen.kept.first.slice(0, seen.asked).map(({ node, detail }) => `${node}: ${detail}`);
    const detail = `nodes whose VPSieNode was deleted wait for their drain: ${waiting.join('; ')}`;
    return [memory, { ...wait, phase: 'Blocked', reason: 'DrainWaits', detail }];
  }
  return [memory, { ...wait, phase: 'Steady', ...idle(seen) }];
}

/** Machines that are neither nodes nor gone. */
function driving(seen: NodeGroupObservation): Pick<NodeGroupVerdict, 'phase' | 'reason' | 'detail'> {
  const { going, unsettled } = seen;
  const are = (count: number): string =>
    `${count} of ${machineCount(seen) + seen.claimed} machines ${count === 1 ? 'is' : 'are'}`;
  if (unsettled === 0) {
    const detail = `taking hold of ${seen.free} machines: the label of the group is put on their objects`;
    return { phase: 'Starting', reason: 'MachinesFree', detail };
  }
  if (going === unsettled)
    return { phase: 'ScalingDown', reason: 'MachinesGoing', detail: `${are(going)} being deleted` };
  return { phase: 'ScalingUp', reason: 'MachinesComing', detail: `${are(unsettled - going)} on the way` };
}

/** A group that is being deleted gives all its nodes back, and is let go when nothing of it is left. */
function deleting(seen: NodeGroupObservation, memory: NodeGroupMemory, drains: readonly Removal[]): NodeGroupVerdict {
  const left = machineCount(seen);
  const shown = { phase: 'Deleting', reason: 'GroupDeleted', facts: facts(seen), drains } as const;
  if (left === 0) return { ...shown, kind: 'release', detail: 'every machine of the group was given back' };
  const isOrphan = seen.group?.deletionPolicy === 'Orphan';
  if (isOrphan && seen.unsettled === 0 && seen.leaving.length === 0 && memory.drains.length === 0) {
    return {
      ...shown,
      kind: 'release',
      detail: `the group is being deleted: its ${left} nodes stay, and belong to no group`,
    };
  }
  const detail = isOrphan
    ? 'the group is being deleted: its nodes stay, once its other machines are given back'
    : `the group is being deleted: ${left} of its machines are to be drained and given back`;
  // A machine that has not become a node yet needs no drain.
  if (seen.unsettled > 0 || seen.free > 0) return { ...shown, kind: 'drive', detail };
  return { ...shown, kind: 'wait', until: earliest(seen, memory), detail };
}

/** Which removals may begin now, and which wait for a person. */
function admitted(
  { removals, at }: NodeGroupObservation,
  group: SeenGroup,
  memory: NodeGroupMemory,
): { readonly memory: NodeGroupMemory; readonly drains: readonly Removal[]; readonly awaiting: readonly Removal[] } {
  const busy = new Set([...memory.drains, ...memory.failed.filter(({ until }) => until > at)].map(({ uid }) => uid));
  const rejected = new Set(memory.rejected.filter(({ until }) => until > at).map(({ key }) => key));
  const approved = new Set(memory.approved.map(({ key }) => key));
  const open = removals.filter((removal) => !busy.has(removal.uid) && !rejected.has(removalKey(removal)));
  const asks = (removal: Removal): boolean => needsApproval(group, removal) && !approved.has(removalKey(removal));
  const [awaiting, drains] = [open.filter(asks), open.filter((removal) => !asks(removal))];
  const began = drains.map(({ node, uid }) => ({ node, uid, since: at }));
  return {
    memory: {
      ...memory,
      awaiting: awaiting.map(removalKey),
      drains: [...memory.drains, ...began],
      requested: memory.requested.filter(({ node }) => !drains.some((removal) => removal.node === node)),
    },
    drains,
    awaiting,
  };
}

/** Without what time has ended, and approvals of what is not proposed any more. */
function stillTrue(memory: NodeGroupMemory, { removals, at }: NodeGroupObservation): NodeGroupMemory {
  const proposed = new Set(removals.map(removalKey));
  return {
    ...memory,
    failed: memory.failed.filter(({ until }) => until > at),
    rejected: memory.rejected.filter(({ until }) => until > at),
    approved: memory.approved.filter(({ key }) => proposed.has(key)),
  };
}

function earliest({ at, group }: NodeGroupObservation, memory: NodeGroupMemory): EpochMs | null {
  const moments = [
    group?.backoff?.until ?? null,
    ...memory.failed.map(({ until }) => until),
    ...memory.rejected.map(({ until }) => until),
    // A drain that somebody terminated says nothing any more.
    memory.drains.length > 0 ? at + DRAIN_LOOK_MS : null,
  ].filter((moment) => moment !== null && moment > at);
  return moments.length === 0 ? null : Math.min(...moments.map(Number));
}

/** Milliseconds after which it is looked whether the drains of the group still run. */
const DRAIN_LOOK_MS = 600_000;

function machineCount({ machines }: NodeGroupObservation): number {
  return Object.values(machines).reduce((sum, count) => sum + count, 0);
}

/** What is shown while a pause holds. */
export function pausedVerdict(pause: PauseInForce): Pick<NodeGroupVerdict, 'phase' | 'reason' | 'detail' | 'facts'> {
  return { phase: 'Paused', reason: pauseReason(pause), detail: pauseSentence(pause), facts: [] };
}

/**
 * Machines that came in place of nodes. Where the drain of such a node does not end, the machine is of no use, and the next plan would ask
 * for another one: so that it came is evidence like that of a node that came for pods in vain, by the node in place of a kind of pods.
 */
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import { type InVain, kindOfNode, REMEMBERED_MS } from '../model/in-vain.ts';
import type { Machine } from '../model/node-group.ts';
import type { Node } from '../model/node.ts';
import { isComing } from './live-nodes.ts';
import { byText } from './pending.ts';
import type { Failed } from './trials.ts';

/** The machine that is there in place of a node, or comes. */
export interface Spare {
  readonly machine: Machine;
  readonly isReady: boolean;
}

export interface Spares {
  /** By the UID of the node. */
  readonly there: ReadonlyMap<string, Spare>;
  /** Machines of which it is not clear yet whether the node goes, with its name. */
  readonly onTrial: readonly { readonly machine: Machine; readonly node: string }[];
  readonly failed: readonly Failed[];
}

/** For so long after it was ready, a drain that ends is soon over, or has been tried twice. */
const TRIED_MS = 900_000;

export function judgeSpares(state: ClusterState): Spares {
  const { at, machines, nodes, leaving } = state;
  const byUid = new Map(nodes.map((node) => [node.uid, node]));
  const byName = new Map(nodes.map((node) => [node.name, node]));
  const going = new Set(leaving);
  const there = new Map<string, Spare>();
  const onTrial: Spares['onTrial'][number][] = [];
  const failed: Failed[] = [];
  for (const machine of machines.filter(isComing).toSorted((a, b) => byText(a.name, b.name))) {
    const node = machine.replaces === null ? undefined : byUid.get(machine.replaces);
    const own = machine.node === null ? undefined : byName.get(machine.node);
    if (node === undefined || node.isDeleting || (machine.phase === 'Ready' && own === undefined)) continue;
    const isReady = machine.phase === 'Ready' && own?.ready.status === 'True';
    const isGoing = going.has(node.name);
    if (isOver(machine, node, { at, isGoing })) continue;
    if (isReady || !there.has(node.uid)) there.set(node.uid, { machine, isReady });
    if (machine.phase !== 'Ready') continue;
    if (isGoing || at - machine.phaseSince < TRIED_MS) onTrial.push({ machine, node: node.name });
    else failed.push({ machine, kind: kindOfNode(node), pod: node.name, isFirm: true });
  }
  return { there, onTrial, failed };
}

/**
 * Whether what the machine came for is over, so that it is one like any other: the node is Ready again, or was in between, or has been Ready
 * all the time for as long as is remembered. Of a node that is not Ready, only when its condition changed last is known: a change from `False`
 * to `Unknown` after the quarter of an hour looks the same. What is written by then still counts.
 */
function isOver(
  { phase, phaseSince, createdAt }: Machine,
  node: Node,
  { at, isGoing }: { readonly at: EpochMs; readonly isGoing: boolean },
): boolean {
  if (phase !== 'Ready') return false;
  if (isReadyAgain(node, createdAt)) return true;
  const tried = phaseSince + TRIED_MS;
  return !isGoing && (node.ready.status === 'True' ? at >= tried + REMEMBERED_MS : node.ready.since > tried);
}

/** Whether the node is Ready, and has not always been so since that moment. */
function isReadyAgain({ ready }: Node, since: EpochMs): boolean {
  return ready.status === 'True' && ready.since > since;
}

/** Until the node is gone, or Ready again. */
export function isStillInPlace(node: Node | undefined, { at }: Pick<InVain, 'at'>): boolean {
  return node !== undefined && !isReadyAgain(node, at);
}

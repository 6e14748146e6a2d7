/** Operator commands for the workflow of a NodeGroup. Pure, so that the update's validator can call it too. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { claimedName, readCommandInput } from '../../kernel/command-input.ts';
import type { NodeGroupMemory } from './memory.ts';

/** Besides `pause` and `resume`. */
export type NodeGroupCommandName = 'approve' | 'reject' | 'drain' | 'reconcileNow';

/** `memory` is null when the command is rejected; `message` is the answer to its sender. */
export interface CommandAnswer {
  readonly memory: NodeGroupMemory | null;
  readonly message: string;
}

/** How long a rejection holds, in milliseconds: as long as a person's working day. */
const REJECTED_MS = 8 * 3_600_000;
/** A person who asks for more nodes to be drained at once deletes the group, or lowers its size. */
const MOST_REQUESTED = 50;

export function applyCommand(
  name: NodeGroupCommandName,
  raw: unknown,
  { memory, now }: { readonly memory: NodeGroupMemory; readonly now: EpochMs },
): CommandAnswer {
  const { by } = readCommandInput(raw);
  const { awaiting } = memory;
  const reject = (message: string): CommandAnswer => ({ memory: null, message });
  switch (name) {
    case 'approve': {
      if (awaiting.length === 0) return reject('nothing waits for an approval');
      const approved = [...memory.approved, ...awaiting.map((key) => ({ key, by }))];
      const message = `approved by ${claimedName(by)}: ${nodes(awaiting.length)}`;
      return { memory: { ...memory, approved, awaiting: [] }, message };
    }
    case 'reject': {
      if (awaiting.length === 0) return reject('nothing waits for an approval');
      const until = now + REJECTED_MS;
      const rejected = [...memory.rejected, ...awaiting.map((key) => ({ key, by, until }))];
      const message = `rejected by ${by}: ${nodes(awaiting.length)} stay, and are not proposed again for this before ${formatInstant(until)}`;
      return { memory: { ...memory, rejected, awaiting: [] }, message };
    }
    case 'drain': {
      const node = nodeIn(raw);
      if (node === null) return reject('name the node: {"node": "pool-1-x7k2p", "by": "alice"}');
      if (memory.requested.length >= MOST_REQUESTED) return reject(`${MOST_REQUESTED} nodes are to be drained already`);
      const requested = [...memory.requested.filter((one) => one.node !== node), { node, by }];
      const failed = memory.failed.filter((one) => one.node !== node);
      return {
        memory: { ...memory, requested, failed },
        message: `${node} is drained and given back, as asked by ${by}`,
      };
    }
    case 'reconcileNow':
      // What failed is tried at once too, but not what a person has stopped.
      return {
        memory: { ...memory, failed: memory.failed.filter(({ isStopped }) => isStopped === true) },
        message: `looking again now, as asked by ${by}`,
      };
  }
}

function nodes(count: number): string {
  return count === 1 ? '1 node' : `${count} nodes`;
}

/** A name of a Node, as Kubernetes takes it. */
const NODE_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function nodeIn(raw: unknown): string | null {
  const node = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>)['node'] : undefined;
  return typeof node === 'string' && NODE_NAME.test(node) ? node : null;
}

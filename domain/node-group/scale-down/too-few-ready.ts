/**
 * Whether nodes broke, or the control plane does not see them. What a kubelet that cannot report runs goes on running, so where too
 * few nodes are Ready nothing is taken away by itself.
 */

import type { EpochMs } from '../../kernel/time.ts';
import type { Node } from '../model/node.ts';
import type { Machine } from '../model/node-group.ts';

/** How many nodes are Ready and stay so as far as anybody knows, and how many are not. Nodes that leave are in neither number. */
export interface Sight {
  readonly ready: number;
  readonly unready: number;
}

// cluster-autoscaler's defaults (`ok-total-unready-count`, `max-total-unready-percentage`).
const OK_UNREADY = 3;
const MOST_UNREADY_SHARE = 0.45;

export function sightOf(nodes: readonly { readonly isReady: boolean }[]): Sight {
  const ready = nodes.filter(({ isReady }) => isReady).length;
  return { ready, unready: nodes.length - ready };
}

/** Why nothing of the whole cluster goes by itself, as one sentence; null where nothing stands in the way. */
export function clusterHalt({ ready, unready }: Sight): string | null {
  const total = ready + unready;
  if (unready > 0 && ready === 0) return halted(`none of the ${total} nodes of the cluster is ready`);
  if (unready <= OK_UNREADY || unready <= total * MOST_UNREADY_SHARE) return null;
  return halted(`${unready} of ${total} nodes of the cluster are not ready`);
}

/** The same of one group, of any size: less than half of its nodes are Ready. */
export function groupHalt(group: string, { ready, unready }: Sight): string | null {
  if (unready <= ready) return null;
  return halted(`${ready} of ${ready + unready} nodes of ${group} ${ready === 1 ? 'is' : 'are'} ready`);
}

/** A node, as its condition `Ready` tells of it. */
interface SightedNode {
  readonly isReady: boolean;
  /** Since when it is so. */
  readonly since: EpochMs;
  /** By when it had been ready for the first time. */
  readonly joinedBy: EpochMs;
}

/** A machine is a node within a quarter of an hour of its registration (VPSie's limit), in milliseconds. */
const JOINED_MS = 900_000;
/** How far the clock of a node may be ahead, in milliseconds. */
const SKEW_MS = 60_000;

/** @param machine that it is, in phase `Ready`; absent: it is not known. */
export function sighted(
  { ready, createdAt }: Pick<Node, 'ready' | 'createdAt'>,
  machine?: Pick<Machine, 'phaseSince'>,
): SightedNode {
  const joinedBy = machine === undefined ? createdAt + JOINED_MS : machine.phaseSince;
  return { isReady: ready.status === 'True', since: ready.since, joinedBy };
}

/**
 * When a halt ended last because nodes came back; null where nothing shows that one did. A control plane that sees its nodes again sees
 * one after the other, so the end of a halt says nothing yet of those that are not back. It is read from what is written on the nodes:
 * which of them became Ready again, and when, and who was not Ready just before.
 *
 * @param haltOf why nothing would go with so many nodes that are Ready; null where nothing would stand in the way.
 */
export function backInSight(
  nodes: readonly SightedNode[],
  at: EpochMs,
  haltOf: (sight: Sight) => string | null,
): EpochMs | null {
  const isBack = ({ isReady, since, joinedBy }: SightedNode): boolean =>
    isReady && since > joinedBy && since <= at + SKEW_MS;
  const moments = new Set(nodes.filter(isBack).map(({ since }) => since));
  for (const moment of [...moments].toSorted((a, b) => b - a)) {
    const ready = nodes.filter(({ isReady, since }) => isReady && since < moment).length;
    const unready = nodes.filter((node) => (node.isReady ? isBack(node) && node.since >= moment : node.since < moment));
    if (haltOf({ ready, unready: unready.length }) !== null) return Math.min(moment, at);
  }
  return null;
}

function halted(what: string): string {
  return `${what}, which may be a fault of the control plane: Headroom takes none away by itself meanwhile`;
}

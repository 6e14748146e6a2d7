/**
 * Whether nodes broke, or the control plane does not see them. What a kubelet that cannot report runs goes on running, so where too
 * few nodes are Ready nothing is taken away by itself.
 */

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

function halted(what: string): string {
  return `${what}, which may be the control plane's own trouble: none is taken away by itself meanwhile`;
}

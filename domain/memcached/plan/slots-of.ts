import { type ChildKind, deploymentReplicas } from '../children/children.ts';
import { endpointsOf } from '../servers/endpoints.ts';
import { rememberedSlots } from '../servers/server-list.ts';
import { assignSlots, type Slot } from '../servers/slots.ts';
import { isOwnedBy, type LiveObject, replicasOf } from './live.ts';
import type { Seen } from './seen.ts';

/** Which server has which slot, by the pods behind the Service. */
export function slotsOf({ memcached, children, endpointSlices }: Seen): readonly Slot[] {
  const ours = (kind: ChildKind): LiveObject | null => {
    const live = children[kind];
    return live !== null && isOwnedBy(live, memcached.uid) ? live : null;
  };
  const remembered = rememberedSlots(memcached, children.ConfigMap);
  const deployment = ours('Deployment');
  const wanted = memcached.spec === null ? null : deploymentReplicas(memcached.spec);
  const desired = deployment === null ? (wanted ?? remembered.length) : replicasOf(deployment);
  return assignSlots(remembered, endpointsOf(endpointSlices, ours('Service')), desired);
}

/** Nodes that are only planned, in the packing of the cluster. */
import type { Slot } from '../scheduling/packed.ts';
import type { Packing } from '../scheduling/packing.ts';
import { openComing, templateSlot } from './cluster-packing.ts';
import type { Daemon } from './daemons.ts';
import type { Offer, Roster } from './offers.ts';

export interface PlannedNodes {
  readonly packing: Packing;
  readonly rosters: readonly Roster[];
  readonly daemons: readonly Daemon[];
  /** How many new nodes each group has so far. */
  readonly added: Map<string, number>;
}

export function addNode(plannedNodes: PlannedNodes, offer: Offer): Slot {
  const { packing, daemons, added } = plannedNodes;
  const count = added.get(offer.group.name) ?? 0;
  added.set(offer.group.name, count + 1);
  const name = `new ${offer.group.name} ${offer.type.id} ${count}`;
  return openComing(packing, templateSlot(offer.group, offer.type, name, 'new', offer.allocatable), daemons);
}

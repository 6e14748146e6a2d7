/** Why pods that are left get no new node. */
import type { UnhelpedReason } from '../model/plan.ts';
import { explainFit, inUse } from '../scheduling/explain.ts';
import type { Misfit } from '../scheduling/misfit.ts';
import type { PodClass } from '../scheduling/packed.ts';
import { usedClaim } from '../scheduling/rules.ts';
import type { Offer } from './offers.ts';
import { type Opening, openNew } from './open-nodes.ts';

interface Why {
  readonly reason: UnhelpedReason;
  readonly detail: string;
}

/** The reason that is nearest to a node comes first. */
const NEARNESS: readonly UnhelpedReason[] = [
  'Limited',
  'AtMaximum',
  'BackedOff',
  'Paused',
  'Disabled',
  'Spread',
  'PodAffinity',
  'VolumeElsewhere',
  'TooLarge',
  'NoGroupMatches',
];

export function whyUnhelped(opening: Opening, pods: PodClass): Why {
  const { blocked } = pods.volumes;
  if (blocked !== null) {
    return { reason: blocked.by === 'ClaimMissing' ? 'ClaimMissing' : 'ClaimNotBound', detail: blocked.detail };
  }
  const used = usedClaim(pods);
  if (used !== null) return { reason: 'ClaimInUse', detail: inUse(used) };
  const offers = opening.rosters.flatMap((roster) => roster.offers);
  if (offers.length === 0) {
    return opening.rosters.length === 0
      ? { reason: 'NoGroupMatches', detail: 'there is no NodeGroup' }
      : { reason: 'NoInstanceTypes', detail: 'no NodeGroup has an instance type that can be had' };
  }
  const all = offers.map((offer) => whyNotOf(opening, pods, offer));
  const nearest = (why: Why): number => NEARNESS.indexOf(why.reason);
  return all.reduce((best, why) => (nearest(why) < nearest(best) ? why : best));
}

function whyNotOf(opening: Opening, pods: PodClass, offer: Offer): Why {
  const { packing, opened } = opening;
  const { name } = offer.group;
  const before = opened.get(name) ?? 0;
  const mark = packing.mark();
  const result = explainFit(packing, pods, openNew(opening, offer));
  packing.rollback(mark);
  opened.set(name, before);
  const of = `${offer.type.id} of ${name}`;
  if (result.kind === 'misfit') return { reason: reasonOf(result.by), detail: `on a node ${of}: ${result.detail}` };
  if (offer.refused !== null) return offer.refused;
  const isFull = before >= (opening.rosters.find(({ group }) => group === offer.group)?.room ?? 0);
  if (isFull && offer.group.estimate === 'simple')
    return { reason: 'Limited', detail: `${name} adds one node at a time` };
  if (isFull) return { reason: 'AtMaximum', detail: `${name} may have ${offer.group.maxNodes} nodes and no more` };
  return { reason: 'NoGroupMatches', detail: `${name} is exclusive, and the pod asks for none of its labels` };
}

function reasonOf(by: Misfit): UnhelpedReason {
  switch (by) {
    case 'Resources':
    case 'PodCount':
    case 'AttachLimit':
      return 'TooLarge';
    case 'Spread':
      return 'Spread';
    case 'PodAffinity':
    case 'PodAntiAffinity':
    case 'ExistingAntiAffinity':
    case 'NamespaceUnknown':
      return 'PodAffinity';
    case 'VolumeElsewhere':
      return 'VolumeElsewhere';
    case 'DeviceClaims':
      return 'DeviceClaims';
    case 'ClaimInUse':
      return 'ClaimInUse';
    case 'ClaimMissing':
      return 'ClaimMissing';
    case 'ClaimNotBound':
      return 'ClaimNotBound';
    default:
      return 'NoGroupMatches';
  }
}

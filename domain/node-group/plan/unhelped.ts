/** Why pods that are left get no new node. */
import type { UnhelpedReason } from '../model/plan.ts';
import { explainFit } from '../scheduling/explain.ts';
import type { Misfit } from '../scheduling/misfit.ts';
import { typeKey } from './against.ts';
import { inVainText } from './in-vain.ts';
import type { Offer } from './offers.ts';
import { type Opening, openNew } from './open-nodes.ts';
import type { Work } from './pending.ts';

interface Why {
  readonly reason: UnhelpedReason;
  readonly detail: string;
}

/** The reason that is nearest to a node comes first. */
const NEARNESS: readonly UnhelpedReason[] = [
  'CameInVain',
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

export function whyUnhelped(opening: Opening, work: Work): Why {
  const { blocked } = work.pods.volumes;
  if (blocked !== null) {
    return { reason: blocked.by === 'ClaimMissing' ? 'ClaimMissing' : 'ClaimNotBound', detail: blocked.detail };
  }
  const offers = opening.rosters.flatMap((roster) => roster.offers);
  if (offers.length === 0) {
    return opening.rosters.length === 0
      ? { reason: 'NoGroupMatches', detail: 'there is no NodeGroup' }
      : { reason: 'NoInstanceTypes', detail: 'no NodeGroup has an instance type that can be had' };
  }
  const trial = work.against?.trial ?? null;
  if (trial !== null)
    return { reason: 'FitsUpcoming', detail: `${trial}, and kube-scheduler has not said yet what it does` };
  const all = offers.map((offer) => whyNotOf(opening, work, offer));
  const nearest = (why: Why): number => NEARNESS.indexOf(why.reason);
  return all.reduce((best, why) => (nearest(why) < nearest(best) ? why : best));
}

function whyNotOf(opening: Opening, work: Work, offer: Offer): Why {
  const { packing, opened } = opening;
  const { name } = offer.group;
  const before = opened.get(name) ?? 0;
  const mark = packing.mark();
  const result = explainFit(packing, work.pods, openNew(opening, offer));
  packing.rollback(mark);
  opened.set(name, before);
  const of = `${offer.type.id} of ${name}`;
  if (result.kind === 'misfit') return { reason: reasonOf(result.by), detail: `on a node ${of}: ${result.detail}` };
  const inVain = work.against?.types.get(typeKey(name, offer.type.id));
  if (inVain !== undefined) return { reason: 'CameInVain', detail: inVainText(name, inVain, work) };
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
    case 'ClaimMissing':
      return 'ClaimMissing';
    case 'ClaimNotBound':
      return 'ClaimNotBound';
    default:
      return 'NoGroupMatches';
  }
}

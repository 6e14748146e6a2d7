/** Why pods that are left get no new node. */
import type { UnhelpedReason } from '../model/plan.ts';
import { explainFit, inUse } from '../scheduling/explain.ts';
import type { Misfit } from '../scheduling/misfit.ts';
import type { PodClass } from '../scheduling/packed.ts';
import { usedClaim } from '../scheduling/rules.ts';
import type { Offer } from './offers.ts';
import { type Opening, openNew } from './opening.ts';

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
  'TooManyTerms',
  'VolumeElsewhere',
  'TooLarge',
  'NoGroupMatches',
];

/** Why each of the classes gets no new node. One node of each offer is tried for all of them. */
export function whyUnhelped(opening: Opening, classes: readonly PodClass[]): ReadonlyMap<PodClass, Why> {
  const whys = new Map<PodClass, Why>();
  for (const pods of classes) {
    const why = whyBlocked(pods) ?? whyWithoutOffers(opening);
    if (why !== null) whys.set(pods, why);
  }
  const asked = classes.filter((pods) => !whys.has(pods));
  if (asked.length === 0) return whys;
  const nearness = ({ reason }: Why): number => NEARNESS.indexOf(reason);
  for (const offer of opening.rosters.flatMap(({ offers }) => offers)) {
    for (const [pods, why] of whyNotOf(opening, asked, offer)) {
      const before = whys.get(pods);
      if (before === undefined || nearness(why) < nearness(before)) whys.set(pods, why);
    }
  }
  return whys;
}

function whyWithoutOffers({ rosters }: Opening): Why | null {
  if (rosters.length === 0) return { reason: 'NoGroupMatches', detail: 'there is no NodeGroup' };
  if (rosters.some(({ offers }) => offers.length > 0)) return null;
  return { reason: 'NoInstanceTypes', detail: 'no NodeGroup has an instance type that can be had' };
}

function whyBlocked(pods: PodClass): Why | null {
  const { blocked } = pods.volumes;
  if (blocked === null) {
    const used = usedClaim(pods);
    return used === null ? null : { reason: 'ClaimInUse', detail: inUse(used) };
  }
  return { reason: blocked.by === 'ClaimMissing' ? 'ClaimMissing' : 'ClaimNotBound', detail: blocked.detail };
}

function whyNotOf(opening: Opening, classes: readonly PodClass[], offer: Offer): ReadonlyMap<PodClass, Why> {
  const { packing, opened } = opening;
  const { name } = offer.group;
  const before = opened.get(name) ?? 0;
  const mark = packing.mark();
  const slot = openNew(opening, offer);
  const fitting = whyNotFitting(opening, offer, before);
  const whys = classes.map((pods): readonly [PodClass, Why] => {
    const result = explainFit(packing, pods, slot);
    if (result.kind === 'fits') return [pods, fitting];
    return [pods, { reason: reasonOf(result.by), detail: `on a node ${offer.type.id} of ${name}: ${result.detail}` }];
  });
  packing.rollback(mark);
  opened.set(name, before);
  return new Map(whys);
}

/** Why pods that would fit the node get none. */
function whyNotFitting({ rosters }: Opening, { group, refused }: Offer, opened: number): Why {
  if (refused !== null) return refused;
  const { name, maxNodes, estimate } = group;
  const isFull = opened >= (rosters.find((roster) => roster.group === group)?.room ?? 0);
  if (isFull && estimate === 'simple') return { reason: 'Limited', detail: `${name} adds one node at a time` };
  if (isFull) return { reason: 'AtMaximum', detail: `${name} may have ${maxNodes} nodes and no more` };
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
    case 'TooManyTerms':
      return 'TooManyTerms';
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

/** Why pods that are left get no new node. */
import type { UnhelpedReason } from '../model/plan.ts';
import { explainFit, inUse } from '../scheduling/explain.ts';
import type { Misfit } from '../scheduling/misfit.ts';
import { usedClaim } from '../scheduling/rules.ts';
import { inVainText } from './in-vain.ts';
import { typeKey } from './type-key.ts';
import type { Offer } from './offers.ts';
import { type PlannedNodes, addNode } from './planned-nodes.ts';
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
  'TooManyTerms',
  'VolumeElsewhere',
  'TooLarge',
  'NoGroupMatches',
];

/** Why the pods of each work get no new node. One node of each offer is tried for all of them. */
export function whyUnhelped(plannedNodes: PlannedNodes, works: readonly Work[]): ReadonlyMap<Work, Why> {
  const whys = new Map<Work, Why>();
  for (const work of works) {
    const why = whyBlocked(work) ?? whyWithoutOffers(plannedNodes) ?? whyOnTrial(work);
    if (why !== null) whys.set(work, why);
  }
  const asked = works.filter((work) => !whys.has(work));
  if (asked.length === 0) return whys;
  const nearness = ({ reason }: Why): number => NEARNESS.indexOf(reason);
  for (const offer of plannedNodes.rosters.flatMap(({ offers }) => offers)) {
    for (const [work, why] of whyNotOf(plannedNodes, asked, offer)) {
      const before = whys.get(work);
      if (before === undefined || nearness(why) < nearness(before)) whys.set(work, why);
    }
  }
  return whys;
}

function whyBlocked({ pods }: Work): Why | null {
  const { blocked } = pods.volumes;
  if (blocked === null) {
    const used = usedClaim(pods);
    return used === null ? null : { reason: 'ClaimInUse', detail: inUse(used) };
  }
  return { reason: blocked.by === 'ClaimMissing' ? 'ClaimMissing' : 'ClaimNotBound', detail: blocked.detail };
}

function whyWithoutOffers({ rosters }: PlannedNodes): Why | null {
  if (rosters.length === 0) return { reason: 'NoGroupMatches', detail: 'there is no NodeGroup' };
  if (rosters.some(({ offers }) => offers.length > 0)) return null;
  return { reason: 'NoInstanceTypes', detail: 'no NodeGroup has an instance type that can be had' };
}

function whyOnTrial({ against }: Work): Why | null {
  const trial = against?.trial ?? null;
  if (trial === null) return null;
  return { reason: 'FitsUpcoming', detail: `${trial}, and kube-scheduler has not said yet what it does` };
}

function whyNotOf(plannedNodes: PlannedNodes, works: readonly Work[], offer: Offer): ReadonlyMap<Work, Why> {
  const { packing, added } = plannedNodes;
  const { name } = offer.group;
  const before = added.get(name) ?? 0;
  const mark = packing.mark();
  const slot = addNode(plannedNodes, offer);
  const fitting = whyNotFitting(plannedNodes, offer, before);
  const whys = works.map((work): readonly [Work, Why] => {
    const result = explainFit(packing, work.pods, slot);
    if (result.kind === 'misfit') {
      return [work, { reason: reasonOf(result.by), detail: `on a node ${offer.type.id} of ${name}: ${result.detail}` }];
    }
    const inVain = work.against?.types.get(typeKey(name, offer.type.id));
    return [work, inVain === undefined ? fitting : { reason: 'CameInVain', detail: inVainText(name, inVain, work) }];
  });
  packing.rollback(mark);
  added.set(name, before);
  return new Map(whys);
}

/** Why pods that would fit the node get none. */
function whyNotFitting({ rosters }: PlannedNodes, { group, refused }: Offer, added: number): Why {
  if (refused !== null) return refused;
  const { name, maxNodes, estimate } = group;
  const isFull = added >= (rosters.find((roster) => roster.group === group)?.room ?? 0);
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

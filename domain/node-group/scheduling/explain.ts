import type { FitResult, Misfit } from './misfit.ts';
import { untolerated } from './node-selection.ts';
import type { Packing } from './packing.ts';
import type { PodClass } from './packed.ts';
import { isScarce, overLimit, takenPort, usedClaim } from './rules.ts';
import type { Slot } from './packed.ts';

/** Whether one more of these pods fits the node, with a few words about why it does not. */
export function explainFit(packing: Packing, pods: PodClass, slot: Slot): FitResult {
  const by = packing.misfit(pods, slot);
  return by === null ? { kind: 'fits' } : { kind: 'misfit', by, detail: detailOf(by, packing, pods, slot) };
}

function detailOf(by: Misfit, packing: Packing, pods: PodClass, slot: Slot): string {
  const { constraints, volumes } = pods;
  switch (by) {
    case 'Cordoned':
      return 'the node is cordoned';
    case 'Taint':
      return `it does not tolerate the taint ${untolerated(constraints.tolerations, slot.taints)?.key ?? ''}`;
    case 'NodeSelector':
      return 'the labels of the node are not those that it asks for';
    case 'PodCount':
      return `the node holds ${slot.maxPods} pods and no more`;
    case 'Resources':
      return `the node has too little ${scarce(packing, pods, slot)}`;
    case 'HostPorts':
      return `its host port ${takenPort(constraints.hostPorts, slot)?.port ?? ''} is taken`;
    case 'ClaimMissing':
    case 'ClaimNotBound':
      return volumes.blocked?.detail ?? '';
    case 'ClaimInUse':
      return inUse(usedClaim(pods) ?? '');
    case 'VolumeElsewhere': {
      const place = volumes.places.find(({ allows }) => !allows(slot.labels, slot.name));
      return `the volume of its PersistentVolumeClaim ${place?.claim ?? ''} cannot be used there`;
    }
    case 'AttachLimit':
      return `no more volumes of ${overLimit(pods, slot) ?? ''} can be attached`;
    case 'DeviceClaims':
      return 'it claims devices, which are not simulated';
    case 'TooManyTerms':
      return setAsideDetail(packing, pods, slot);
    default:
      return topologyDetail(by, pods, slot);
  }
}

/** Why a pod waits for a claim with the access mode ReadWriteOncePod. */
export function inUse(claim: string): string {
  return `another pod uses its PersistentVolumeClaim ${claim}, which one may use at a time (ReadWriteOncePod)`;
}

function topologyDetail(by: Misfit, { spread, affinity, antiAffinity, unclear }: PodClass, slot: Slot): string {
  if (by === 'NamespaceUnknown') {
    return `a namespaceSelector asks for the labels of the namespace ${unclear ?? ''}, which are not known`;
  }
  if (by === 'Spread') {
    const keys = spread.map(({ constraint }) => constraint.topologyKey);
    return `it would be spread unevenly over ${[...new Set(keys)].join(' and ')}`;
  }
  if (by === 'PodAffinity') {
    const missing = affinity?.tallies.find((tally) => tally.at(slot) === 0)?.topologyKey;
    return `no pod that its affinity asks for is in the same ${missing ?? 'topology'}`;
  }
  if (by === 'PodAntiAffinity') {
    const taken = antiAffinity.find((tally) => tally.at(slot) > 0)?.topologyKey;
    return `a pod that its anti-affinity keeps away is in the same ${taken ?? 'topology'}`;
  }
  return 'the anti-affinity of a pod keeps it away';
}

/** Why a pod is set aside, or may be kept away by pods that are. */
function setAsideDetail(packing: Packing, { setAside }: PodClass, slot: Slot): string {
  return setAside?.why ?? `${packing.whyClosed(slot) ?? ''}; those that run there could keep it away`;
}

function scarce(packing: Packing, { requests }: PodClass, slot: Slot): string {
  const found = requests.filter(([resource, amount]) => isScarce(slot, resource, amount));
  return found.map(([resource]) => packing.classes.resourceName(resource)).join(' and ');
}

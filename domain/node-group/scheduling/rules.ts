/** kube-scheduler's filters, each for a class of pods and a node of a packing; the order is the one that costs least. */
import { ownValue } from '../../kernel/record.ts';
import type { HostPort } from '../model/pod.ts';
import type { Misfit } from './misfit.ts';
import { matchesNode, toleratesCordon, untolerated } from './node-selection.ts';
import type { PodClass, Slot, SpreadRule } from './packed.ts';

/** The rule that keeps the pods from the node; null where one of them fits. */
export function misfitOf(pods: PodClass, slot: Slot): Misfit | null {
  return pods.byShape[slot.shape] === null ? changing(pods, slot) : (shapeMisfit(pods, slot) ?? changing(pods, slot));
}

/** What is true of the node whatever is on it, remembered by its shape. */
function shapeMisfit(pods: PodClass, slot: Slot): Misfit | null {
  let known = pods.byShape[slot.shape];
  if (known === undefined) {
    known = unchanging(pods, slot);
    pods.byShape[slot.shape] = known;
  }
  return known;
}

function unchanging({ constraints, volumes }: PodClass, slot: Slot): Misfit | null {
  if (constraints.claimsDevices) return 'DeviceClaims';
  if (volumes.blocked !== null) return volumes.blocked.by;
  if (slot.isCordoned && !toleratesCordon(constraints.tolerations)) return 'Cordoned';
  if (untolerated(constraints.tolerations, slot.taints) !== null) return 'Taint';
  if (!matchesNode(constraints, slot.labels, slot.name)) return 'NodeSelector';
  if (volumes.places.some(({ allows }) => !allows(slot.labels, slot.name))) return 'VolumeElsewhere';
  return null;
}

function changing(pods: PodClass, slot: Slot): Misfit | null {
  if (slot.podCount >= slot.maxPods) return 'PodCount';
  const { requests, constraints, volumes } = pods;
  for (const [resource, amount] of requests) {
    if (isScarce(slot, resource, amount)) return 'Resources';
  }
  if (constraints.hostPorts.length > 0 && takenPort(constraints.hostPorts, slot) !== null) return 'HostPorts';
  if (usedClaim(pods) !== null) return 'ClaimInUse';
  if (volumes.attachments.length > 0 && slot.attachLimits !== null && overLimit(pods, slot) !== null) {
    return 'AttachLimit';
  }
  return topologyMisfit(pods, slot);
}

/** A resource that a pod asks for less than nothing of is never in its way. */
export function isScarce({ free }: Slot, resource: number, amount: number): boolean {
  return amount > 0 && amount > (free[resource] ?? 0);
}

function topologyMisfit(pods: PodClass, slot: Slot): Misfit | null {
  const { spread, affinity, antiAffinity, keptAwayBy, setAside, unclear } = pods;
  if (setAside !== null) return 'TooManyTerms';
  if (unclear !== null) return 'NamespaceUnknown';
  for (const { constraint, tally, self } of spread) {
    if (ownValue(slot.labels, constraint.topologyKey) === undefined) return 'NodeSelector';
    if (tally.at(slot) + self - leastOf(constraint, tally) > constraint.maxSkew) return 'Spread';
  }
  if (affinity !== null) {
    const { tallies, matchesItself } = affinity;
    if (tallies.some(({ topologyKey }) => ownValue(slot.labels, topologyKey) === undefined)) return 'PodAffinity';
    const isFirst = matchesItself && tallies.every(({ total }) => total === 0);
    if (!isFirst && tallies.some((tally) => tally.at(slot) === 0)) return 'PodAffinity';
  }
  for (const tally of antiAffinity) if (tally.at(slot) > 0) return 'PodAntiAffinity';
  for (const tally of keptAwayBy) if (tally.at(slot) > 0) return 'ExistingAntiAffinity';
  return null;
}

/** How many pods the emptiest domain has; nothing where there are fewer domains than the constraint wants. */
export function leastOf({ minDomains = 1 }: SpreadRule['constraint'], tally: SpreadRule['tally']): number {
  return tally.domainCount < minDomains ? 0 : tally.least;
}

/** The port that another pod on the node has; null where all are free. */
export function takenPort(ports: readonly HostPort[], { ports: taken }: Pick<Slot, 'ports'>): HostPort | null {
  const anywhere = '0.0.0.0';
  const found = ports.find((port) =>
    taken.some(
      (other) =>
        other.port === port.port &&
        other.protocol === port.protocol &&
        (other.ip === port.ip || other.ip === anywhere || port.ip === anywhere),
    ),
  );
  return found ?? null;
}

/** A claim of one pod at a time that a pod has already, on whatever node; null where all are free. */
export function usedClaim({ volumes }: PodClass): string | null {
  return volumes.onePodClaims.find(({ podCount }) => podCount > 0)?.claim ?? null;
}

/** The CSI driver that could not attach the volumes; null where all could be. */
export function overLimit({ volumes }: PodClass, { attached, attachedByDriver, attachLimits }: Slot): string | null {
  const more = new Map<string, Set<string>>();
  for (const { driver, unique } of volumes.attachments) {
    if (attached.has(unique)) continue;
    const ofDriver = more.get(driver) ?? new Set();
    more.set(driver, ofDriver.add(unique));
  }
  for (const [driver, { size }] of more) {
    const limit = attachLimits === null ? undefined : ownValue(attachLimits, driver);
    if (limit !== undefined && (attachedByDriver.get(driver) ?? 0) + size > limit) return driver;
  }
  return null;
}

/**
 * What a denied workload still lacks of a quota: its missing replicas (and claims, and Jobs) × what admission would
 * charge for one of them. A denial's message describes one pod at one moment, but the owner describes the current
 * state.
 */
import {
  addLists,
  exceededKeys,
  maskList,
  maxLists,
  multiplyList,
  type ResourceList,
  subtractListsToZero,
  withoutZeros,
} from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { claimCharge } from '../../quota-usage/volume-claim-charge.ts';
import { deviceCharge, isDeviceResource, type ResourceClaim } from '../../quota-usage/resource-claim-charge.ts';
import { objectCharge } from '../../quota-usage/object-count.ts';
import { namesOfCharge, podCharge } from '../../quota-usage/pod-charge.ts';
import type { Pod } from '../../quota-usage/pod.ts';
import { claimInScopes, countsOtherObjects, podInScopes, type QuotaScopes } from '../../quota-usage/scopes.ts';
import type { AdmissionDenial } from './event-message.ts';
import type { TemplateAge } from './owner.ts';
import type { Missing } from './missing.ts';
import type { WorkloadDemand, WorkloadRef } from '../model/observation.ts';
import { type PodDefaults, storedClaim, storedPod } from './stored-object.ts';

/** The quota that demand is computed for, and what else decides the charge. */
export interface ChargingQuota extends PodDefaults {
  readonly name: string;
  readonly hard: ResourceList;
  readonly scopes: QuotaScopes;
  /**
   * The specs of resource claims, by the name of their ResourceClaimTemplate; templates that do not exist are missing.
   */
  readonly claimTemplates: Readonly<Record<string, Pick<ResourceClaim, 'spec'>>>;
  /** The class that admission assigns to a volume claim without one. */
  readonly defaultStorageClass: string | null;
}

/** A denial for lack of room, by any quota of the namespace, and when it was last seen. */
export interface SeenDenial {
  readonly denial: AdmissionDenial & { readonly class: 'exceededQuota' };
  readonly lastSeen: EpochMs;
}

/** A workload and its denials, by any quota of the namespace. */
export interface DeniedWorkload {
  readonly workload: WorkloadRef;
  readonly denials: readonly SeenDenial[];
  /** The age of the workload's template: an earlier denial was about another template. */
  readonly template: TemplateAge;
}

/**
 * The demand of a workload whose owner was read; null when this quota counts nothing of what is missing, or when no
 * denial was about the present template. One missing object is charged what a denial named, because a webhook may have
 * made it larger or smaller than its template, and what its template gives of everything else.
 */
export function demandOfMissing(
  quota: ChargingQuota,
  { workload, denials, template }: DeniedWorkload,
  missing: readonly Missing[],
): WorkloadDemand | null {
  const remaining = remainingDenials(denials, template);
  if (remaining === null) return null;
  const denied = { ...remaining, workload };
  const lastSeen = Math.max(...denied.denials.map((denial) => denial.lastSeen));
  const charged = missing
    .filter((object) => object.count > 0)
    .flatMap(withDevices)
    .map((object) => ({ ...object, charge: withoutZeros(chargeOfOne(quota, denied, object, lastSeen)) }))
    .filter((object) => Object.keys(object.charge).length > 0);
  const total = withoutZeros(
    charged.reduce<ResourceList>((sum, object) => addLists(sum, chargeOfAll(quota, object, lastSeen)), {}),
  );
  if (Object.keys(total).length === 0) return null;
  const pods = charged.filter((object) => object.of === 'pod');
  const [first] = pods;
  return {
    workload,
    basis: 'workload',
    missing: (pods.length > 0 ? pods : charged).reduce((sum, object) => sum + object.count, 0),
    surge: Math.min(first?.surge ?? 0, first?.count ?? 0),
    ...laterOf(first),
    total,
    lastSeen,
  };
}

/** The denials of a workload that count. */
interface RemainingDenials {
  readonly workload: WorkloadRef;
  readonly denials: readonly SeenDenial[];
  /** Whether they were about the present template. If not, they may have been, and count for what they named alone. */
  readonly areOfTemplate: boolean;
}

/**
 * The denials that were about the present template, or otherwise those that may have been. Times are whole seconds, so
 * a denial in the second of the write may have been about either. Null when all of them were about an earlier template.
 */
function remainingDenials(
  denials: readonly SeenDenial[],
  { since, isExact }: TemplateAge,
): Pick<RemainingDenials, 'denials' | 'areOfTemplate'> | null {
  const after = denials.filter(({ lastSeen }) => since === null || lastSeen > since);
  if (after.length > 0) return { denials: after, areOfTemplate: true };
  const perhaps = denials.filter(({ lastSeen }) => !isExact || lastSeen === since);
  return perhaps.length === 0 ? null : { denials: perhaps, areOfTemplate: false };
}

/** Missing resource claims, by the name of their ResourceClaimTemplate. */
interface MissingDevices {
  readonly of: 'devices';
  readonly count: number;
  readonly template: string;
}

type Chargeable = Missing | MissingDevices;

/**
 * The templates of the resource claims that are created for each of these pods; a claim that a pod refers to by name
 * exists already.
 */
export function claimTemplatesOf(missing: Missing): readonly string[] {
  if (missing.of !== 'pod') return [];
  return (missing.spec.resourceClaims ?? []).flatMap(({ resourceClaimTemplateName: name }) =>
    name === undefined ? [] : [name],
  );
}

function withDevices(missing: Missing): readonly Chargeable[] {
  const { count } = missing;
  return [missing, ...claimTemplatesOf(missing).map((template) => ({ of: 'devices', count, template }) as const)];
}

/** How many pods a rolling update will replace after those that are missing now. */
function laterOf(missing: Chargeable | undefined): Pick<WorkloadDemand, 'later'> {
  if (missing?.of !== 'pod' || missing.rollout === undefined) return {};
  const later = missing.rollout.replicas - missing.rollout.updated.length - missing.count;
  return later > 0 ? { later } : {};
}

/**
 * The charge of everything missing. For a rolling update to larger pods this is more than what is missing now: it is
 * the peak that old and new pods are charged together, minus their current charge. What pods that leave will free is not
 * needed anew.
 */
function chargeOfAll(
  quota: ChargingQuota,
  missing: Chargeable & { readonly charge: ResourceList },
  now: EpochMs,
): ResourceList {
  const { charge, count } = missing;
  const ofMissing = multiplyList(charge, count);
  if (missing.of !== 'pod') return ofMissing;
  const chargesOf = (pods: readonly Pod[]): readonly ResourceList[] =>
    pods.filter((pod) => podInScopes(quota.scopes, pod)).map((pod) => podCharge(pod, now));
  const freed = chargesOf(missing.leaving ?? []).reduce<ResourceList>((sum, list) => addLists(sum, list), {});
  const atOnce = maskList(subtractListsToZero(ofMissing, freed), Object.keys(charge));
  if (missing.rollout === undefined) return atOnce;
  const { replicas, maxSurge, updated, outdated } = missing.rollout;
  const old = chargesOf(outdated);
  const largest = old.reduce<ResourceList>((max, charge) => maxLists(max, charge), {});
  const atItsPeak = addLists(multiplyList(charge, replicas), multiplyList(largest, Math.min(old.length, maxSurge)));
  const already = [...chargesOf(updated), ...old].reduce<ResourceList>((sum, charge) => addLists(sum, charge), {});
  return maskList(maxLists(atOnce, subtractListsToZero(atItsPeak, already)), Object.keys(charge));
}

/**
 * The demand of a workload whose owner cannot be read: what the newest denial of each kind of object requested. Null
 * when this quota counts none of it.
 */
export function demandOfMessages(quota: ChargingQuota, denied: DeniedWorkload): WorkloadDemand | null {
  // A denial by another quota counts here only if this quota counts every object: without the object its scopes cannot
  // be checked.
  const newest = newestDenials(denied.denials).filter(
    (seen) => seen.denial.quota === quota.name || countsOtherObjects(quota.scopes),
  );
  // Two quotas may deny the same object one after the other, so only the larger request for each resource counts.
  const byKind = Map.groupBy(newest, (seen) => seen.denial.resource ?? '');
  const keys = Object.keys(quota.hard);
  const total = [...byKind.values()].reduce<ResourceList>(
    (sum, kind) => addLists(sum, maskList(requestedOf(kind), keys)),
    {},
  );
  if (Object.keys(withoutZeros(total)).length === 0) return null;
  const lastSeen = Math.max(...newest.map((seen) => seen.lastSeen));
  return { workload: denied.workload, basis: 'message', missing: 1, surge: 0, total: withoutZeros(total), lastSeen };
}

/** The last seen denial for each quota and kind of object. */
function newestDenials(denials: readonly SeenDenial[]): readonly SeenDenial[] {
  const newest = new Map<string, SeenDenial>();
  for (const seen of denials) {
    const key = `${seen.denial.quota} ${seen.denial.resource ?? ''}`;
    const existing = newest.get(key);
    if (existing === undefined || seen.lastSeen > existing.lastSeen) newest.set(key, seen);
  }
  return [...newest.values()];
}

/** What one object requested according to its denials, under every name that a quota may limit it by. */
function requestedOf(denials: readonly SeenDenial[]): ResourceList {
  return denials.reduce<ResourceList>((list, { denial }) => {
    const byEveryName = Object.entries(denial.requested).flatMap(([name, amount]) =>
      namesOfCharge(name).map((key) => [key, amount] as const),
    );
    return maxLists(list, Object.fromEntries(byEveryName));
  }, {});
}

/**
 * What the quota charges for one missing object: what a denial named, and of every other resource what is calculated.
 * Empty when the quota does not count the object.
 */
function chargeOfOne(quota: ChargingQuota, denied: RemainingDenials, missing: Chargeable, now: EpochMs): ResourceList {
  const seenHere = newestDenials(denied.denials.filter((seen) => isAbout(seen, missing)));
  // An object that this quota itself denied is counted by it, whatever the template and the scopes suggest.
  const isDeniedHere = seenHere.some((seen) => seen.denial.quota === quota.name);
  const { counts, charge } = calculatedCharge(quota, missing, now);
  if (!counts && !isDeniedHere) return {};
  const requested = requestedOf(seenHere);
  const keys = Object.keys(quota.hard);
  if (missing.of === 'pod' && missing.isOfEarlierTemplate === true) return maskList(requested, keys);
  if (denied.areOfTemplate) return { ...maskList(charge, keys), ...maskList(requested, keys) };
  // What needs more than was denied is not what was denied.
  const isLarger = exceededKeys(charge, requested).length > 0;
  return isLarger ? {} : maskList(maskList(charge, Object.keys(requested)), keys);
}

/** Whether the denial was about an object like the missing one. */
function isAbout({ denial }: SeenDenial, missing: Chargeable): boolean {
  switch (missing.of) {
    case 'pod':
      return denial.resource === 'pods' && denial.group === undefined;
    case 'claim':
      // The claims of a StatefulSet are named `<template>-<pod>`.
      return (
        denial.resource === 'persistentvolumeclaims' &&
        denial.claim === `${missing.claim.metadata?.name ?? ''}-${denial.pod ?? ''}`
      );
    case 'devices':
      // A resource claim is created after its pod, so a denied pod means there was no request for the claim.
      return false;
    case 'object':
      return denial.resource === missing.resource && (denial.group ?? '') === missing.group;
  }
}

/** What Kubernetes' rules charge for one missing object, and whether the quota's scopes match it. */
function calculatedCharge(
  quota: ChargingQuota,
  missing: Chargeable,
  now: EpochMs,
): { readonly counts: boolean; readonly charge: ResourceList } {
  if (missing.of === 'object') {
    return { counts: countsOtherObjects(quota.scopes), charge: objectCharge(missing.resource, missing.group) };
  }
  if (missing.of === 'claim') {
    const claim = storedClaim(missing.claim, quota.defaultStorageClass);
    return { counts: claimInScopes(quota.scopes, claim), charge: claimCharge(claim) };
  }
  if (missing.of === 'devices') {
    const claim = quota.claimTemplates[missing.template];
    const charge = claim === undefined ? {} : deviceCharge(claim, { ...NO_CLASSES, now, podNamed: () => undefined });
    return { counts: countsOtherObjects(quota.scopes), charge };
  }
  const pod = storedPod(missing.spec, quota);
  return { counts: podInScopes(quota.scopes, pod), charge: podCharge(pod, now) };
}

/**
 * An extended resource that is backed by a device class is charged to pods; here resource claims are charged by their
 * class only.
 */
const NO_CLASSES = { deviceClasses: new Map<string, string | null>(), extendedClaims: false };

/** Whether a limit is about resource claims. */
export function countsResourceClaims(resource: string): boolean {
  return isDeviceResource(resource, NO_CLASSES);
}

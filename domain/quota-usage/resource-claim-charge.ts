/**
 * What a ResourceQuota charges for one resource claim (dynamic resource allocation), as in Kubernetes 1.35: the devices
 * it may get, by class, and under the names of the extended resources of the classes.
 */
import { QuantityError, quantityOf, subtractQuantities } from '../kernel/quantity.ts';
import { quantityIn, type ResourceList, resourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { MatchContext, UsageContext } from './evaluator.ts';
import type { Pod } from './pod.ts';
import { readablePart } from './readable-part.ts';
import { DEVICE_CLASS_PREFIX, isExtendedQuotaName, cachedPodCharge } from './pod-charge.ts';

interface DeviceAsk {
  readonly deviceClassName?: string | undefined;
  /** ExactCount, which is the API's default, or All. */
  readonly allocationMode?: string | undefined;
  /** The API's default is 1. */
  readonly count?: number | undefined;
}

/** A ResourceClaim of resource.k8s.io/v1 in the shape of Kubernetes' JSON. */
export interface ResourceClaim {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
        readonly ownerReferences?:
          | readonly {
              readonly apiVersion?: string | undefined;
              readonly kind?: string | undefined;
              readonly name?: string | undefined;
              readonly uid?: string | undefined;
              readonly controller?: boolean | undefined;
            }[]
          | undefined;
      }
    | undefined;
  readonly spec?:
    | {
        readonly devices?:
          | {
              readonly requests?:
                | readonly {
                    readonly exactly?: DeviceAsk | undefined;
                    /** The scheduler takes the first one that is available. */
                    readonly firstAvailable?: readonly DeviceAsk[] | undefined;
                  }[]
                | undefined;
            }
          | undefined;
      }
    | undefined;
}

const CLAIM_COUNT = 'count/resourceclaims.resource.k8s.io';
const CLASS_SUFFIX = '.deviceclass.resource.k8s.io/devices';

/** A claim cannot get more devices than this (AllocationResultsMaxSize), so "all of them" is charged as this number. */
const MOST_DEVICES = 32;

/** The scheduler annotates the claims that it creates for a pod's extended resources with it. */
const EXTENDED_CLAIM_ANNOTATION = 'resource.kubernetes.io/extended-resource-claim';

/** Whether claims may be charged under this name, depending on what device classes there are. */
export function mayStandForDevices(name: string, { extendedClaims }: MatchContext): boolean {
  return extendedClaims !== false && isExtendedQuotaName(name);
}

/** Whether claims are charged under this name. */
export function isDeviceResource(name: string, context: MatchContext): boolean {
  if (name === CLAIM_COUNT || name.endsWith(CLASS_SUFFIX)) {
    return true;
  }
  if (!mayStandForDevices(name, context)) {
    return false;
  }
  const resource = name.slice('requests.'.length);
  return resource.startsWith(DEVICE_CLASS_PREFIX)
    ? context.deviceClasses.has(resource.slice(DEVICE_CLASS_PREFIX.length))
    : [...context.deviceClasses.values()].includes(resource);
}

function devicesOf({ allocationMode = 'ExactCount', count = 1 }: DeviceAsk): number {
  switch (allocationMode) {
    case 'ExactCount':
      return count;
    case 'All':
      return MOST_DEVICES;
    default:
      // A mode of a later Kubernetes, whose charge is unknown.
      return 0;
  }
}

/** The most devices of each class that the claim may be given. */
function devicesByClass(claim: ResourceClaim): ReadonlyMap<string, number> {
  const devices = new Map<string, number>();
  const add = (name: string, count: number) => devices.set(name, (devices.get(name) ?? 0) + count);
  for (const { exactly, firstAvailable = [] } of claim.spec?.devices?.requests ?? []) {
    if (firstAvailable.length > 0) {
      const most = new Map<string, number>();
      for (const ask of firstAvailable) {
        const name = ask.deviceClassName ?? '';
        most.set(name, Math.max(most.get(name) ?? 0, devicesOf(ask)));
      }
      most.forEach((count, name) => count > 0 && add(name, count));
    } else if (exactly !== undefined) {
      add(exactly.deviceClassName ?? '', devicesOf(exactly));
    }
  }
  return devices;
}

/** The pod that the scheduler made the claim for; undefined for any other claim. */
function ownerOf(claim: ResourceClaim, podNamed: UsageContext['podNamed']): Pod | undefined {
  const { annotations, ownerReferences = [], name } = claim.metadata ?? {};
  const owner = ownerReferences.find((reference) => reference.controller === true);
  if (annotations?.[EXTENDED_CLAIM_ANNOTATION] !== 'true' || owner?.kind !== 'Pod' || owner.apiVersion !== 'v1') {
    return undefined;
  }
  const pod = podNamed(owner.name ?? '');
  const itsClaim = pod?.status?.extendedResourceClaimStatus;
  return pod?.metadata?.uid === owner.uid && (itsClaim === undefined || itsClaim.resourceClaimName === name)
    ? pod
    : undefined;
}

/** What the pod is charged itself. A name of which it has an unreadable amount is not counted from the pods' side. */
function chargeOfOwner(owner: Pod, now: EpochMs): ResourceList {
  try {
    return cachedPodCharge(owner, now);
  } catch (error) {
    if (!(error instanceof QuantityError)) throw error;
    return cachedPodCharge(readablePart(owner).object, now);
  }
}

/** The devices under the names of the extended resources that their classes stand for. */
function extendedDevices(
  devices: ReadonlyMap<string, number>,
  deviceClasses: UsageContext['deviceClasses'],
): ReadonlyMap<string, number> {
  const extended = new Map<string, number>();
  for (const [name, count] of devices) {
    if (name !== '') {
      extended.set(`requests.${DEVICE_CLASS_PREFIX}${name}`, count);
      const resource = deviceClasses.get(name) ?? null;
      if (resource !== null) {
        // Two classes with the same name in one claim: Kubernetes counts a random one; here the larger one counts.
        const key = `requests.${resource}`;
        extended.set(key, Math.max(extended.get(key) ?? 0, count));
      }
    }
  }
  return extended;
}

/**
 * The charge of a claim under every name that a quota may use. For a claim that was created for a pod's extended
 * resources, only the part that the pod is not charged.
 */
export function deviceCharge(claim: ResourceClaim, context: UsageContext): ResourceList {
  const devices = devicesByClass(claim);
  const byClass = [...devices].map(([name, count]) => [name + CLASS_SUFFIX, quantityOf(BigInt(count))] as const);
  const charge = resourceList([[CLAIM_COUNT, quantityOf(1n)], ...byClass]);
  if (context.extendedClaims === false) {
    return charge;
  }
  const owner = ownerOf(claim, context.podNamed);
  const ofOwner = owner === undefined ? {} : chargeOfOwner(owner, context.now);
  const extended = [...extendedDevices(devices, context.deviceClasses)]
    .map(([name, count]) => [name, subtractQuantities(quantityOf(BigInt(count)), quantityIn(ofOwner, name))] as const)
    .filter(([, rest]) => rest.nano > 0n);
  return { ...charge, ...resourceList(extended) };
}

/** Whether a change of the claim may change its charge; its spec never changes. */
export function changesDevices(before: ResourceClaim, after: ResourceClaim): boolean {
  const deciding = ({ metadata, spec }: ResourceClaim) =>
    JSON.stringify([
      metadata?.annotations?.[EXTENDED_CLAIM_ANNOTATION],
      metadata?.ownerReferences?.find((reference) => reference.controller === true)?.uid,
      [...devicesByClass({ spec })],
    ]);
  return deciding(before) !== deciding(after);
}

/** What one persistent volume claim is charged by a ResourceQuota, as Kubernetes 1.35 counts it. */
import { formatQuantity, maxQuantity, parseQuantity, roundUp } from '../kernel/quantity.ts';
import type { ResourceList } from '../kernel/resource-list.ts';

/** A PersistentVolumeClaim in the shape of Kubernetes' JSON. */
export interface Claim {
  readonly metadata?:
    | {
        readonly name?: string | undefined;
        readonly namespace?: string | undefined;
        readonly annotations?: Readonly<Record<string, string>> | undefined;
      }
    | undefined;
  readonly spec?:
    | {
        readonly resources?: { readonly requests?: ResourceList | undefined } | undefined;
        readonly storageClassName?: string | undefined;
        readonly volumeAttributesClassName?: string | undefined;
      }
    | undefined;
  readonly status?:
    | {
        readonly allocatedResources?: ResourceList | undefined;
        readonly currentVolumeAttributesClassName?: string | undefined;
        readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string | undefined } | undefined;
      }
    | undefined;
}

/** The annotation for the storage class before there was a field; it still takes precedence. */
const CLASS_ANNOTATION = 'volume.beta.kubernetes.io/storage-class';

/** Per-class keys are `<class>` + this suffix + the key for all classes. */
const CLASS_SUFFIX = '.storageclass.storage.k8s.io/';

/** Whether claims are charged under this name, of whatever storage class. */
export function isClaimResource(name: string): boolean {
  return (
    name === 'count/persistentvolumeclaims' ||
    ['persistentvolumeclaims', 'requests.storage'].some(
      (resource) => name === resource || name.endsWith(CLASS_SUFFIX + resource),
    )
  );
}

function storageClassOf(claim: Claim): string {
  return claim.metadata?.annotations?.[CLASS_ANNOTATION] ?? claim.spec?.storageClassName ?? '';
}

/** Whole bytes: the request, or the allocated storage after an expansion if that is more. */
function storageOf(claim: Claim): string | undefined {
  const requested = claim.spec?.resources?.requests?.['storage'];
  if (requested === undefined) {
    return undefined;
  }
  const allocated = claim.status?.allocatedResources?.['storage'] ?? requested;
  return formatQuantity(roundUp(maxQuantity(parseQuantity(requested), parseQuantity(allocated)), 0));
}

/**
 * The charge of a claim under every name that a quota may use. A claim without a class is charged to no class: the
 * caller fills in the default class first, as admission does.
 */
export function claimCharge(claim: Claim): ResourceList {
  const storageClass = storageClassOf(claim);
  const storage = storageOf(claim);
  const ofAll: ResourceList = {
    persistentvolumeclaims: '1',
    ...(storage === undefined ? {} : { 'requests.storage': storage }),
  };
  const ofClass =
    storageClass === ''
      ? []
      : Object.entries(ofAll).map(([name, amount]) => [storageClass + CLASS_SUFFIX + name, amount]);
  return { 'count/persistentvolumeclaims': '1', ...ofAll, ...Object.fromEntries(ofClass) };
}

/** The names under which the claim's storage is charged, which is the only amount that a claim has. */
export function namesOfStorage(claim: Claim): readonly string[] {
  const storageClass = storageClassOf(claim);
  return ['requests.storage', ...(storageClass === '' ? [] : [`${storageClass}${CLASS_SUFFIX}requests.storage`])];
}

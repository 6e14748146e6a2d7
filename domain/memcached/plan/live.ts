/** What is read of an object that a Memcached may own. */
import { isRecord } from '../../kernel/record.ts';
import { APPLIED, SECRET_HASH, TAKEN_OVER } from '../api/names.ts';
import { isApplied, isOurAnnotation } from '../children/managed-fields.ts';
import type { DeploymentCounts } from '../status/conditions.ts';

type Fields = Readonly<Record<string, unknown>>;

/** An object of the cluster, as JSON. */
export interface LiveObject extends Fields {
  readonly metadata?: Fields;
  readonly spec?: Fields;
  readonly status?: Fields;
}

/** The annotation with which a schedule says that it put an object to sleep: its replicas or bounds are its own then. */
const ASLEEP = 'lightsout.techsupport.mk/managed-by';

export function uidOf({ metadata }: LiveObject): string {
  const uid = metadata?.['uid'];
  return typeof uid === 'string' ? uid : '';
}

/** Whether the Memcached with this UID controls it. */
export function isOwnedBy({ metadata }: LiveObject, ownerUid: string): boolean {
  const owners: readonly unknown[] = Array.isArray(metadata?.['ownerReferences']) ? metadata['ownerReferences'] : [];
  return owners.some((owner) => isRecord(owner) && owner['controller'] === true && owner['uid'] === ownerUid);
}

/** The version of the API that its owner reference names; undefined where this Memcached is not its owner. */
export function ownerVersion({ metadata }: LiveObject, ownerUid: string): string | undefined {
  const owners: readonly unknown[] = Array.isArray(metadata?.['ownerReferences']) ? metadata['ownerReferences'] : [];
  const owner = owners.find((reference) => isRecord(reference) && reference['uid'] === ownerUid);
  const version = isRecord(owner) ? owner['apiVersion'] : undefined;
  return typeof version === 'string' ? version : undefined;
}

export function isBeingDeleted({ metadata }: LiveObject): boolean {
  return metadata?.['deletionTimestamp'] !== undefined;
}

/** The schedule that put it to sleep; null while it is awake. */
export function asleepBy({ metadata }: LiveObject): string | null {
  const annotations = metadata?.['annotations'];
  const schedule = isRecord(annotations) ? annotations[ASLEEP] : undefined;
  return typeof schedule === 'string' ? schedule : null;
}

/** The hash of Secrets that the pods of a Deployment have; empty where they have none. */
export function secretHashOf(deployment: LiveObject | null): string {
  const hash = ['template', 'metadata', 'annotations', SECRET_HASH].reduce<unknown>(
    (value, key) => (isRecord(value) ? value[key] : undefined),
    deployment?.spec,
  );
  return typeof hash === 'string' ? hash : '';
}

/**
 * Whether the pods of a Deployment are still to be as another operator made them: it has not been applied by Headroom, or not since
 * this generation of its Memcached. What people write into its annotations, or take off, changes nothing of that.
 */
export function isTakenOver({ metadata }: LiveObject, generation: number): boolean {
  const annotations = isRecord(metadata?.['annotations']) ? metadata['annotations'] : {};
  const managedFields = metadata?.['managedFields'];
  const isOurs = isApplied(managedFields);
  if (!(isOurs ?? annotations[APPLIED] !== undefined)) return true;
  if (annotations[TAKEN_OVER] !== String(generation)) return false;
  return isOurs === null || isOurAnnotation(managedFields, TAKEN_OVER);
}

export function replicasOf({ spec }: LiveObject): number {
  return numberIn(spec, 'replicas', 1);
}

/**
 * The counts of a Deployment. Until its controller has seen the newest template, no pod of it counts as updated, because the
 * count is of the pods of the one before.
 */
export function countsOf({ metadata, status }: LiveObject): DeploymentCounts {
  const isSeen = numberIn(status, 'observedGeneration', 0) >= numberIn(metadata, 'generation', 0);
  return {
    replicas: numberIn(status, 'replicas', 0),
    readyReplicas: numberIn(status, 'readyReplicas', 0),
    updatedReplicas: isSeen ? numberIn(status, 'updatedReplicas', 0) : 0,
  };
}

function numberIn(fields: Fields | undefined, key: string, absent: number): number {
  const value = fields?.[key];
  return typeof value === 'number' ? value : absent;
}

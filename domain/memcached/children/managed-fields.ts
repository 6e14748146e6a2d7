/** How the fields of an object pass from the operator that made it to Headroom's field managers. */
import { isRecord } from '../../kernel/record.ts';
import { FIELD_MANAGER, REPLICAS_MANAGER } from '../api/names.ts';

type Entry = Readonly<Record<string, unknown>>;

/**
 * The managed fields with those of the former operator as applied by Headroom, so that a field which Headroom does not apply goes, and
 * what others own stays. The former operator is whoever wrote the owner reference. `spec.replicas` of a Deployment gets a manager of
 * its own: with the others, the next apply would drop it, and the API server would set it to 1.
 *
 * @param managedFields of the object as it is.
 * @param ownerUid of the Memcached.
 * @returns null where there is nothing to pass on.
 */
export function passedOn(managedFields: unknown, ownerUid: string): readonly Entry[] | null {
  const entries: readonly unknown[] = Array.isArray(managedFields) ? managedFields : [];
  const isFormer = (entry: unknown): entry is Entry =>
    isRecord(entry) && entry['operation'] === 'Update' && !entry['subresource'] && ownsOwner(entry, ownerUid);
  const former = entries.find(isFormer);
  if (former === undefined || entries.some(isOurs)) return null;
  const fields = isRecord(former['fieldsV1']) ? former['fieldsV1'] : {};
  const spec = isRecord(fields['f:spec']) ? fields['f:spec'] : {};
  const { 'f:replicas': replicas, ...rest } = spec;
  const applied = (manager: string, fieldsV1: Entry): Entry => ({ ...former, manager, operation: 'Apply', fieldsV1 });
  return entries
    .filter(isRecord)
    .flatMap((entry) =>
      entry === former
        ? [
            applied(FIELD_MANAGER, { ...fields, ...('f:spec' in fields ? { 'f:spec': rest } : {}) }),
            ...(replicas === undefined ? [] : [applied(REPLICAS_MANAGER, { 'f:spec': { 'f:replicas': replicas } })]),
          ]
        : [entry],
    );
}

function isOurs(entry: unknown): entry is Entry {
  return isRecord(entry) && entry['manager'] === FIELD_MANAGER && entry['operation'] === 'Apply';
}

/** Whether Headroom has applied an object: nobody takes that off by an edit. Null where it says nothing of its managers. */
export function isApplied(managedFields: unknown): boolean | null {
  return Array.isArray(managedFields) && managedFields.length > 0 ? managedFields.some(isOurs) : null;
}

/** Whether an annotation has the value that Headroom applied: who changes it owns it from then on. */
export function isOurAnnotation(managedFields: unknown, name: string): boolean {
  return ownEntries(managedFields).some((entry) => `f:${name}` in annotationsOf(entry));
}

/** Headroom's entries in the managed fields of an object, with what `isApplied` and `isOurAnnotation` read of them. */
export function ownManagers(managedFields: unknown): readonly Entry[] {
  return ownEntries(managedFields).map((entry) => ({
    manager: entry['manager'],
    operation: entry['operation'],
    fieldsV1: { 'f:metadata': { 'f:annotations': annotationsOf(entry) } },
  }));
}

function ownEntries(managedFields: unknown): readonly Entry[] {
  return Array.isArray(managedFields) ? managedFields.filter(isOurs) : [];
}

function annotationsOf({ fieldsV1 }: Entry): Entry {
  const metadata = isRecord(fieldsV1) ? fieldsV1['f:metadata'] : undefined;
  const annotations = isRecord(metadata) ? metadata['f:annotations'] : undefined;
  return isRecord(annotations) ? annotations : {};
}

function ownsOwner({ fieldsV1 }: Entry, ownerUid: string): boolean {
  const metadata = isRecord(fieldsV1) ? fieldsV1['f:metadata'] : undefined;
  const owners = isRecord(metadata) ? metadata['f:ownerReferences'] : undefined;
  return isRecord(owners) && `k:{"uid":"${ownerUid}"}` in owners;
}

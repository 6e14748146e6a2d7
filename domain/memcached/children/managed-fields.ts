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
  const isApplied = entries.some(
    (entry) => isRecord(entry) && entry['manager'] === FIELD_MANAGER && entry['operation'] === 'Apply',
  );
  if (former === undefined || isApplied) return null;
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

function ownsOwner({ fieldsV1 }: Entry, ownerUid: string): boolean {
  const metadata = isRecord(fieldsV1) ? fieldsV1['f:metadata'] : undefined;
  const owners = isRecord(metadata) ? metadata['f:ownerReferences'] : undefined;
  return isRecord(owners) && `k:{"uid":"${ownerUid}"}` in owners;
}

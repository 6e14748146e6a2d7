/** Who set a field of an object, and who created the object, by its managed fields. */
import * as z from 'zod';
import { isRecord } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { readMoment } from './annotations.ts';
import { FIELD_MANAGER, KEDA_PAUSED } from '../schedule/names.ts';
import type { FieldChange, SetBy } from './workload.ts';

const fields = z.record(z.string(), z.unknown());

/** The parts of an entry of `metadata.managedFields` that are used. */
const managedField = z.object({
  manager: z.string().nullish(),
  time: z.union([z.string(), z.date()]).nullish(),
  subresource: z.string().nullish(),
  fieldsV1: z
    .object({
      'f:spec': fields.optional().catch(undefined),
      'f:metadata': z.object({ 'f:annotations': fields.optional() }).optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

interface Entry {
  readonly manager: string | null;
  readonly at: EpochMs | null;
  readonly subresource: string;
  /** What it owns of the spec: keys such as `f:replicas`, with what is in them. */
  readonly spec: Readonly<Record<string, unknown>>;
  /** The keys of that. */
  readonly owned: readonly string[];
  /** Keys of the annotations that it owns, as `f:example.com/a`. */
  readonly annotations: readonly string[];
}

/** Invalid entries are ignored, as if nobody had written them. */
function entriesOf(managedFields: unknown): readonly Entry[] {
  const list = Array.isArray(managedFields) ? managedFields : [];
  return list.flatMap((raw: unknown) => {
    const { data } = managedField.safeParse(raw);
    if (data === undefined) return [];
    const { time } = data;
    const at = time instanceof Date ? time.getTime() : typeof time === 'string' ? readMoment(time) : null;
    const spec = data.fieldsV1?.['f:spec'] ?? {};
    const owned = Object.keys(spec);
    const annotations = Object.keys(data.fieldsV1?.['f:metadata']?.['f:annotations'] ?? {});
    return [{ manager: data.manager || null, at, subresource: data.subresource ?? '', spec, owned, annotations }];
  });
}

/**
 * Who last set `spec.replicas`, `spec.suspend` or KEDA's annotation that pauses. Several managers may own the field if they applied the same value:
 * the newest entry counts, and of two in the same second the one that is not Headroom's. An entry without a time counts
 * as the oldest. Null when nobody owns the field.
 */
export function fieldChange(managedFields: unknown, path: 'replicas' | 'suspend' | 'paused'): FieldChange | null {
  if (path !== 'paused') return specChange(managedFields, [path]);
  return newestOf(managedFields, ({ annotations }) => annotations.includes(`f:${KEDA_PAUSED}`), 0);
}

/** The same of a field anywhere in the spec: `['pods', 'size']`. */
export function specChange(managedFields: unknown, path: readonly string[]): FieldChange | null {
  return newestOf(managedFields, ({ spec }) => ownsPath(spec, path), 1);
}

function ownsPath(owned: unknown, [key, ...rest]: readonly string[]): boolean {
  if (key === undefined) return true;
  const inner = isRecord(owned) ? owned[`f:${key}`] : undefined;
  return inner !== undefined && ownsPath(inner, rest);
}

/** @param ofSpec how many fields of the spec an entry has that is about this one alone. */
function newestOf(managedFields: unknown, owns: (entry: Entry) => boolean, ofSpec: number): FieldChange | null {
  let newest: Entry | undefined;
  for (const entry of entriesOf(managedFields)) {
    if (entry.manager === null || !owns(entry)) continue;
    const difference = (entry.at ?? 0) - (newest?.at ?? 0);
    if (newest === undefined || difference > 0 || (difference === 0 && newest.manager === FIELD_MANAGER))
      newest = entry;
  }
  if (newest === undefined || newest.manager === null) return null;
  const isOnlyIt = newest.subresource === 'scale' || newest.owned.length === ofSpec;
  return { manager: newest.manager, at: newest.at, isOnlyIt };
}

/**
 * Who last set a field of the spec (`minReplicas`), or an annotation; null when the managed fields do not say who or
 * when. Headroom takes a field from all others by changing it, so whoever owns it beside Headroom applied the same value
 * later; the API server writes no time of what changes no value.
 */
export function lastSetBy(managedFields: unknown, of: 'spec' | 'annotations', name: string): SetBy | null {
  const owners = entriesOf(managedFields).filter(({ owned, annotations }) =>
    (of === 'spec' ? owned : annotations).includes(`f:${name}`),
  );
  const ours = owners.find(({ manager }) => manager === FIELD_MANAGER);
  let newest: SetBy | null = null;
  for (const { manager, at: written } of owners) {
    const at = written ?? ours?.at ?? null;
    if (manager === null || manager === FIELD_MANAGER || at === null) continue;
    if (newest === null || at > newest.at) newest = { manager, at };
  }
  return newest ?? (ours === undefined || ours.at === null ? null : { manager: FIELD_MANAGER, at: ours.at });
}

/** The latest time at which an annotation can have been written; null when unknown. */
export function annotationWrittenAt(managedFields: unknown, name: string): EpochMs | null {
  const times = entriesOf(managedFields).flatMap(({ at, annotations }) =>
    at === null || !annotations.includes(`f:${name}`) ? [] : [at],
  );
  return times.length === 0 ? null : Math.max(...times);
}

/** When somebody last wrote the status; null when unknown. */
export function statusWrittenAt(managedFields: unknown): EpochMs | null {
  const times = entriesOf(managedFields).flatMap(({ at, subresource }) =>
    at === null || subresource !== 'status' ? [] : [at],
  );
  return times.length === 0 ? null : Math.max(...times);
}

/**
 * Who created the object: the manager of its oldest entry for the spec; of several in one second the one with the most
 * fields. Headroom creates no workloads. Null when unknown.
 */
export function createdBy(managedFields: unknown): string | null {
  const [oldest] = entriesOf(managedFields)
    .filter(({ manager, subresource, owned }) => manager !== FIELD_MANAGER && subresource === '' && owned.length > 0)
    .toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0) || b.owned.length - a.owned.length);
  return oldest?.manager ?? null;
}

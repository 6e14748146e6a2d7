/** Which workloads somebody has approved to be put to sleep, as it is kept beside the memory of a schedule. */
import { z } from 'zod';
import { readJsonText } from '../../kernel/json-text.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { readMoment } from './annotations.ts';

/** By `workloadName`: since when each is approved. */
export type ApprovedWorkloads = ReadonlyMap<string, EpochMs>;

/** Who approved, and what. */
export interface Approval {
  readonly by: string;
  readonly at: EpochMs;
  /** Of the workloads that are approved, and how many they are. Absent in one of an earlier release, of whatever is selected. */
  readonly digest?: string;
  readonly workloads?: number;
}

/** An approval that is not kept yet. `digest`: of the workloads that the person saw; null: of whatever is there. */
export interface Approving {
  readonly by: string;
  readonly at: EpochMs;
  readonly digest: string | null;
}

/** Workloads of one entry: with the longest names it stays below the size of a ConfigMap of the memory. */
const AT_ONCE = 100;
/** Keys of entries, which are no UIDs. */
const KEY = /^approved\.\d+$/;

const entry = z.object({ at: z.string(), workloads: z.array(z.string()) });

/** The entries to be kept, by their keys. At least one, so that a set of nothing is not the same as none. */
export function approvedEntries(approved: ApprovedWorkloads): ReadonlyMap<string, string> {
  const texts: string[] = [];
  for (const [at, workloads] of Map.groupBy([...approved.keys()].toSorted(), (name) => approved.get(name) ?? 0)) {
    for (let from = 0; from < workloads.length; from += AT_ONCE) {
      texts.push(JSON.stringify({ at: formatInstant(at), workloads: workloads.slice(from, from + AT_ONCE) }));
    }
  }
  if (texts.length === 0) texts.push(JSON.stringify({ at: formatInstant(0), workloads: [] }));
  return new Map(texts.map((text, index) => [`approved.${index}`, text]));
}

export function isApprovedKey(key: string): boolean {
  return KEY.test(key);
}

/** Null where there is no entry. What cannot be read approves nothing. */
export function readApproved(entries: readonly (readonly [key: string, text: string])[]): ApprovedWorkloads | null {
  const own = entries.filter(([key]) => isApprovedKey(key));
  if (own.length === 0) return null;
  return new Map(
    own.flatMap(([, text]) => {
      const read = readJsonText(entry, text);
      const at = read === null ? null : readMoment(read.at);
      return read === null || at === null ? [] : read.workloads.map((name) => [name, at] as const);
    }),
  );
}

/** What is approved after somebody has approved what there is now; what was approved before and still exists stays. */
export function approvedWith(
  before: ApprovedWorkloads | null,
  {
    inScope,
    existing,
    at,
  }: { readonly inScope: readonly string[]; readonly existing: ReadonlySet<string>; readonly at: EpochMs },
): ApprovedWorkloads {
  const kept = [...(before ?? [])].filter(([name]) => existing.has(name));
  return new Map([...inScope.map((name) => [name, at] as const), ...kept]);
}

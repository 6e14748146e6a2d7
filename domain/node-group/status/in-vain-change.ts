/** What is to be written into `status.inVain`, a part at a time: what a workflow sees must stay small. */
import { type InVain, inVainKey } from '../model/in-vain.ts';

export interface InVainChange {
  /** Entries that are new, or not as they were. */
  readonly found: readonly InVain[];
  /** Entries that are over, by `inVainKey`. */
  readonly over: readonly string[];
}

/** How many entries of each kind are written at once; the rest follows. */
const MOST_FOUND = 8;
const MOST_OVER = 20;

/** Null where the status says what it should. */
export function inVainChange(present: readonly InVain[], wanted: readonly InVain[]): InVainChange | null {
  const there = new Map(present.map((record) => [inVainKey(record), record]));
  const stays = new Set(wanted.map(inVainKey));
  const found = wanted.filter((record) => !isSame(there.get(inVainKey(record)), record)).slice(0, MOST_FOUND);
  const over = [...there.keys()].filter((key) => !stays.has(key)).slice(0, MOST_OVER);
  return found.length + over.length === 0 ? null : { found, over };
}

/** The entries after the change, which may have been made before. */
export function withChange(present: readonly InVain[], { found, over }: InVainChange): readonly InVain[] {
  const records = new Map([...present, ...found].map((record) => [inVainKey(record), record]));
  for (const key of over) records.delete(key);
  return [...records.values()];
}

function isSame(a: InVain | undefined, b: InVain): boolean {
  return (
    a !== undefined &&
    a.machine === b.machine &&
    a.pod === b.pod &&
    a.at === b.at &&
    a.waited === b.waited &&
    a.promise === b.promise &&
    a.tries === b.tries &&
    a.isFirm === b.isFirm
  );
}

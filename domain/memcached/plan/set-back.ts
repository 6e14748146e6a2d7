/** What somebody else sets back again and again, also slowly, is written ever more rarely. */
import { isRecord } from '../../kernel/record.ts';
import { formatInstant, type EpochMs } from '../../kernel/time.ts';
import type { LiveObject } from './live.ts';

/** People correct themselves, or try something: so often it is put right at once. */
const AT_ONCE = 3;
/** Milliseconds after the last write until a set-back is one by itself, longer than the intervals of GitOps controllers. */
const FORGOTTEN_MS = 3_600_000;
/** Milliseconds until it is written again, which double each time. */
const FIRST_MS = 30_000;
const LONGEST_MS = 1_800_000;

/** How long to wait in milliseconds, after so many times that one waited before. */
export function setBackWait(before: number): number {
  return Math.min(FIRST_MS * 2 ** before, LONGEST_MS);
}

/** Something that was as Headroom wrote it, and is not any more. */
export interface SetBack {
  /** The how many-th time it is, in a row. */
  readonly count: number;
  /** From when on it may be written again. */
  readonly from: EpochMs;
  /** What the object is to remember of it when it is written. */
  readonly mark: string;
}

/**
 * @param annotation in which the object remembers what was set back. Anybody may have written it, so no moment is later than now.
 * @param at now.
 */
export function setBackOf({ metadata }: LiveObject, annotation: string, at: EpochMs): SetBack {
  const annotations = isRecord(metadata?.['annotations']) ? metadata['annotations'] : {};
  const [, times = '0', moment = ''] = /^([1-9]\d{0,2}) (\S+)$/.exec(String(annotations[annotation])) ?? [];
  const since = Math.min(instantIn(moment) ?? 0, at);
  const count = (at - since < FORGOTTEN_MS ? Number(times) : 0) + 1;
  const from = count <= AT_ONCE ? at : since + setBackWait(count - AT_ONCE - 1);
  return { count, from, mark: `${Math.min(count, 999)} ${formatInstant(at)}` };
}

/** Only what `formatInstant` writes. */
function instantIn(text: string): EpochMs | null {
  const at = Date.parse(text);
  return Number.isNaN(at) || formatInstant(at) !== text ? null : at;
}

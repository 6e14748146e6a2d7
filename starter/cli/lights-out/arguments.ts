/** What the commands of `headroom lights-out` are given, and what is wrong with that. */
import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../../domain/kernel/duration.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { MOMENT_FORM, readMoment } from '../../../domain/lights-out/workload/annotations.ts';

/** A span of time longer than 0, as it was written. */
export function spanArgument(text: string): string {
  spanOf(text);
  return text;
}

/** As long as a schedule is looked ahead for its next transition. */
const LONGEST_PREVIEW_MS = 3_660 * 86_400_000;

/** How far a preview looks, in milliseconds. */
export function previewSpanArgument(text: string): number {
  const span = spanOf(text);
  if (span > LONGEST_PREVIEW_MS) throw new InvalidArgumentError(`"${text}" is more than ten years (3660d)`);
  return span;
}

function spanOf(text: string): number {
  let span: number;
  try {
    span = parseDuration(text);
  } catch {
    throw new InvalidArgumentError(`"${text}" is no span of time: write 3h, 90m or 2d`);
  }
  if (span <= 0) throw new InvalidArgumentError(`"${text}" is no time at all: write 3h, 90m or 2d`);
  return span;
}

/** A moment with its zone. */
export function momentArgument(text: string): EpochMs {
  const at = readMoment(text);
  if (at === null) throw new InvalidArgumentError(`"${text}" is no moment: expected ${MOMENT_FORM}`);
  return at;
}

/** The number of a page, from 1. */
export function pageArgument(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError(`"${text}" is no page: expected a number from 1 on`);
  return Number(text);
}

/** The digest of the workloads in scope. */
export function digestArgument(text: string): string {
  if (!/^[0-9a-f]{16}$/.test(text))
    throw new InvalidArgumentError(`"${text}" is no digest: expected 16 hexadecimal digits`);
  return text;
}

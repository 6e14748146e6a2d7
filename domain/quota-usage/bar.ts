/** Draws how full a limit is, as text. Ratios are computed exactly, so that only a full limit looks full. */
import { quantityOrNull } from '../kernel/quantity.ts';

const FULL = '█';
const FREE = '░';
/** The last column of a bar above its limit. */
const BEYOND = '▶';

/** One cell for each column of `width` (at least 1), rounded down: `█████░░░░░`; `█████████▶` above the limit. */
export function bar(used: string, hard: string, width: number): string {
  const [part, whole] = [quantityOrNull(used)?.nano, quantityOrNull(hard)?.nano];
  if (part === undefined || whole === undefined) return FREE.repeat(width);
  if (part > whole) return `${FULL.repeat(width - 1)}${BEYOND}`;
  const cells = part <= 0n ? 0 : Number((part * BigInt(width)) / whole);
  return `${FULL.repeat(cells)}${FREE.repeat(width - cells)}`;
}

/**
 * `48 %`, rounded down up to the limit and rounded up above it, so that only an exactly full limit shows 100 %. A limit
 * of 0 has no ratio: `–` while nothing is used, otherwise `over 0`. Nor have amounts that cannot be read: `1 of 1e1002`.
 */
export function percentUsed(used: string, hard: string): string {
  const [part, whole] = [quantityOrNull(used)?.nano, quantityOrNull(hard)?.nano];
  if (part === undefined || whole === undefined) return `${used} of ${hard}`;
  if (whole <= 0n) return part > 0n ? 'over 0' : '–';
  const hundredfold = (part < 0n ? 0n : part) * 100n;
  const percent = part > whole ? (hundredfold + whole - 1n) / whole : hundredfold / whole;
  return `${percent} %`;
}

/** `█████░░░░░ 48 %`; `░░░░░░░░░░ not counted` where the status has no number. */
export function barWithPercent(used: string | null, hard: string, width: number): string {
  return used === null ? `${FREE.repeat(width)} not counted` : `${bar(used, hard, width)} ${percentUsed(used, hard)}`;
}

/** How full a limit is, drawn in text. Ratios are of whole numbers, so that only what is full looks full. */
import { parseQuantity } from '../kernel/quantity.ts';

const FULL = '█';
const FREE = '░';
/** The last column of what is beyond its limit. */
const BEYOND = '▶';

/** One cell for each column of `width` (at least 1), rounded down: `█████░░░░░`; `█████████▶` above the limit. */
export function bar(used: string, hard: string, width: number): string {
  const [part, whole] = [parseQuantity(used).nano, parseQuantity(hard).nano];
  if (part > whole) return `${FULL.repeat(width - 1)}${BEYOND}`;
  const cells = part <= 0n ? 0 : Number((part * BigInt(width)) / whole);
  return `${FULL.repeat(cells)}${FREE.repeat(width - cells)}`;
}

/**
 * `48 %`, rounded down up to the limit and up above it, so that 100 % is exactly full. Of a limit of 0 there is no ratio: `–`
 * while nothing is used, `over 0` beyond that.
 */
export function percentUsed(used: string, hard: string): string {
  const [part, whole] = [parseQuantity(used).nano, parseQuantity(hard).nano];
  if (whole <= 0n) return part > 0n ? 'over 0' : '–';
  const hundredfold = (part < 0n ? 0n : part) * 100n;
  const percent = part > whole ? (hundredfold + whole - 1n) / whole : hundredfold / whole;
  return `${percent} %`;
}

/** `█████░░░░░ 48 %`; `░░░░░░░░░░ not counted` where the status has no number. */
export function barWithPercent(used: string | null, hard: string, width: number): string {
  return used === null ? `${FREE.repeat(width)} not counted` : `${bar(used, hard, width)} ${percentUsed(used, hard)}`;
}

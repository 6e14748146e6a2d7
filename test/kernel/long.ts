/**
 * What `make test` does a part of, because all of it would take too long, and `make long` does in full. `HEADROOM_TEST_LONG=1`
 * has any test do all of it: `HEADROOM_TEST_LONG=1 npm run integration -- test/node-group`.
 */
import { sample, shuffledSubarray } from 'fast-check';
import { seed } from './seed.ts';

const value = process.env['HEADROOM_TEST_LONG'] ?? '';
if (!['', '0', '1'].includes(value)) {
  throw new Error(`expected HEADROOM_TEST_LONG to be 1 or 0, got "${value}"`);
}

const isLong = value === '1';

/** The options of a test that is not in the short part at all. */
export const longOnly = { skip: !isLong } as const;

/** How much of something is done: operations, episodes, milliseconds. */
export function amount(of: { readonly short: number; readonly long: number }): number {
  return isLong ? of.long : of.short;
}

/**
 * The cases of a table that are tried, in their order: all of them in the long part, else `count` that are drawn by the seed of
 * the tests. Another `HEADROOM_TEST_SEED` draws others.
 */
export function partOf<T>(cases: readonly T[], count: number): readonly T[] {
  if (isLong || count >= cases.length) return cases;
  const indexes = cases.map((_, index) => index);
  const [drawn = []] = sample(shuffledSubarray(indexes, { minLength: count, maxLength: count }), { seed, numRuns: 1 });
  return cases.filter((_, index) => drawn.includes(index));
}

/**
 * The numbers of the steps at which something is disturbed, where nobody knows how many steps there are: 1, 2, 3 and so on in
 * the long part, until who asks has met the last one; else `count` of the first `from`.
 */
export function* stepNumbers({ from, count }: { readonly from: number; readonly count: number }): Generator<number> {
  if (isLong) for (let step = 1; ; step += 1) yield step;
  const first = Array.from({ length: from }, (_, index) => index + 1);
  yield* partOf(first, count);
}

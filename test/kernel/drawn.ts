/** Random objects, right and wrong, of which the right ones are tried on real servers, several at once. */
import * as fc from 'fast-check';
import { amount } from './long.ts';
import { seed } from './seed.ts';

/** Milliseconds for all that are drawn. */
export const PATIENCE_MS = amount({ short: 120_000, long: 3_600_000 });

/** Wrong now and then: where all may be wrong at once, next to nothing is right. */
export function mostly<T>(right: fc.Arbitrary<T>, ...wrong: readonly NoInfer<T>[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 24, arbitrary: right }, { weight: 1, arbitrary: fc.constantFrom(...wrong) });
}

/** What was drawn, and what is wrong with it: null where it was not admitted. */
type Tried = readonly string[] | null;

const SHOWN_LENGTH = 5000;
const LONG_TEXT = 300;

/** What is long is long by repetition. */
function shortened(_: string, value: unknown): unknown {
  const isLong = typeof value === 'string' && value.length > LONG_TEXT;
  return isLong ? `${value.slice(0, LONG_TEXT / 10)}… (${value.length} characters)` : value;
}

/**
 * Tries each, as many at once as there are lanes.
 *
 * @param attempt in a lane, of which one is used by one attempt at a time.
 * @returns a line for each that failed, with the seed, the object and all that went wrong, and how many were admitted.
 */
export async function triedInLanes<T>(
  drawn: readonly T[],
  lanes: number,
  attempt: (item: T, lane: number) => Promise<Tried>,
): Promise<{ readonly failures: readonly string[]; readonly admitted: number }> {
  const left = [...drawn];
  const failures: string[] = [];
  let admitted = 0;
  const next = async (lane: number): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) {
      const wrong = await attempt(item, lane);
      if (wrong === null) continue;
      admitted += 1;
      if (wrong.length > 0)
        failures.push(
          `HEADROOM_TEST_SEED=${seed}: ${wrong.join('; ')}: ${JSON.stringify(item, shortened).slice(0, SHOWN_LENGTH)}`,
        );
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => next(lane)));
  return { failures, admitted };
}

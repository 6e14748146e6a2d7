/** How one kind of conformance case is run through the domain, and how its answer is judged. */
import * as z from 'zod';

/** One entry of a case file, of which only these parts matter to the runner. */
export interface ConformanceCase {
  readonly kind: string;
  readonly input: unknown;
  readonly expected: unknown;
}

interface Judgement {
  readonly agrees: boolean;
  readonly expected: unknown;
  readonly got: unknown;
  /** The name of the deviation that the case falls under. */
  readonly deviation?: string;
}

export type Adapter = (testCase: ConformanceCase) => Judgement;

/**
 * A rule by which Headroom answers differently on purpose. It says for which inputs it holds and what is right there,
 * worked out without the code under test; test/cases/deviations.md gives the reasons.
 */
export interface Deviation<Input> {
  readonly name: string;
  /** Whether the rule is about this case. */
  readonly applies: (input: Input, expected: unknown) => boolean;
  /** What the case should have expected. */
  readonly expected: (input: Input, expected: unknown) => unknown;
}

/** An input of a known kind in a shape that the runner does not know: nobody answers for it, so it is skipped and said. */
export class UnknownShape extends Error {}

/** A case that is left out on purpose; the message says why. */
export class LeftOut extends Error {}

/** What asks for the strategy that shrinks quotas too, which is not part of Headroom yet. */
export const LATER_STRATEGY = 'the shrinking headroom strategy is a later one';

/** An adapter for a kind that is left out whole. */
export function leftOut(why: string): Adapter {
  return () => {
    throw new LeftOut(why);
  };
}

export type Comparison = (expected: unknown, got: unknown) => boolean;

/** JSON's null is Kubernetes' absent. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(withoutNulls);
  }
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => part !== null)
      .map(([key, part]) => [key, withoutNulls(part)]),
  );
}

/**
 * An adapter that reads the input by a schema, computes the answer and compares it.
 *
 * @throws {UnknownShape} from the adapter, when the input does not have the shape that the kind has here.
 */
export function adapter<Input>(
  schema: z.ZodType<Input>,
  compute: (input: Input, expected: unknown) => unknown,
  same: Comparison,
  deviations: readonly Deviation<Input>[] = [],
): Adapter {
  return (testCase) => {
    const { data: input, error } = schema.safeParse(withoutNulls(testCase.input));
    if (error !== undefined) {
      throw new UnknownShape(z.prettifyError(error).replaceAll(/\s+/g, ' '));
    }
    const got = compute(input, testCase.expected);
    const deviation = deviations.find((rule) => rule.applies(input, testCase.expected));
    if (deviation === undefined) {
      return { agrees: same(testCase.expected, got), expected: testCase.expected, got };
    }
    const expected = deviation.expected(input, testCase.expected);
    return { agrees: same(expected, got), expected, got, deviation: deviation.name };
  };
}

/** How one kind of conformance case is run through the domain, and how its answer is judged. */
import * as z from 'zod';
import { unknownKeys } from './unknown-keys.ts';

/** The kind of an entry that names none. */
export const UNNAMED_KIND = 'message';

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
  /** The keys of what is expected that were not compared, and why. */
  readonly notCompared: Readonly<Record<string, string>>;
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

/** A case of a known kind in a shape that its adapter cannot read. It counts as failed: the kind promises an answer. */
export class UnknownShape extends Error {}

/** A case that Headroom has no answer to; the message says why. It is counted apart from those that pass or fail. */
export class NotApplicable extends Error {}

/** For a case with a key that its adapter does not read, such as `.pods[].colour`. */
export function unknownKey(part: 'input' | 'expected', key: string): NotApplicable {
  return new NotApplicable(`no adapter reads ${part}${key.startsWith('.') || key.startsWith('[') ? '' : '.'}${key}`);
}

/** Stands in an answer for what Headroom does not know: the key is not compared, and the report says so. */
export class NotCompared {
  readonly why: string;

  constructor(why: string) {
    this.why = why;
  }
}

/** What asks for the strategy that shrinks quotas too, which is not part of Headroom yet. */
export const LATER_STRATEGY = 'the shrinking headroom strategy is a later one';

/** An adapter for a kind that Headroom has no answer to at all. */
export function notApplicable(why: string): Adapter {
  return () => {
    throw new NotApplicable(why);
  };
}

/** An adapter for a kind of which the sample has no case: another shape than it reads says nothing of Headroom. */
export function unsampled(adapterOfKind: Adapter): Adapter {
  return (testCase) => {
    try {
      return adapterOfKind(testCase);
    } catch (error) {
      if (error instanceof UnknownShape) throw new NotApplicable(`the sample has no such case: ${error.message}`);
      throw error;
    }
  };
}

/** The case files that are answered for in one way. */
export interface Suite {
  /** The names of the files without `.json`: each stands for itself and for every name that goes on with a dash. */
  readonly files: readonly string[];
  /** An adapter for each kind of case. */
  readonly kinds: Readonly<Record<string, Adapter>>;
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

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function without(value: unknown, keys: ReadonlySet<string>): unknown {
  return isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key))) : value;
}

/** Reads a part of a case. A key that the schema does not have makes the case not applicable, whatever else is wrong. */
function read<T>(part: 'input' | 'expected', schema: z.ZodType<T>, value: unknown): () => T {
  const { data, error } = schema.safeParse(value);
  const [unknown] = error === undefined ? [] : unknownKeys(error.issues);
  if (unknown !== undefined) throw unknownKey(part, unknown);
  return () => {
    if (error !== undefined) throw new UnknownShape(`${part}: ${z.prettifyError(error).replaceAll(/\s+/g, ' ')}`);
    return data;
  };
}

/**
 * An adapter that reads a case by two schemas, which are strict at every level, computes the answer and compares it.
 *
 * @throws {NotApplicable} from the adapter, when a key of the case is in neither schema, or when nothing of what is expected
 *   can be compared.
 * @throws {UnknownShape} from the adapter, when the case does not otherwise have the shape that the kind has here.
 */
export function adapter<Input, Expected>(
  inputs: z.ZodType<Input>,
  expectations: z.ZodType<Expected>,
  compute: (input: Input, expected: Expected) => unknown,
  same: Comparison,
  deviations: readonly Deviation<Input>[] = [],
): Adapter {
  return (testCase) => {
    const readInput = read('input', inputs, withoutNulls(testCase.input));
    const readExpected = read('expected', expectations, testCase.expected);
    const [input, stated] = [readInput(), readExpected()];
    const answer = compute(input, stated);
    const deviation = deviations.find((rule) => rule.applies(input, stated));
    const wanted = deviation?.expected(input, stated) ?? stated;
    const left = Object.entries(isRecord(answer) ? answer : {}).flatMap(([key, value]) =>
      value instanceof NotCompared && isRecord(wanted) && key in wanted ? [[key, value.why] as const] : [],
    );
    const keys = new Set(left.map(([key]) => key));
    const expected = without(wanted, keys);
    const [first] = left;
    if (first !== undefined && isRecord(expected) && Object.keys(expected).length === 0) {
      throw new NotApplicable(first[1]);
    }
    const got = without(answer, keys);
    return {
      agrees: same(expected, got),
      expected,
      got,
      ...(deviation === undefined ? {} : { deviation: deviation.name }),
      notCompared: Object.fromEntries(left),
    };
  };
}

/** Runs the case files of a folder through the domain and reports in lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as z from 'zod';
import { type ConformanceCase, NotApplicable, UNNAMED_KIND, UnknownShape } from './adapter.ts';
import { suiteFor } from './registry.ts';

/** Something that keeps the cases from being read; its message is one sentence. */
export class CasesUnreadable extends Error {}

const caseFile = z.array(
  z
    .looseObject({
      kind: z.string().optional(),
      input: z.unknown().optional(),
      message: z.unknown().optional(),
      expected: z.unknown().optional(),
    })
    .transform(
      ({ kind = UNNAMED_KIND, input, message, expected }): ConformanceCase => ({
        kind,
        input: input === undefined ? message : input,
        expected,
      }),
    ),
);

export interface Report {
  readonly lines: readonly string[];
  readonly passed: number;
  readonly failed: number;
  /** Cases that Headroom has no answer to. */
  readonly notApplicable: number;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readCases(directory: string): readonly (readonly [file: string, cases: readonly ConformanceCase[]])[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory).filter((name) => name.endsWith('.json'));
  } catch (error) {
    throw new CasesUnreadable(`cannot read the folder ${directory}: ${messageOf(error)}`);
  }
  if (names.length === 0) {
    throw new CasesUnreadable(`there is no case file (*.json) in ${directory}`);
  }
  return names.toSorted().map((name) => {
    const path = join(directory, name);
    try {
      return [name.replace(/\.json$/, ''), caseFile.parse(JSON.parse(readFileSync(path, 'utf8')))] as const;
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error).split('\n')[0] : messageOf(error);
      throw new CasesUnreadable(`${path} is not a list of cases: ${reason}`);
    }
  });
}

/** A value on one line, long ones cut. */
function shown(value: unknown): string {
  return inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 8, maxStringLength: 400, compact: true });
}

type Outcome =
  | { readonly kind: 'agrees'; readonly deviation: string | undefined; readonly notCompared: readonly string[] }
  | { readonly kind: 'failed'; readonly line: string }
  | { readonly kind: 'not applicable'; readonly what: string };

function run(file: string, testCase: ConformanceCase): Outcome {
  const suite = suiteFor(file);
  if (suite === undefined) {
    return { kind: 'not applicable', what: `${file}: no controller of Headroom answers for files of this name` };
  }
  const existing = `${file} ${testCase.kind}`;
  const adapter = Object.hasOwn(suite.kinds, testCase.kind) ? suite.kinds[testCase.kind] : undefined;
  if (adapter === undefined) {
    return { kind: 'not applicable', what: `${existing}: no adapter answers for this kind` };
  }
  const where = `${existing}: input ${shown(testCase.input)}`;
  try {
    const { agrees, expected, got, deviation, notCompared } = adapter(testCase);
    const rule = deviation === undefined ? '' : ` (deviation ${deviation})`;
    const keys = Object.entries(notCompared).map(([key, why]) => `${existing} ${key}: ${why}`);
    return agrees
      ? { kind: 'agrees', deviation, notCompared: keys }
      : { kind: 'failed', line: `disagrees: ${where}: expected${rule} ${shown(expected)}, got ${shown(got)}` };
  } catch (error) {
    if (error instanceof NotApplicable) {
      return { kind: 'not applicable', what: `${existing}: ${error.message}` };
    }
    if (error instanceof UnknownShape) {
      return { kind: 'failed', line: `unknown shape: ${where}: ${error.message}` };
    }
    const expected = shown(testCase.expected);
    return { kind: 'failed', line: `disagrees: ${where}: expected ${expected}, got an error: ${messageOf(error)}` };
  }
}

/** How often each was added, in the order in which they came. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  lines(prefix: string, suffix: string): readonly string[] {
    return [...this.#counts].map(([what, count]) => `${prefix}${what}, ${count} ${suffix}`);
  }
}

/**
 * Runs every case of every `*.json` file of the folder.
 *
 * @throws {CasesUnreadable} when the folder or a file of it cannot be read.
 */
export function runConformance(directory: string): Report {
  const failures: string[] = [];
  const [notApplicable, notCompared, deviating] = [new Counts(), new Counts(), new Counts()];
  let passed = 0;
  for (const [file, cases] of readCases(directory)) {
    for (const testCase of cases) {
      const outcome = run(file, testCase);
      if (outcome.kind === 'not applicable') {
        notApplicable.add(outcome.what);
      } else if (outcome.kind === 'failed') {
        failures.push(outcome.line);
      } else {
        passed += 1;
        if (outcome.deviation !== undefined) deviating.add(outcome.deviation);
        for (const what of outcome.notCompared) notCompared.add(what);
      }
    }
  }
  return {
    lines: [
      ...failures,
      ...notApplicable.lines('not applicable: ', 'not run'),
      ...notCompared.lines('not compared: ', 'passed without it'),
      ...deviating.lines('differs on purpose: ', 'passed (test/cases/deviations.md)'),
    ],
    passed,
    failed: failures.length,
    notApplicable: notApplicable.total,
  };
}

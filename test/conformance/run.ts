/** Runs the case files of a folder through the domain and reports in lines. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import * as z from 'zod';
import { type ConformanceCase, LeftOut, UnknownShape } from './adapter.ts';
import { adapterFor, UNNAMED_KIND } from './suites.ts';

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
  readonly skipped: number;
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
  | { readonly kind: 'agrees'; readonly deviation: string | undefined }
  | { readonly kind: 'disagrees'; readonly line: string }
  | { readonly kind: 'skipped'; readonly what: string };

function judge(file: string, testCase: ConformanceCase): Outcome {
  const known = `${file} ${testCase.kind}`;
  const adapter = adapterFor(file, testCase.kind);
  if (adapter === undefined) {
    return { kind: 'skipped', what: `unknown kind: ${known}` };
  }
  const where = `${known}: input ${shown(testCase.input)}`;
  try {
    const { agrees, expected, got, deviation } = adapter(testCase);
    const rule = deviation === undefined ? '' : ` (deviation ${deviation})`;
    return agrees
      ? { kind: 'agrees', deviation }
      : { kind: 'disagrees', line: `${where}: expected${rule} ${shown(expected)}, got ${shown(got)}` };
  } catch (error) {
    if (error instanceof UnknownShape) {
      return { kind: 'skipped', what: `unknown shape: ${known}: ${error.message}` };
    }
    if (error instanceof LeftOut) {
      return { kind: 'skipped', what: `left out: ${known}: ${error.message}` };
    }
    return {
      kind: 'disagrees',
      line: `${where}: expected ${shown(testCase.expected)}, got an error: ${messageOf(error)}`,
    };
  }
}

function increment(counts: Map<string, number>, key: string | undefined): void {
  if (key === undefined) {
    return;
  }
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/**
 * Runs every case of every `*.json` file of the folder.
 *
 * @throws {CasesUnreadable} when the folder or a file of it cannot be read.
 */
export function runConformance(directory: string): Report {
  const disagreements: string[] = [];
  const skips = new Map<string, number>();
  const deviating = new Map<string, number>();
  let passed = 0;
  for (const [file, cases] of readCases(directory)) {
    for (const testCase of cases) {
      const outcome = judge(file, testCase);
      if (outcome.kind === 'skipped') {
        increment(skips, outcome.what);
      } else if (outcome.kind === 'disagrees') {
        disagreements.push(outcome.line);
      } else {
        passed += 1;
        increment(deviating, outcome.deviation);
      }
    }
  }
  const skipped = [...skips.values()].reduce((sum, count) => sum + count, 0);
  return {
    lines: [
      ...disagreements.map((line) => `disagrees: ${line}`),
      ...[...skips].map(([what, count]) => `${what}, ${count} skipped`),
      ...[...deviating].map(
        ([rule, count]) => `differs on purpose: ${rule}, ${count} passed (test/cases/deviations.md)`,
      ),
    ],
    passed,
    failed: disagreements.length,
    skipped,
  };
}

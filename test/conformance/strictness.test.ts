/** No adapter passes or fails a case for what it did not look at: shown by a key more at every place of the sample. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NotApplicable, UNNAMED_KIND } from './adapter.ts';
import { suiteFor } from './registry.ts';

const SAMPLE = join(import.meta.dirname, '../cases');

interface Case {
  readonly kind?: string;
  readonly input?: unknown;
  readonly message?: string;
  readonly expected?: unknown;
}

/** Objects whose keys are names that anybody may give: labels, resources, namespaces. By the last parts of their paths. */
const MAPS = [
  /\.(?:annotations|nodeAnnotations|labels|groupLabels|remainingNodeLabels|additionalLabels|matchLabels)$/,
  /\.(?:nodeSelector|podNodeSelector)$/,
  /\.(?:hard|quotaHard|specHard|statusHard|used|statusUsed|limited|requested|requests|limits|overhead|deficit|podRequests)$/,
  /\.(?:allocatedResources|targets|milli|deficitMilli|discovered|deviceClasses|matching)$/,
  /^lights-out namespace-discovery input\.cluster(?:\.[^.]+)?$/,
  // What the other operator answered: Headroom is asked for what would be right.
  /^lights-out period expected\.upstream$/,
  // Lists of amounts, and annotations.
  /^quota quota\w+ (?:input\.[ab]|expected)$/,
  /^quota \w+(?:Usage|Stats|Requests|Limits) expected$/,
  /^memcached podTemplateAnnotations expected$/,
];
/** What Headroom hands on to Kubernetes as it is, whatever it has. */
const HANDED_ON =
  /^memcached \w+ (?:input|expected)\..*(?:resources|SecretRef|behavior|behavior\.scaleDown|metrics\[\](?:\.resource)?(?:\.target)?)$/;

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value with a key more in one of its objects: each of them in turn, by the path of the object. */
function withOneMore(value: unknown, path = ''): readonly (readonly [path: string, value: unknown])[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) =>
      withOneMore(item, `${path}[]`).map(([inner, changed]) => [inner, value.with(at, changed)] as const),
    );
  }
  if (!isRecord(value)) return [];
  const parts = Object.entries(value).flatMap(([key, part]) =>
    withOneMore(part, `${path}.${key}`).map(([inner, changed]) => [inner, { ...value, [key]: changed }] as const),
  );
  return [[path, { ...value, colour: 'red' }], ...parts];
}

function outcomeOf(file: string, testCase: { kind: string; input: unknown; expected: unknown }): string {
  try {
    return suiteFor(file)?.kinds[testCase.kind]?.(testCase).agrees === true ? 'passes' : 'disagrees';
  } catch (error) {
    return error instanceof NotApplicable ? 'not applicable' : String(error);
  }
}

describe('the adapters', () => {
  it('take no case with a key that they do not know, wherever it is', () => {
    const files = readdirSync(SAMPLE).filter((name) => name.endsWith('.json'));
    const tried = files.flatMap((name) => {
      const file = name.replace(/\.json$/, '');
      const cases = JSON.parse(readFileSync(join(SAMPLE, name), 'utf8')) as readonly Case[];
      return cases.flatMap(({ kind = UNNAMED_KIND, message, input = message, expected }) => {
        const changed = [
          ...withOneMore(input).map(([path, more]) => [`input${path}`, { kind, input: more, expected }] as const),
          ...withOneMore(expected).map(([path, more]) => [`expected${path}`, { kind, input, expected: more }] as const),
        ];
        return changed
          .map(([path, testCase]) => ({ place: `${file} ${kind} ${path}`, testCase, file }))
          .filter(({ place }) => ![...MAPS, HANDED_ON].some((map) => map.test(place)));
      });
    });
    const taken = tried
      .map(({ place, testCase, file }) => `${place}: ${outcomeOf(file, testCase)}`)
      .filter((line) => !line.endsWith(': not applicable'));
    expect(taken).toEqual([]);
    expect(tried.length).toBeGreaterThan(1_000);
  });
});

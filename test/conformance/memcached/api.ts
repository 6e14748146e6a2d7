/** The cases of Memcached's definition and webhooks: what is filled in, what is refused, what a field may be. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { withDefaults } from '../../../domain/memcached/api/defaults.ts';
import { memcachedSpec, type WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { specProblems } from '../../../domain/memcached/api/validation.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';

const anySpec = z.looseObject({}).default({});

/** What a case says about the tests that it was made of is nobody's answer. */
function sameAnswer(expected: unknown, got: unknown): boolean {
  const { upstreamAssertsContains: _, ...answer } = expected as Record<string, unknown>;
  return sameExpectedKeys(answer, got);
}

function answerOf(problems: readonly string[]): object {
  return { allowed: problems.length === 0, fieldErrors: problems };
}

export const memcachedApiKinds: Readonly<Record<string, Adapter>> = {
  webhookValidate: adapter(
    z.object({ operation: z.enum(['create', 'update', 'delete']).default('create'), spec: anySpec }),
    ({ operation, spec }) => answerOf(operation === 'delete' ? [] : specProblems(spec as WrittenSpec)),
    sameAnswer,
  ),
  webhookDefault: adapter(
    z.object({ spec: anySpec }),
    ({ spec }) => {
      const filled = withDefaults(spec);
      return { spec: filled, idempotent: isDeepStrictEqual(withDefaults(filled), filled) };
    },
    sameExpectedKeys,
  ),
  webhookDefaultThenValidate: adapter(
    z.object({ spec: anySpec }),
    ({ spec }) => {
      const filled = withDefaults(spec);
      return { spec: filled, ...answerOf(specProblems(filled)) };
    },
    sameAnswer,
  ),
  crdSchema: adapter(
    z.object({ path: z.string().startsWith('spec.'), value: z.unknown() }),
    ({ path, value }) => {
      const spec = path
        .split('.')
        .slice(1)
        .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
      return { accepted: memcachedSpec.safeParse(spec).success };
    },
    sameJson,
  ),
};

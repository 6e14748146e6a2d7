/** The cases of Memcached's definition and webhooks: what is filled in, what is refused, what a field may be. */
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { withDefaults } from '../../../domain/memcached/api/defaults.ts';
import { memcachedSpec, type WrittenSpec } from '../../../domain/memcached/api/memcached.ts';
import { ownProblems } from '../../../domain/memcached/api/own-rules.ts';
import { specProblems } from '../../../domain/memcached/api/validation.ts';
import { type Adapter, adapter, type Deviation } from '../adapter.ts';
import { sameExpectedKeys, sameJson } from '../compare.ts';
import { keysOf } from '../unknown-keys.ts';

const spec = keysOf(memcachedSpec);
/** A case may leave it out. */
const anySpec = spec.default({});

const verdict = z.strictObject({
  allowed: z.boolean(),
  fieldErrors: z.array(z.string()).optional(),
  /** Parts of the text in which the errors are. */
  upstreamAssertsContains: z.array(z.string()).optional(),
});
type Verdict = z.infer<typeof verdict>;

interface Reviewed {
  readonly allowed: boolean;
  readonly fieldErrors: readonly string[];
}

function sameVerdict(expected: unknown, got: unknown): boolean {
  const { upstreamAssertsContains = [], ...answer } = expected as Partial<Verdict>;
  const text = (got as Reviewed).fieldErrors.join(', ');
  return sameExpectedKeys(answer, got) && upstreamAssertsContains.every((part) => text.includes(part));
}

/** What the webhook says, beside the types that the API server has checked before. */
function reviewed(written: WrittenSpec, old?: WrittenSpec): Reviewed {
  const problems = [...specProblems(written), ...ownProblems(written, old)];
  return { allowed: problems.length === 0, fieldErrors: problems };
}

interface ReviewInput {
  readonly operation?: string | undefined;
  readonly spec: WrittenSpec;
  readonly oldSpec?: WrittenSpec | undefined;
}

function hasNoMaximum({ autoscaling }: WrittenSpec): boolean {
  return autoscaling?.enabled === true && autoscaling.maxReplicas === undefined;
}

/** The API server takes no autoscaler without a maximum. What was stored so before may stay so. */
const maximumIsRequired: Deviation<ReviewInput> = {
  name: 'maximum-is-required',
  applies: ({ operation, spec: written, oldSpec = {} }) =>
    operation !== 'delete' && hasNoMaximum(written) && !hasNoMaximum(oldSpec),
  expected: (_, expected) => {
    const { fieldErrors, ...rest } = expected as Verdict;
    const missing = 'spec.autoscaling.maxReplicas: Required value: maxReplicas is required when autoscaling is enabled';
    return { ...rest, allowed: false, ...(fieldErrors && { fieldErrors: [...fieldErrors, missing] }) };
  },
};

export const memcachedApiKinds: Readonly<Record<string, Adapter>> = {
  webhookValidate: adapter(
    z.strictObject({
      operation: z.enum(['create', 'update', 'delete']).default('create'),
      spec: anySpec,
      oldSpec: spec.optional(),
    }),
    verdict,
    // The configuration of the webhook does not name deletions, so that it is not asked about them.
    (input) =>
      input.operation === 'delete' ? { allowed: true, fieldErrors: [] } : reviewed(input.spec, input.oldSpec),
    sameVerdict,
    [maximumIsRequired],
  ),
  webhookDefault: adapter(
    z.strictObject({ spec: anySpec }),
    z.strictObject({ spec, idempotent: z.boolean().optional() }),
    (input) => {
      const filled = withDefaults(input.spec);
      return { spec: filled, idempotent: isDeepStrictEqual(withDefaults(filled), filled) };
    },
    sameExpectedKeys,
  ),
  webhookDefaultThenValidate: adapter(
    z.strictObject({ spec: anySpec }),
    verdict.extend({ spec }),
    (input) => {
      const filled = withDefaults(input.spec);
      return { spec: filled, ...reviewed(filled) };
    },
    sameVerdict,
    [maximumIsRequired],
  ),
  crdSchema: adapter(
    z
      .strictObject({ path: z.string().startsWith('spec.'), value: z.unknown() })
      .transform(
        ({ path, value }) =>
          path
            .split('.')
            .slice(1)
            .reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as WrittenSpec,
      )
      .pipe(spec),
    z.strictObject({ accepted: z.boolean() }),
    (written) => ({ accepted: memcachedSpec.safeParse(written).success }),
    sameJson,
  ),
};

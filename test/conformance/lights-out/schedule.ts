/** The cases of LightsOut's admission webhooks: what they refuse, fill in and warn of. */
import * as z from 'zod';
import { schedulesOverlap } from '../../../domain/lights-out/schedule/overlap.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { scheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';
import { keysOf } from '../unknown-keys.ts';

type Spec = Readonly<Record<string, unknown>>;

/** A schedule that is fine but for what a case puts into it. */
const crons = { upscale: '0 6 * * *', downscale: '0 18 * * *' };
const named = { ...crons, namespaces: ['team-a'] };

/** Whether the webhook refuses it, in whichever words the case asks for that. */
function refusal(spec: Spec): unknown {
  const { problems } = readSchedule({ spec });
  const isRefused = problems.length > 0;
  return { error: isRefused, valid: !isRefused, allowed: !isRefused, errors: problems.length };
}

const refused = z
  .strictObject({ error: z.boolean(), valid: z.boolean(), allowed: z.boolean(), errors: z.number() })
  .partial();

const spec = keysOf(scheduleSpec);

/** A case may have a whole object, or its spec alone. */
const specOrObject = z
  .record(z.string(), z.unknown())
  .transform((given) => ('spec' in given ? given : { spec: given }))
  .pipe(z.strictObject({ spec: spec.default({} as z.input<typeof scheduleSpec>) }))
  .transform(({ spec: written }): Spec => written);

/** A span as a case has it: in Go's notation, or in nanoseconds. */
const span = z.union([z.string(), z.number().transform((nanoseconds) => `${nanoseconds / 1e6}ms`)]);

const rateLimit = z.strictObject({ batchSize: z.number().optional(), delayBetweenBatches: span.optional() });

const selection = z.strictObject(scheduleSpec.pick({ namespaceSelector: true, namespaces: true }).shape);

const pattern = z.union([
  z.string().transform((expr): Spec => ({ upscale: expr })),
  z.strictObject({ expr: z.string() }).transform(({ expr }): Spec => ({ upscale: expr })),
  z.strictObject({ upscale: z.string().optional(), downscale: z.string().optional() }),
]);

const validated = adapter(specOrObject, refused, refusal, sameExpectedKeys);

export const lightsOutScheduleKinds: Readonly<Record<string, Adapter>> = {
  'webhook-ratelimit': adapter(
    z.union([rateLimit, z.null()]),
    refused,
    (limit) => refusal({ ...named, upscaleRateLimit: limit }),
    sameExpectedKeys,
  ),
  'webhook-overlap': adapter(
    z.strictObject({ a: specOrObject.pipe(selection), b: specOrObject.pipe(selection) }),
    z.strictObject({ overlap: z.boolean(), symmetric: z.boolean() }).partial(),
    ({ a, b }) => {
      const overlap = schedulesOverlap(a, b);
      return { overlap, symmetric: overlap === schedulesOverlap(b, a) };
    },
    sameExpectedKeys,
  ),
  'webhook-cron': adapter(pattern, refused, (patterns) => refusal({ ...named, ...patterns }), sameExpectedKeys),
  'webhook-timezone': adapter(
    z.union([z.string(), z.strictObject({ timezone: z.string().optional() }).transform(({ timezone }) => timezone)]),
    refused,
    (timezone) => refusal({ ...named, timezone }),
    sameExpectedKeys,
  ),
  'webhook-namespaces': adapter(specOrObject, refused, (given) => refusal({ ...crons, ...given }), sameExpectedKeys),
  'webhook-defaulting': adapter(
    specOrObject,
    spec,
    // Only what is filled in is asked about, so the rest may as well be there.
    (given) => readSchedule({ spec: { ...named, ...given } }).spec ?? {},
    sameExpectedKeys,
  ),
  'webhook-validate': validated,
  'webhook-validation': validated,
  'webhook-spec': validated,
};

/** The cases of LightsOut's admission webhooks: what they refuse, fill in and warn of. */
import * as z from 'zod';
import { schedulesOverlap } from '../../../domain/lights-out/schedule/overlap.ts';
import { readSchedule } from '../../../domain/lights-out/schedule/read-schedule.ts';
import { scheduleSpec } from '../../../domain/lights-out/schedule/schedule.ts';
import { type Adapter, adapter } from '../adapter.ts';
import { sameExpectedKeys } from '../compare.ts';

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

/** A case may have a whole object, or its spec alone. */
const specOrObject = z
  .looseObject({ spec: z.looseObject({}).optional() })
  .transform(({ spec, ...rest }): Spec => spec ?? rest);

/** A span as a case has it: in Go's notation, or in nanoseconds. */
const span = z.union([z.string(), z.number().transform((nanoseconds) => `${nanoseconds / 1e6}ms`)]);

const rateLimit = z.strictObject({ batchSize: z.number().optional(), delayBetweenBatches: span.optional() });

const selection = scheduleSpec.pick({ namespaceSelector: true, namespaces: true });

const pattern = z.union([
  z.string().transform((expr): Spec => ({ upscale: expr })),
  z.strictObject({ expr: z.string() }).transform(({ expr }): Spec => ({ upscale: expr })),
  z.strictObject({ upscale: z.string().optional(), downscale: z.string().optional() }),
]);

const validated = adapter<Spec>(specOrObject, refusal, sameExpectedKeys);

export const lightsOutScheduleKinds: Readonly<Record<string, Adapter>> = {
  'webhook-ratelimit': adapter(
    z.union([rateLimit, z.null()]),
    (limit) => refusal({ ...named, upscaleRateLimit: limit }),
    sameExpectedKeys,
  ),
  'webhook-overlap': adapter(
    z.strictObject({ a: specOrObject.pipe(selection), b: specOrObject.pipe(selection) }),
    ({ a, b }) => {
      const overlap = schedulesOverlap(a, b);
      return { overlap, symmetric: overlap === schedulesOverlap(b, a) };
    },
    sameExpectedKeys,
  ),
  'webhook-cron': adapter(pattern, (patterns) => refusal({ ...named, ...patterns }), sameExpectedKeys),
  'webhook-timezone': adapter(
    z.union([z.string(), z.strictObject({ timezone: z.string().optional() }).transform(({ timezone }) => timezone)]),
    (timezone) => refusal({ ...named, timezone }),
    sameExpectedKeys,
  ),
  'webhook-namespaces': adapter<Spec>(z.looseObject({}), (spec) => refusal({ ...crons, ...spec }), sameExpectedKeys),
  'webhook-defaulting': adapter<Spec>(
    specOrObject,
    // Only what is filled in is asked about, so the rest may as well be there.
    (spec) => readSchedule({ spec: { ...named, ...spec } }).spec ?? {},
    sameExpectedKeys,
  ),
  'webhook-validate': validated,
  'webhook-validation': validated,
  'webhook-spec': validated,
};

/** The annotations of a quota's Lease besides its decision, as they are written. */
import * as z from 'zod';
import type { PullRequestId, RecordedRaise } from '../policy/recorded-raise.ts';
import type { Rejection } from './decision.ts';
import { type Fields, resourceList } from './decision-schema.ts';
import { instant } from './lease-instant.ts';
import type { LeaseRecord } from './observation.ts';

export const recommendation = z.object({ limits: resourceList, at: instant } satisfies Fields<
  NonNullable<LeaseRecord['lastRecommendation']>
>);

export const neededLimits = z.object({ decision: z.string(), limits: z.record(z.string(), resourceList) });

export const rejection = z.object({
  limits: resourceList,
  at: instant,
  by: z.string(),
  reason: z.string(),
  verified: z.literal('forge').exactOptional(),
} satisfies Fields<Rejection>) satisfies z.ZodType<Rejection>;

export const raise = z.object({
  decision: z.string(),
  at: instant,
  from: resourceList,
  to: resourceList,
  pullRequest: z.object({ repository: z.string(), number: z.int() } satisfies Fields<PullRequestId>).exactOptional(),
  isPending: z.boolean().exactOptional(),
  isApproved: z.boolean().exactOptional(),
} satisfies Fields<RecordedRaise>) satisfies z.ZodType<RecordedRaise>;

/** The messages of real FailedCreate Events: every field that a case expects, amounts by value. */
import * as z from 'zod';
import { type AdmissionDenial, parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import { adapter, type Adapter } from '../adapter.ts';
import { sameAmounts, sameJson } from '../compare.ts';

const AMOUNTS = new Set(['requested', 'used', 'limited']);

function sameRefusal(expected: unknown, got: unknown): boolean {
  const record = z.record(z.string(), z.unknown()).parse(got);
  return Object.entries(z.record(z.string(), z.unknown()).parse(expected)).every(([key, value]) =>
    AMOUNTS.has(key) ? sameAmounts(value, record[key]) : sameJson(value, record[key]),
  );
}

const CLASSES = [
  'exceededQuota',
  'failedQuota',
  'statusUnknown',
  'insufficientQuota',
  'uncoveredScopes',
  'notQuota',
] as const satisfies readonly AdmissionDenial['class'][];

const amounts = z.record(z.string(), z.string());

const denial = z.strictObject({
  class: z.enum(CLASSES),
  combined: z.boolean().optional(),
  resource: z.string().optional(),
  group: z.string().optional(),
  object: z.string().optional(),
  statefulSet: z.string().optional(),
  pod: z.string().optional(),
  claim: z.string().optional(),
  replicaSet: z.string().optional(),
  quota: z.string().optional(),
  requested: amounts.optional(),
  used: amounts.optional(),
  limited: amounts.optional(),
  raw: z.string().optional(),
  resources: z.array(z.string()).optional(),
});

/** An entry of such a file is the Event itself, with what is expected beside it. */
export const eventMessage: Adapter = adapter(z.string(), denial, parseAdmissionMessage, sameRefusal);

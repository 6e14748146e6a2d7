/** The messages of real FailedCreate Events: every field that a case expects, amounts by value. */
import * as z from 'zod';
import { type AdmissionDenial, parseAdmissionMessage } from '../../../domain/quota-resize/demand/event-message.ts';
import { adapter, type Adapter, UnknownShape } from '../adapter.ts';
import { sameAmounts, sameJson } from '../compare.ts';

const AMOUNTS = new Set(['requested', 'used', 'limited']);

function sameRefusal(expected: unknown, got: unknown): boolean {
  const record = z.record(z.string(), z.unknown()).parse(got);
  return Object.entries(z.record(z.string(), z.unknown()).parse(expected)).every(([key, value]) =>
    AMOUNTS.has(key) ? sameAmounts(value, record[key]) : sameJson(value, record[key]),
  );
}

const CLASSES: readonly unknown[] = [
  'exceededQuota',
  'failedQuota',
  'statusUnknown',
  'insufficientQuota',
  'uncoveredScopes',
  'notQuota',
] satisfies AdmissionDenial['class'][];

const byMessage = adapter(
  z.object({ message: z.string() }),
  ({ message }) => parseAdmissionMessage(message),
  sameRefusal,
);

/** An entry of such a file is the Event itself, with what is expected beside it. */
export const eventMessage: Adapter = (testCase) => {
  const { class: wanted } = z.looseObject({ class: z.unknown() }).parse(testCase.expected);
  if (!CLASSES.includes(wanted)) {
    throw new UnknownShape(`class ${String(wanted)}`);
  }
  return byMessage({ ...testCase, input: { message: testCase.input } });
};

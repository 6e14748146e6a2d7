/** Moments in annotations. */
import * as z from 'zod';
import type { EpochMs } from '../../kernel/time.ts';

export function rfc3339(at: EpochMs): string {
  return new Date(at).toISOString();
}

const RFC3339 = /^(\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

/** RFC 3339 with any offset and any number of decimals; milliseconds are kept. */
export const instant = z.string().transform((text, context): EpochMs => {
  const [, seconds = '', fraction = '', offset = ''] = RFC3339.exec(text) ?? [];
  const at = Date.parse(`${seconds}${fraction.slice(0, 4)}${offset}`.toUpperCase());
  if (!Number.isNaN(at)) return at;
  context.addIssue(`"${text}" is no RFC 3339 time such as 2026-11-20T10:15:00Z`);
  return z.NEVER;
});

/** A condition in the status of a custom resource, in the form of Kubernetes' `metav1.Condition`. */
import { z } from 'zod';
import { isRecord } from './record.ts';
import type { EpochMs } from './time.ts';

export const condition = z.object({
  type: z.string(),
  status: z.enum(['True', 'False', 'Unknown']),
  observedGeneration: z.int().optional(),
  lastTransitionTime: z.string(),
  reason: z.string(),
  message: z.string(),
});
export type Condition = z.infer<typeof condition>;

/** A condition as others may have written it. */
export interface ReadCondition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** When it became what it is; null where it does not say. */
  readonly since: EpochMs | null;
}

/** The condition of a type in a status, whatever of both is missing; null where there is none. */
export function conditionIn(status: unknown, type: string): ReadCondition | null {
  const conditions: readonly unknown[] =
    isRecord(status) && Array.isArray(status['conditions']) ? status['conditions'] : [];
  const found = conditions.filter(isRecord).find((each) => each['type'] === type);
  if (found === undefined) return null;
  const textOf = (key: string): string => (typeof found[key] === 'string' ? found[key] : '');
  const since = Date.parse(textOf('lastTransitionTime'));
  return {
    status: textOf('status'),
    reason: textOf('reason') || type,
    message: textOf('message') || `${type} is ${textOf('status')}`,
    since: Number.isNaN(since) ? null : since,
  };
}

/** The least values of settings that annotations may choose: how often Headroom asks people, and for how little. */
import { isLessPercent, type Percent } from '../../kernel/percent.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Guardrail } from './guardrail.ts';
import type { PolicyDefaults } from './policy.ts';

/** Times in milliseconds. */
export interface Leasts {
  readonly leastCooldown: number;
  readonly leastRejectionCooldown: number;
  readonly leastApprovalTimeout: number;
  readonly leastReminder: number;
  readonly leastIncrement: Percent;
  readonly leastThreshold: Percent;
}

/** What holds where a guardrail does not say: a person has the time to answer, and is not asked for trifles. */
export const BUILT_IN_LEASTS: Leasts = {
  leastCooldown: 15 * MINUTE_MS,
  leastRejectionCooldown: 60 * MINUTE_MS,
  leastApprovalTimeout: 15 * MINUTE_MS,
  leastReminder: 15 * MINUTE_MS,
  leastIncrement: '5',
  leastThreshold: '50',
};

type Installed = Pick<
  PolicyDefaults,
  'cooldown' | 'rejectionCooldown' | 'approvalTimeout' | 'approvalReminder' | 'increment' | 'threshold'
>;

/**
 * What the guardrail says; where it says nothing the built-in value, or the installation's own setting where that is less,
 * because both are the platform's. A threshold that the guardrail allows at most is also less.
 */
export function leastsOf(guardrail: Guardrail, installed: Installed): Leasts {
  const built = BUILT_IN_LEASTS;
  return {
    leastCooldown: guardrail.leastCooldown ?? Math.min(built.leastCooldown, installed.cooldown),
    leastRejectionCooldown:
      guardrail.leastRejectionCooldown ?? Math.min(built.leastRejectionCooldown, installed.rejectionCooldown),
    leastApprovalTimeout:
      guardrail.leastApprovalTimeout ??
      Math.min(built.leastApprovalTimeout, installed.approvalTimeout ?? Number.POSITIVE_INFINITY),
    leastReminder:
      guardrail.leastReminder ?? Math.min(built.leastReminder, installed.approvalReminder ?? Number.POSITIVE_INFINITY),
    leastIncrement: guardrail.leastIncrement ?? lesser(built.leastIncrement, installed.increment),
    leastThreshold:
      guardrail.threshold?.least ??
      [built.leastThreshold, installed.threshold].reduce(lesser, guardrail.threshold?.greatest ?? '100'),
  };
}

/** Who sets one of the values that hold, a clause for people. */
export function setterOf(key: keyof Leasts, guardrail: Guardrail, leasts: Leasts): string {
  const { name, threshold } = guardrail;
  const isOwn =
    key === 'leastThreshold'
      ? [threshold?.least, threshold?.greatest].includes(leasts.leastThreshold)
      : guardrail[key] !== undefined;
  if (isOwn) return `guardrail ${name} sets`;
  const setter = leasts[key] === BUILT_IN_LEASTS[key] ? 'Headroom' : 'the installation';
  return `${setter} sets where guardrail ${name} does not`;
}

function lesser(a: Percent, b: Percent): Percent {
  return isLessPercent(b, a) ? b : a;
}

import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import type { LimitChange } from '../../../domain/quota-resize/model/decision.ts';
import type { LeaseMemory } from '../../../domain/quota-resize/model/lease.ts';
import { digest } from '../../kernel/object-event.ts';
import { ensureQuotaEvent, type QuotaEventOptions } from '../../kernel/quota-event.ts';
import type { Recommendation } from '../interface.ts';
import type { LeaseStore } from '../lease/lease.ts';

/** Remembers the recommendations that this process has logged, so that a retried activity does not log them again. */
const MAX_REMEMBERED_LINES = 1000;

/**
 * Writes recommendations: an Event on the quota and a log line, each once for the same values and moment, and in
 * observe mode an entry in the Lease that prevents repetitions.
 */
export function recommendationWriter(
  options: QuotaEventOptions & { readonly leases: LeaseStore },
): (input: Recommendation & { readonly target: QuotaTarget }) => Promise<void> {
  const logged = new Set<string>();
  const logOnce = (key: string, fields: object): void => {
    if (logged.has(key)) return;
    logged.add(key);
    const [oldest] = logged;
    if (logged.size > MAX_REMEMBERED_LINES && oldest !== undefined) logged.delete(oldest);
    options.log.info(fields, 'QuotaResizeRecommended');
  };
  return async ({ target, quotaUid, changes, evidence, notes = [], mode, at }) => {
    const { namespace, quota, cluster } = target;
    const key = digest(JSON.stringify([at, changes.map(({ resource, from, to }) => [resource, from, to])]));
    logOnce(`${targetName(target)}/${key}`, {
      namespace,
      quota,
      cluster,
      mode,
      changes,
      evidence,
      ...(notes.length === 0 ? {} : { notes }),
    });
    const message = [...changes.map(sentenceOf), ...notes].join(' ');
    await ensureQuotaEvent(options, {
      target,
      quotaUid,
      type: 'Warning',
      reason: 'QuotaResizeRecommended',
      message,
      key,
    });
    if (mode !== 'observe') return;
    const limits = Object.fromEntries(changes.map((change) => [change.resource, change.to]));
    // One of the future would be the last.
    await rememberRecommendation(options.leases, target, { limits, at: Math.min(at, Date.now()) });
  };
}

/** Stores what was recommended when, in a Lease that need not exist or be held. */
async function rememberRecommendation(
  leases: LeaseStore,
  target: QuotaTarget,
  recommendation: NonNullable<LeaseMemory['lastRecommendation']>,
): Promise<void> {
  await leases.remember(target, (memory) => {
    const recorded = memory.lastRecommendation;
    if (recorded !== null && recorded.at >= recommendation.at) return null;
    return { ...memory, lastRecommendation: recommendation };
  });
}

function sentenceOf({ resource, from, to, reason }: LimitChange): string {
  return `${resource} should be raised from ${from} to ${to}. ${reason}`;
}

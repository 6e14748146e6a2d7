import type { Logger } from 'pino';
import type { HourlyBudgets } from '../../domain/kernel/hourly-budget.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { ensureObjectEvent } from './object-event.ts';

export interface QuotaEventOptions {
  readonly kubernetes: Kubernetes;
  readonly log: Pick<Logger, 'info'>;
  /** How many Warnings of a reason this process writes about a quota in an hour; absent: as many as there are. */
  readonly warnings?: HourlyBudgets;
}

/** An Event on a ResourceQuota. */
export interface QuotaEvent {
  readonly target: QuotaTarget;
  readonly quotaUid: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** Writes with the same key give one Event. */
  readonly key: string;
}

/**
 * Writes an Event on the quota; writing it again changes nothing. A namespace that is being deleted or gone accepts no
 * Events, which is only logged.
 *
 * @returns `putOff` when it was left out because there are enough of them in this hour.
 */
export async function ensureQuotaEvent(
  { kubernetes, log, warnings }: QuotaEventOptions,
  input: QuotaEvent,
): Promise<'told' | 'putOff'> {
  const { target, quotaUid, type, reason, message, key } = input;
  const { namespace, quota } = target;
  const about = { apiVersion: 'v1', kind: 'ResourceQuota', name: quota, namespace, uid: quotaUid };
  const budget = type === 'Warning' ? warnings : undefined;
  const what = `${targetName(target)} ${reason}`;
  const unwritten = (why: string): void =>
    log.info({ namespace, quota, reason, message }, `the Event ${reason} is not written: ${why}`);
  if (budget?.isSpent(what, Date.now()) === true) {
    unwritten('there are enough of them in this hour');
    return 'putOff';
  }
  const outcome = await ensureObjectEvent(kubernetes, { about, type, reason, message, key });
  if (outcome === 'written') budget?.spend(what, Date.now());
  if (outcome === 'gone') unwritten(`the namespace ${namespace} is deleted`);
  return 'told';
}

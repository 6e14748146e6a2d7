import type { Logger } from 'pino';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { ensureObjectEvent } from './object-event.ts';

export interface QuotaEventOptions {
  readonly kubernetes: Kubernetes;
  readonly log: Pick<Logger, 'info'>;
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
 */
export async function ensureQuotaEvent({ kubernetes, log }: QuotaEventOptions, input: QuotaEvent): Promise<void> {
  const { target, quotaUid, type, reason, message, key } = input;
  const { namespace, quota } = target;
  const about = { apiVersion: 'v1', kind: 'ResourceQuota', name: quota, namespace, uid: quotaUid };
  if (await ensureObjectEvent(kubernetes, { about, type, reason, message, key })) return;
  log.info(
    { namespace, quota, reason, message },
    `the Event ${reason} is not written: the namespace ${namespace} is deleted`,
  );
}

import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { isNamespaceTerminating, statusCode } from '../ports/kubernetes-failure.ts';

/** The longest message that the API server takes in an Event. */
const MAX_MESSAGE_LENGTH = 1024;
const MAX_NAME_LENGTH = 253;
const COMPONENT = 'headroom';

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
  /** The same key is the same Event, however often it is written. */
  readonly key: string;
}

/**
 * Writes an Event on the quota, under a name made of the quota's UID, the reason and the key, so that writing it again
 * changes nothing. A namespace that is being deleted or gone takes no Events, which is logged and no error.
 */
export async function ensureQuotaEvent({ kubernetes, log }: QuotaEventOptions, input: QuotaEvent): Promise<void> {
  const { target, quotaUid, type, reason, message, key } = input;
  const { namespace, quota } = target;
  const suffix = `.${digest([quotaUid, reason, key].join('\n'))}`;
  const head = quota.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[.-]+$/, '');
  const now = new Date();
  try {
    await kubernetes.core.createNamespacedEvent({
      namespace,
      body: {
        metadata: { name: head + suffix, namespace },
        involvedObject: { apiVersion: 'v1', kind: 'ResourceQuota', name: quota, namespace, uid: quotaUid },
        type,
        reason,
        message: shortened(message),
        source: { component: COMPONENT },
        reportingComponent: COMPONENT,
        reportingInstance: COMPONENT,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
    });
  } catch (error) {
    // The Event of an earlier attempt.
    if (statusCode(error) === 409) return;
    if (statusCode(error) !== 404 && !isNamespaceTerminating(error)) throw error;
    log.info(
      { namespace, quota, reason, message },
      `the Event ${reason} is not written: the namespace ${namespace} is deleted`,
    );
  }
}

function shortened(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}

/** A short name for a text, the same each time. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import { targetName } from '../../domain/kernel/target.ts';
import type { LimitChange } from '../../domain/quota-resize/decision.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { isNamespaceTerminating, statusCode } from '../ports/kubernetes-failure.ts';
import type { QuotaEventInput, QuotaResizeActivities } from './interface.ts';
import type { LeaseStore } from './lease.ts';

/** The longest message that the API server takes in an Event. */
const MAX_MESSAGE_LENGTH = 1024;
const MAX_NAME_LENGTH = 253;
const COMPONENT = 'headroom';

interface QuotaEventOptions {
  readonly kubernetes: Kubernetes;
  readonly log: Pick<Logger, 'info'>;
}

/**
 * Writes an Event on the quota, under a name made of the quota's UID, the reason and the key, so that writing it again
 * changes nothing. A namespace that is being deleted or gone takes no Events, which is logged and no error.
 */
export async function ensureQuotaEvent({ kubernetes, log }: QuotaEventOptions, input: QuotaEventInput): Promise<void> {
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

/** The recommendations whose log line this process wrote, so that a retried activity does not repeat it. */
const MAX_REMEMBERED_LINES = 1000;

/**
 * The writer of recommendations: an Event on the quota and a log line, each once for the same values and moment, and in
 * observe mode a note in the Lease that keeps the recommendation from being repeated.
 */
export function recommendationWriter(
  options: QuotaEventOptions & { readonly leases: LeaseStore },
): QuotaResizeActivities['ensureRecommendation'] {
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
    const message = [...changes.map(sentenceOf), ...notes].join('; ');
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
    await options.leases.rememberRecommendation(target, { limits, at });
  };
}

function sentenceOf({ resource, from, to, reason }: LimitChange): string {
  return `${resource} should be raised from ${from} to ${to}: ${reason}`;
}

function shortened(message: string): string {
  return message.length <= MAX_MESSAGE_LENGTH ? message : `${message.slice(0, MAX_MESSAGE_LENGTH - 1)}…`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

import { truncate } from '../../domain/kernel/sentence.ts';
import { createHash } from 'node:crypto';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { isNamespaceTerminating, statusCode } from '../kubernetes/failure.ts';

/** The longest message that the API server takes in an Event. */
const MAX_MESSAGE_LENGTH = 1024;
const MAX_NAME_LENGTH = 253;
const COMPONENT = 'headroom';
/** Where Kubernetes wants the Events on objects that are in no namespace. */
const NAMESPACE_OF_CLUSTER_SCOPED = 'default';

/** Which object an Event is about; without a namespace it is one of the cluster itself. */
interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

interface ObjectEvent {
  readonly about: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  /** The same key is the same Event, however often it is written. */
  readonly key: string;
}

/**
 * Writes an Event on an object, under a name made of the object's UID, the reason and the key, so that writing it again
 * changes nothing.
 *
 * @returns false where it is not written, because its namespace is being deleted or gone and takes no Events.
 */
export async function ensureObjectEvent(
  { core }: Pick<Kubernetes, 'core'>,
  { about, type, reason, message, key }: ObjectEvent,
): Promise<boolean> {
  const namespace = about.namespace ?? NAMESPACE_OF_CLUSTER_SCOPED;
  const suffix = `.${digest([about.uid, reason, key].join('\n'))}`;
  const head = about.name.slice(0, MAX_NAME_LENGTH - suffix.length).replace(/[.-]+$/, '');
  const now = new Date();
  try {
    await core.createNamespacedEvent({
      namespace,
      body: {
        metadata: { name: head + suffix, namespace },
        involvedObject: { ...about },
        type,
        reason,
        message: truncate(message, MAX_MESSAGE_LENGTH),
        source: { component: COMPONENT },
        reportingComponent: COMPONENT,
        reportingInstance: COMPONENT,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
    });
    return true;
  } catch (error) {
    // The Event of an earlier attempt.
    if (statusCode(error) === 409) return true;
    if (statusCode(error) === 404 || isNamespaceTerminating(error)) return false;
    throw error;
  }
}

/** A short name for a text, the same each time. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

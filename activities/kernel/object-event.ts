import { digestOf } from '../../domain/kernel/digest.ts';
import { sentence, truncate, visibleText } from '../../domain/kernel/sentence.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { isNamespaceTerminating, statusCode } from '../kubernetes/failure.ts';

/** The longest message that the API server takes in an Event. */
const MAX_MESSAGE_LENGTH = 1024;
const MAX_NAME_LENGTH = 253;
/** Who reports the Events that Headroom writes. */
export const EVENT_COMPONENT = 'headroom';
/** The namespace for Events about cluster-scoped objects. */
const NAMESPACE_OF_CLUSTER_SCOPED = 'default';

/** The object of an Event; without a namespace the object is cluster-scoped. */
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
  /** Written as a sentence: with a capital letter and a full stop. */
  readonly message: string;
  /** Writes with the same key give one Event. */
  readonly key: string;
}

/**
 * Writes an Event on an object. Its name is derived from the object's UID, the reason and the key, so that writing it
 * again changes nothing.
 *
 * @returns `there`: it was written before; `gone`: its namespace is being deleted or gone.
 */
export async function ensureObjectEvent(
  { core }: Pick<Kubernetes, 'core'>,
  { about, type, reason, message, key }: ObjectEvent,
): Promise<'written' | 'there' | 'gone'> {
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
        message: truncate(sentence(visibleText(message)), MAX_MESSAGE_LENGTH),
        source: { component: EVENT_COMPONENT },
        reportingComponent: EVENT_COMPONENT,
        reportingInstance: EVENT_COMPONENT,
        firstTimestamp: now,
        lastTimestamp: now,
        count: 1,
      },
    });
    return 'written';
  } catch (error) {
    // An earlier attempt wrote the Event.
    if (statusCode(error) === 409) return 'there';
    if (statusCode(error) === 404 || isNamespaceTerminating(error)) return 'gone';
    throw error;
  }
}

/** A short name for a text, always the same for the same text. */
export function digest(text: string): string {
  return digestOf(text, 16);
}

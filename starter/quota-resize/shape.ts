/** What the caches of the resizer keep of objects, most of which others write. */
import { createHash } from 'node:crypto';
import type {
  CoreV1Event,
  KubernetesObject,
  V1Namespace,
  V1ObjectMeta,
  V1ResourceQuota,
} from '@kubernetes/client-node';
import { denialMessage } from '../../domain/quota-resize/demand/event-message.ts';

/** An Event; its text is read once. */
export interface WatchedEvent extends KubernetesObject {
  /**
   * Of a denial what it says, as a digest: a controller that tries again is denied again, with another name of the object that it
   * would create and nothing else. Null for any other Event.
   */
  readonly denial: string | null;
}

export function shapeEvent({
  metadata,
  type,
  message,
  involvedObject,
}: KubernetesObject &
  Pick<CoreV1Event, 'type' | 'message'> &
  Partial<Pick<CoreV1Event, 'involvedObject'>>): WatchedEvent {
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    denial: type === 'Warning' && denialMessage(message) !== null ? digestOf(message ?? '', involvedObject) : null,
  };
}

/** Who was denied, and what follows the name of the object. */
function digestOf(message: string, owner: CoreV1Event['involvedObject'] | undefined): string {
  const { kind = '', namespace = '', name = '', uid = '' } = owner ?? {};
  const said = message.slice(message.indexOf('is forbidden: '));
  return createHash('sha1').update([kind, namespace, name, uid, said].join('\n')).digest('base64');
}

/** Labels choose a guardrail. */
export function shapeNamespace({ metadata, status }: V1Namespace): V1Namespace {
  return { metadata: shapeMetadata(metadata, metadata?.labels), ...(status === undefined ? {} : { status }) };
}

export function shapeQuota({ metadata, spec, status }: V1ResourceQuota): V1ResourceQuota {
  return {
    metadata: shapeMetadata(metadata, undefined),
    ...(spec === undefined ? {} : { spec }),
    ...(status === undefined ? {} : { status }),
  };
}

/** Of annotations only the policy. */
function shapeMetadata(metadata: V1ObjectMeta | undefined, labels: V1ObjectMeta['labels']): V1ObjectMeta {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, annotations = {} } = metadata ?? {};
  const policy = Object.entries(annotations).filter(([key]) => key.startsWith('resizer.io/'));
  const kept: V1ObjectMeta = { annotations: Object.fromEntries(policy) };
  if (name !== undefined) kept.name = name;
  if (namespace !== undefined) kept.namespace = namespace;
  if (uid !== undefined) kept.uid = uid;
  if (resourceVersion !== undefined) kept.resourceVersion = resourceVersion;
  if (deletionTimestamp !== undefined) kept.deletionTimestamp = deletionTimestamp;
  if (labels !== undefined) kept.labels = labels;
  return kept;
}

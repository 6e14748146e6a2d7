/** What the caches of the resizer keep of objects, most of which others write. */
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
  readonly isDenial: boolean;
}

export function shapeEvent({
  metadata,
  type,
  message,
}: KubernetesObject & Pick<CoreV1Event, 'type' | 'message'>): WatchedEvent {
  const { name, namespace, resourceVersion } = metadata ?? {};
  return {
    metadata: {
      ...(name === undefined ? {} : { name }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    isDenial: type === 'Warning' && denialMessage(message) !== null,
  };
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

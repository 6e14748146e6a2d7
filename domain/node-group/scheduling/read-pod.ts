/** Reduces a Pod of Kubernetes, as JSON, to the model. */
import { isSidecar } from '../../kernel/containers-together.ts';
import { isRecord } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type {
  HostPort,
  Labels,
  Pod,
  PodAffinityTerm,
  PodConstraints,
  PodOwner,
  TopologySpreadConstraint,
} from '../model/pod.ts';
import { listOf, podRequests } from '../../kernel/pod-requests.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Annotations that say something about scaling or draining. */
const TELLING =
  /^(?:autoscaler\.vpsie\.com\/|cluster-autoscaler\.kubernetes\.io\/|karpenter\.sh\/|kubernetes\.io\/config\.)/;
const NOTHING: Fields = {};
/** Kubernetes' default for pods that say nothing. */
const GRACE_SECONDS = 30;
const SCHEDULED = 'PodScheduled';

export function fieldsOf(value: unknown): Fields {
  return isRecord(value) ? value : NOTHING;
}

export function textOf(value: unknown, otherwise = ''): string {
  return typeof value === 'string' ? value : otherwise;
}

export function labelsOf(value: unknown): Labels {
  return isRecord(value) ? (value as Labels) : {};
}

/** Milliseconds since 1970 of a moment in an object: text, or a Date where a client library has made one. */
export function momentOf(value: unknown): number {
  const at = value instanceof Date ? value.getTime() : Date.parse(textOf(value));
  return Number.isFinite(at) ? at : 0;
}

export function tellingAnnotations(value: unknown): Labels {
  const all = labelsOf(value);
  const telling = Object.keys(all).filter((key) => TELLING.test(key));
  return Object.fromEntries(telling.map((key) => [key, all[key] ?? '']));
}

export function readPod(object: Fields): Pod {
  const metadata = fieldsOf(object['metadata']);
  const spec = fieldsOf(object['spec']);
  const status = fieldsOf(object['status']);
  const name = textOf(metadata['name']);
  const conditions = listOf(status['conditions']);
  const scheduled = conditions.find(({ type }) => type === SCHEDULED);
  const grace = spec['terminationGracePeriodSeconds'];
  return {
    ...podConstraints(object, name),
    uid: textOf(metadata['uid']),
    namespace: textOf(metadata['namespace'], 'default'),
    name,
    labels: labelsOf(metadata['labels']),
    annotations: tellingAnnotations(metadata['annotations']),
    owner: ownerOf(metadata['ownerReferences']),
    node: textOf(spec['nodeName']) || null,
    nominatedNode: textOf(status['nominatedNodeName']) || null,
    phase: phaseOf(status['phase']),
    priority: typeof spec['priority'] === 'number' ? spec['priority'] : 0,
    schedulerName: textOf(spec['schedulerName'], 'default-scheduler'),
    createdAt: momentOf(metadata['creationTimestamp']),
    deletesAt: metadata['deletionTimestamp'] === undefined ? null : momentOf(metadata['deletionTimestamp']),
    gracePeriodSeconds: typeof grace === 'number' ? grace : GRACE_SECONDS,
    unscheduled:
      scheduled?.['status'] === 'False'
        ? {
            reason: textOf(scheduled['reason']),
            message: textOf(scheduled['message']),
            since: momentOf(scheduled['lastTransitionTime']),
            writtenAt: writtenAt(metadata['managedFields'], SCHEDULED),
          }
        : null,
    isReady: conditions.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    localVolumes: listOf(spec['volumes'])
      .filter(isLocal)
      .map((volume) => textOf(volume['name'])),
  };
}

/**
 * When a condition was last written, by the clock of the API server: its own times are of the clock of whoever writes it, and change only
 * with its status, and not with its message. A tenant may take the entry away, or write another time, and then nobody but this pod is
 * judged by it.
 */
export function writtenAt(managedFields: unknown, condition: string): EpochMs | null {
  const key = `k:${JSON.stringify({ type: condition })}`;
  const owners = listOf(managedFields).filter(({ subresource, fieldsV1 }) => {
    const { 'f:conditions': conditions } = fieldsOf(fieldsOf(fieldsV1)['f:status']);
    return subresource === 'status' && Object.hasOwn(fieldsOf(conditions), key);
  });
  return Math.max(0, ...owners.map(({ time }) => momentOf(time))) || null;
}

/** What scheduling asks about, of a pod or of a pod template; a template's pods have no name yet. */
export function podConstraints(pod: Fields, podName: string | null): PodConstraints {
  const spec = fieldsOf(pod['spec']);
  const affinity = fieldsOf(spec['affinity']);
  const required = fieldsOf(affinity['nodeAffinity'])['requiredDuringSchedulingIgnoredDuringExecution'];
  return {
    requests: podRequests(pod),
    nodeSelector: labelsOf(spec['nodeSelector']),
    nodeAffinity: isRecord(required) ? listOf(required['nodeSelectorTerms']) : null,
    tolerations: listOf(spec['tolerations']),
    podAffinity: requiredTerms(affinity['podAffinity']),
    podAntiAffinity: requiredTerms(affinity['podAntiAffinity']),
    spread: listOf(spec['topologySpreadConstraints']).filter(
      (constraint) => constraint['whenUnsatisfiable'] !== 'ScheduleAnyway',
    ) as unknown as readonly TopologySpreadConstraint[],
    hostPorts: hostPortsOf(spec),
    claims: claimsOf(spec, podName),
    claimsDevices: listOf(spec['resourceClaims']).length > 0,
  };
}

function requiredTerms(affinity: unknown): readonly PodAffinityTerm[] {
  return listOf(
    fieldsOf(affinity)['requiredDuringSchedulingIgnoredDuringExecution'],
  ) as unknown as readonly PodAffinityTerm[];
}

/** Sidecars keep their ports as long as the pod runs; kube-scheduler counts those of all containers that are not ordinary inits. */
function hostPortsOf(spec: Fields): readonly HostPort[] {
  return [...listOf(spec['containers']), ...listOf(spec['initContainers']).filter(isSidecar)]
    .flatMap(({ ports }) => listOf(ports))
    .filter(({ hostPort }) => typeof hostPort === 'number' && hostPort > 0)
    .map(({ hostPort, protocol, hostIP }) => ({
      port: Number(hostPort),
      protocol: textOf(protocol, 'TCP') as HostPort['protocol'],
      ip: textOf(hostIP) || '0.0.0.0',
    }));
}

function claimsOf(spec: Fields, podName: string | null): readonly string[] {
  return listOf(spec['volumes']).flatMap((volume) => {
    const claim = volume['persistentVolumeClaim'];
    if (isRecord(claim)) return [textOf(claim['claimName'])];
    // A generic ephemeral volume has a claim that is called after the pod.
    return isRecord(volume['ephemeral']) && podName !== null ? [`${podName}-${textOf(volume['name'])}`] : [];
  });
}

function isLocal({ emptyDir, hostPath }: Fields): boolean {
  if (isRecord(hostPath)) return true;
  // One in memory is lost whenever the pod is.
  return isRecord(emptyDir) && emptyDir['medium'] !== 'Memory';
}

function ownerOf(references: unknown): PodOwner | null {
  const owner = listOf(references).find(({ controller }) => controller === true);
  if (owner === undefined) return null;
  return {
    apiVersion: textOf(owner['apiVersion']),
    kind: textOf(owner['kind']),
    name: textOf(owner['name']),
    uid: textOf(owner['uid']),
  };
}

const PHASES: readonly Pod['phase'][] = ['Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'];

function phaseOf(value: unknown): Pod['phase'] {
  return PHASES.find((phase) => phase === value) ?? 'Pending';
}

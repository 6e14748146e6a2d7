/** Reduces the other objects of Kubernetes that a plan is made of, as JSON, to the model. */
import { isRecord } from '../../kernel/record.ts';
import type {
  AttachLimits,
  Claim,
  DaemonSet,
  DisruptionBudget,
  LimitRange,
  PersistentVolume,
  RuntimeClass,
  StorageClass,
} from '../model/cluster-state.ts';
import type { Node } from '../model/node.ts';
import type { Taint } from '../model/pod.ts';
import { amountsOf, finiteAmount } from '../../kernel/amounts.ts';
import { listOf } from '../../kernel/pod-requests.ts';
import { readTemplate } from './daemon-template.ts';
import { fieldsOf, labelsOf, momentOf, tellingAnnotations, textOf, writtenAt } from './read-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

/** kube-scheduler reads these labels of volumes. */
const ZONE_LABEL = /^(?:topology|failure-domain\.beta)\.kubernetes\.io\/(?:zone|region)$/;

/** kube-scheduler goes by these annotations of claims. The class may be there since before there was a field for it, and then counts first. */
const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
const SELECTED_NODE = 'volume.kubernetes.io/selected-node';
const STORAGE_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** The DaemonSet controller counts the changes of a template there, and puts the count on each pod. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

const READY = 'Ready';

export function readNode(object: Fields): Node {
  const metadata = fieldsOf(object['metadata']);
  const spec = fieldsOf(object['spec']);
  const status = fieldsOf(object['status']);
  const ready = listOf(status['conditions']).find(({ type }) => type === READY);
  const is = ready?.['status'];
  const createdAt = momentOf(metadata['creationTimestamp']);
  const since = momentOf(ready?.['lastTransitionTime']);
  return {
    name: textOf(metadata['name']),
    uid: textOf(metadata['uid']),
    labels: labelsOf(metadata['labels']),
    annotations: tellingAnnotations(metadata['annotations']),
    taints: listOf(spec['taints']) as unknown as readonly Taint[],
    isCordoned: spec['unschedulable'] === true,
    allocatable: amountsOf(status['allocatable']),
    providerId: textOf(spec['providerID']),
    createdAt,
    ready: {
      status: is === 'True' || is === 'False' ? is : 'Unknown',
      since: Math.max(
        ready?.['status'] === 'True' ? createdAt : 0,
        Math.min(since || createdAt, writtenAt(metadata['managedFields'], READY) ?? Number.POSITIVE_INFINITY),
      ),
    },
    isDeleting: metadata['deletionTimestamp'] !== undefined,
    ...finalizersOf(metadata),
  };
}

/** Finalizers matter only while an object is being deleted. */
function finalizersOf({ deletionTimestamp, finalizers }: Fields): Pick<Node, 'finalizers'> {
  return deletionTimestamp === undefined || !Array.isArray(finalizers) ? {} : { finalizers: finalizers.map(String) };
}

export function readDaemonSet(object: Fields): DaemonSet {
  const metadata = fieldsOf(object['metadata']);
  const template = fieldsOf(fieldsOf(object['spec'])['template']);
  const status = fieldsOf(object['status']);
  const isObserved = countOf(status['observedGeneration']) >= countOf(metadata['generation']);
  return {
    namespace: textOf(metadata['namespace'], 'default'),
    name: textOf(metadata['name']),
    uid: textOf(metadata['uid']),
    createdAt: momentOf(metadata['creationTimestamp']),
    labels: labelsOf(fieldsOf(template['metadata'])['labels']),
    template: readTemplate(fieldsOf(template['spec'])),
    generation: textOf(fieldsOf(metadata['annotations'])[TEMPLATE_GENERATION]) || null,
    hasNoPods:
      isObserved && countOf(status['desiredNumberScheduled']) > 0 && countOf(status['currentNumberScheduled']) === 0,
    ...(metadata['deletionTimestamp'] === undefined ? {} : { isDeleting: true }),
  };
}

export function readLimitRange(object: Fields): LimitRange {
  const metadata = fieldsOf(object['metadata']);
  const limits = listOf(fieldsOf(object['spec'])['limits']).map((item) => ({
    type: textOf(item['type']),
    default: labelsOf(item['default']),
    defaultRequest: labelsOf(item['defaultRequest']),
  }));
  return { namespace: textOf(metadata['namespace'], 'default'), name: textOf(metadata['name']), spec: { limits } };
}

export function readRuntimeClass(object: Fields): RuntimeClass {
  const { overhead, scheduling } = object;
  const { nodeSelector, tolerations } = fieldsOf(scheduling);
  return {
    name: textOf(fieldsOf(object['metadata'])['name']),
    ...(isRecord(overhead) ? { overhead: { podFixed: labelsOf(overhead['podFixed']) } } : {}),
    ...(isRecord(scheduling)
      ? { scheduling: { nodeSelector: labelsOf(nodeSelector), tolerations: listOf(tolerations) } }
      : {}),
  };
}

export function readBudget(object: Fields): DisruptionBudget {
  const metadata = fieldsOf(object['metadata']);
  const spec = fieldsOf(object['spec']);
  const status = fieldsOf(object['status']);
  return {
    namespace: textOf(metadata['namespace'], 'default'),
    name: textOf(metadata['name']),
    selector: isRecord(spec['selector']) ? spec['selector'] : null,
    disruptionsAllowed: countOf(status['disruptionsAllowed']),
    currentHealthy: countOf(status['currentHealthy']),
    desiredHealthy: countOf(status['desiredHealthy']),
    disruptedPods: Object.keys(fieldsOf(status['disruptedPods'])).length,
    unhealthyPodEvictionPolicy:
      spec['unhealthyPodEvictionPolicy'] === 'AlwaysAllow' ? 'AlwaysAllow' : 'IfHealthyBudget',
    isObserved: countOf(status['observedGeneration']) >= countOf(metadata['generation']),
  };
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

export function readClaim(object: Fields): Claim {
  const metadata = fieldsOf(object['metadata']);
  const spec = fieldsOf(object['spec']);
  const phase = fieldsOf(object['status'])['phase'];
  const annotations = labelsOf(metadata['annotations']);
  const volume = textOf(spec['volumeName']);
  const isBound = volume !== '' && annotations[BIND_COMPLETED] !== undefined;
  const selectedNode = annotations[SELECTED_NODE];
  return {
    namespace: textOf(metadata['namespace'], 'default'),
    name: textOf(metadata['name']),
    volume: isBound ? volume : null,
    ...(isBound || volume === '' ? {} : { wantedVolume: volume }),
    storageClass: (annotations[STORAGE_CLASS] ?? textOf(spec['storageClassName'])) || null,
    ...(selectedNode === undefined ? {} : { selectedNode }),
    isLost: phase === 'Lost',
    ...(metadata['deletionTimestamp'] === undefined ? {} : { isDeleting: true }),
    isOfOnePod: Array.isArray(spec['accessModes']) && spec['accessModes'].includes('ReadWriteOncePod'),
  };
}

export function readVolume(object: Fields): PersistentVolume {
  const spec = fieldsOf(object['spec']);
  const metadata = fieldsOf(object['metadata']);
  const name = textOf(metadata['name']);
  const required = fieldsOf(spec['nodeAffinity'])['required'];
  const zones = Object.entries(labelsOf(metadata['labels'])).filter(([key]) => ZONE_LABEL.test(key));
  const csi = fieldsOf(spec['csi']);
  return {
    name,
    nodeAffinity: isRecord(required) ? listOf(required['nodeSelectorTerms']) : null,
    driver: textOf(csi['driver']) || null,
    handle: textOf(csi['volumeHandle'], name),
    isLocal: isRecord(spec['local']) || isRecord(spec['hostPath']),
    ...(zones.length === 0 ? {} : { zones: Object.fromEntries(zones) }),
  };
}

/** Topologies of a class are terms of labels with values. */
export function readStorageClass(object: Fields): StorageClass {
  const topologies = listOf(object['allowedTopologies']).map(({ matchLabelExpressions }) => ({
    matchExpressions: listOf(matchLabelExpressions).map(({ key, values }) => ({
      key: textOf(key),
      operator: 'In' as const,
      values: Array.isArray(values) ? values.map(String) : [],
    })),
  }));
  return {
    name: textOf(fieldsOf(object['metadata'])['name']),
    bindsAtOnce: object['volumeBindingMode'] !== 'WaitForFirstConsumer',
    provisioner: textOf(object['provisioner']),
    allowedTopologies: topologies.length === 0 ? null : topologies,
  };
}

/** Reads how many volumes the drivers of a CSINode attach. */
export function readAttachLimits(object: Fields): AttachLimits {
  const drivers = listOf(fieldsOf(object['spec'])['drivers']);
  const limits = drivers.flatMap(({ name, allocatable }) => {
    const count = fieldsOf(allocatable)['count'];
    return typeof count === 'number' ? [[textOf(name), finiteAmount(count)] as const] : [];
  });
  return { node: textOf(fieldsOf(object['metadata'])['name']), limits: Object.fromEntries(limits) };
}

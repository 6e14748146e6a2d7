/** Controllers of pods, honest and hostile: each keeps as many pods of one template as it should have. */
import type { Pod } from '../../../../domain/node-group/model/pod.ts';
import { readPod } from '../../../../domain/node-group/scheduling/read-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A pod as its tenant writes it. */
export interface Template {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly resources?: Fields;
  readonly spec?: Fields;
  /** Of the main container, besides its resources. */
  readonly container?: Fields;
  /** Nobody would make it again. */
  readonly isAlone?: boolean;
}

export interface Workload {
  readonly namespace: string;
  readonly name: string;
  readonly isHonest: boolean;
  replicas: number;
  /** What its next pod looks like; `number` is another one each time. */
  readonly template: (number: number) => Template;
  /** Pods that still wait after so long are made anew, under another name; absent: never. In milliseconds. */
  readonly remakesAfterMs?: number;
  /** Running pods end after so long; absent: never. In milliseconds. */
  readonly endsAfterMs?: number;
  /** Its running pods are resized in place to what no node could ever have. */
  readonly resizes?: boolean;
}

/** The pod as it is stored, before kube-scheduler has looked at it. */
export function podFor(workload: Workload, number: number, at: number): Pod {
  const { namespace, name } = workload;
  const {
    labels = {},
    annotations = {},
    resources = {},
    spec = {},
    container = {},
    isAlone,
  } = workload.template(number);
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: `uid-${namespace}-${name}`, controller: true };
  return readPod({
    metadata: {
      name: `${name}-${number}`,
      namespace,
      uid: `uid-${namespace}-${name}-${number}`,
      creationTimestamp: new Date(at).toISOString(),
      labels: { app: name, ...labels },
      annotations,
      ownerReferences: isAlone === true ? [] : [owner],
    },
    spec: { containers: [{ name: 'main', resources, ...container }], ...spec },
    status: { phase: 'Pending' },
  });
}

/** What a running pod counts with after its tenant asked for 500 CPUs, which the kubelet calls infeasible. */
export function resized(pod: Pod): Pod {
  const has = { requests: { cpu: '200m', memory: '256Mi' } };
  const { requests } = readPod({
    metadata: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    spec: { containers: [{ name: 'main', resources: { requests: { cpu: '500', memory: '1000Gi' } } }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'PodResizePending', status: 'True', reason: 'Infeasible' }],
      containerStatuses: [{ name: 'main', resources: has, allocatedResources: has.requests }],
    },
  });
  return { ...pod, requests };
}

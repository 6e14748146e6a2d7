/** Workloads that a schedule selects and leaves alone all the same: parts of the cluster itself, and those of operators. */
import type { ScheduleSpec } from './schedule.ts';
import { controllerSentence, protectedSentence } from '../workload/sentences.ts';
import type { Workload } from '../workload/workload.ts';

/** Why a workload is left alone. */
export interface Exemption {
  readonly reason: 'Protected' | 'ControllerOwned';
  /** One sentence for people. */
  readonly detail: string;
}

/** The labels by which charts and manifests say what a workload is a part of. */
const NAMING_LABELS = [
  'app.kubernetes.io/part-of',
  'app.kubernetes.io/name',
  'app.kubernetes.io/instance',
  'io.cilium/app',
  'k8s-app',
  'app',
] as const;

/**
 * What other workloads cannot start without, or what would have to wake everything else, by the values of those labels in
 * the charts and manifests of each. Those of Temporal protect the database that is installed with it.
 */
const COMPONENTS: readonly { readonly what: string; readonly values: readonly string[] }[] = [
  { what: 'Headroom', values: ['headroom'] },
  { what: 'Temporal', values: ['temporal', 'temporal-server'] },
  { what: 'KEDA', values: ['keda', 'keda-operator', 'keda-operator-metrics-apiserver', 'keda-admission-webhooks'] },
  { what: 'cert-manager', values: ['cert-manager', 'cainjector', 'trust-manager'] },
  { what: 'a policy engine', values: ['kyverno', 'gatekeeper', 'kubewarden', 'kubewarden-controller', 'polaris'] },
  {
    what: 'the network of the cluster',
    values: [
      'antrea',
      'calico-apiserver',
      'calico-kube-controllers',
      'calico-typha',
      'cilium',
      'cilium-operator',
      'flannel',
      'kube-ovn',
      'kube-router',
      'multus',
      'tigera-operator',
    ],
  },
  {
    what: 'the storage of the cluster',
    values: ['longhorn', 'openebs', 'portworx', 'rook-ceph', 'rook-ceph-operator', 'snapshot-controller', 'topolvm'],
  },
];

/** `aws-ebs-csi-driver`, `csi-snapshotter`. */
const CSI = /(?:^|-)csi(?:-|$)/;

/** What of the cluster itself a workload is a part of; null for one that is nothing of that. */
function componentOf(labels: Workload['labels']): string | null {
  const values = NAMING_LABELS.map((label) => labels[label]).filter((value) => value !== undefined);
  const found = COMPONENTS.find((component) => values.some((value) => component.values.includes(value)));
  if (found !== undefined) return found.what;
  return values.some((value) => CSI.test(value)) ? 'the storage of the cluster' : null;
}

/**
 * `GROUP/KIND` of Headroom's own controllers whose workloads may sleep: they leave the replicas alone while the marks of a
 * schedule are there.
 */
const AGREED_CONTROLLERS: ReadonlySet<string> = new Set(['memcached.c5c3.io/Memcached']);

/** Whether it leaves the replicas alone by itself while a schedule's marks are there. */
export function isAgreedController({ group, kind }: NonNullable<Workload['controller']>): boolean {
  return AGREED_CONTROLLERS.has(`${group}/${kind}`);
}

/** Why a workload is left alone although a schedule selects it; null when it is not. */
export function exemption(
  { labels, controller }: Pick<Workload, 'labels' | 'controller'>,
  { controllerOwned }: Pick<ScheduleSpec, 'controllerOwned'>,
): Exemption | null {
  const component = componentOf(labels);
  if (component !== null) {
    return { reason: 'Protected', detail: protectedSentence(component) };
  }
  if (controller === undefined || controllerOwned === 'scale') return null;
  if (isAgreedController(controller)) return null;
  return { reason: 'ControllerOwned', detail: controllerSentence(controller) };
}

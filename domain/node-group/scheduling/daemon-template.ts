/** The template of a workload's pods, and what a pod of it is once it is stored. */
import { listOf } from '../../kernel/pod-requests.ts';
import { storedPodSpec, type TemplateSpec } from '../../kernel/stored-pod.ts';
import type { ClusterState, DaemonSet } from '../model/cluster-state.ts';
import type { PodConstraints } from '../model/pod.ts';
import { podConstraints, textOf } from './read-pod.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Fields that scheduling depends on; a template may have megabytes of others. */
const KEPT = [
  'affinity',
  'hostNetwork',
  'nodeSelector',
  'overhead',
  'resourceClaims',
  'resources',
  'runtimeClassName',
  'tolerations',
  'topologySpreadConstraints',
  'volumes',
];
const KEPT_OF_CONTAINERS = ['ports', 'resources', 'restartPolicy'];

/** What the DaemonSet controller lets its pods tolerate (`AddOrUpdateDaemonPodTolerations`). */
const TOLERATED = [
  ['not-ready', 'NoExecute'],
  ['unreachable', 'NoExecute'],
  ['disk-pressure', 'NoSchedule'],
  ['memory-pressure', 'NoSchedule'],
  ['pid-pressure', 'NoSchedule'],
  ['unschedulable', 'NoSchedule'],
] as const;
const TOLERATED_IN_HOST_NETWORK = ['network-unavailable', 'NoSchedule'] as const;

/** The fields of a pod's spec that decide where it fits. */
export function readTemplate(spec: Fields): DaemonSet['template'] {
  const containers = (name: string): Fields =>
    Array.isArray(spec[name]) ? { [name]: listOf(spec[name]).map((each) => picked(each, KEPT_OF_CONTAINERS)) } : {};
  return { ...picked(spec, KEPT), ...containers('containers'), ...containers('initContainers') };
}

function picked(fields: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}

/** What scheduling asks about a pod of the DaemonSet, as its controller makes it and the API server would store it. */
export function daemonConstraints(
  { namespace, template }: DaemonSet,
  surroundings: Pick<ClusterState, 'limitRanges' | 'runtimeClasses'>,
): PodConstraints {
  return templateConstraints({ namespace, template: withDaemonTolerations(template) }, surroundings);
}

/** What scheduling asks about a pod of a template, as the API server would store it. */
export function templateConstraints(
  { namespace, template }: { readonly namespace: string; readonly template: Fields & TemplateSpec },
  { limitRanges, runtimeClasses }: Pick<ClusterState, 'limitRanges' | 'runtimeClasses'>,
): PodConstraints {
  const className = textOf(template['runtimeClassName']);
  const spec = storedPodSpec(template, {
    limitRanges: limitRanges
      .filter((each) => each.namespace === namespace)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    runtimeClass: runtimeClasses.find(({ name }) => name === className) ?? null,
  });
  return podConstraints({ spec }, null);
}

function withDaemonTolerations(template: Fields): Fields & TemplateSpec {
  const all = template['hostNetwork'] === true ? [...TOLERATED, TOLERATED_IN_HOST_NETWORK] : TOLERATED;
  const added = all.map(([key, effect]) => ({ key: `node.kubernetes.io/${key}`, operator: 'Exists', effect }));
  return { ...template, tolerations: [...listOf(template['tolerations']), ...added] };
}

/** Pods of workloads that are put to sleep or woken by a clock: those that go within the hour, and those that come soon. */
import { countsAs, type Outlook } from '../../kernel/outlook.ts';
import { isRecord } from '../../kernel/record.ts';
import { listOf } from '../../kernel/pod-requests.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState } from '../model/cluster-state.ts';
import type { Labels, Pod } from '../model/pod.ts';
import { readTemplate, templateConstraints } from '../scheduling/daemon-template.ts';
import { fieldsOf, labelsOf, textOf } from '../scheduling/read-pod.ts';

/** What nodes have to know of the pods of a workload. */
interface PodTemplate {
  readonly labels: Labels;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly schedulerName: string;
  /** Names of the volumes of which each pod has a claim of its own: a StatefulSet's. */
  readonly ownClaims: readonly string[];
}

/** So many pods are simulated of a workload, and of all of them: a group has a maximum of nodes, but a plan must end. */
const MOST_OF_ONE = 1_000;
const MOST = 10_000;
/** A Deployment's and a Rollout's ReplicaSets are called after them, with this label of their pods behind it. */
const HASH_LABELS = ['pod-template-hash', 'rollouts-pod-template-hash'];

/** @param spec of a workload. Null where gates keep its pods from being scheduled: nobody knows until when. */
export function readPodTemplate(spec: unknown): PodTemplate | null {
  const { template, volumeClaimTemplates } = fieldsOf(spec);
  const { metadata, spec: podSpec } = fieldsOf(template);
  const fields = fieldsOf(podSpec);
  if (listOf(fields['schedulingGates']).length > 0) return null;
  return {
    labels: labelsOf(fieldsOf(metadata)['labels']),
    spec: readTemplate(fields),
    schedulerName: textOf(fields['schedulerName'], 'default-scheduler'),
    ownClaims: listOf(volumeClaimTemplates).map((claim) => textOf(fieldsOf(claim['metadata'])['name'])),
  };
}

/** The cluster with what is foreseen of its pods. */
export function withForeseenPods(state: ClusterState, outlooks: readonly Outlook[]): ClusterState {
  if (outlooks.length === 0) return state;
  const { at } = state;
  const coming: Pod[] = [];
  const owned = Map.groupBy(state.pods, (pod) => workloadOf(pod) ?? '');
  // What has come already may not be known yet to whoever foresees it.
  const thereOf = ({ workload }: Outlook): readonly Pod[] =>
    (owned.get(keyOf(workload)) ?? []).filter(({ deletesAt }) => deletesAt === null);
  const asleepFrom = new Map<string, EpochMs>();
  for (const outlook of outlooks.toSorted((a, b) => (keyOf(a.workload) < keyOf(b.workload) ? -1 : 1))) {
    const counts = countsAs(outlook, at);
    if (counts === 'going') asleepFrom.set(keyOf(outlook.workload), Math.max(at, outlook.at));
    else if (counts === 'coming')
      coming.push(...podsOf(outlook, state, { there: thereOf(outlook), most: MOST - coming.length }));
  }
  const going = new Map<string, EpochMs>();
  for (const [workload, from] of asleepFrom) for (const { uid } of owned.get(workload) ?? []) going.set(uid, from);
  return { ...state, coming, going };
}

function keyOf({ kind, namespace, name }: Outlook['workload']): string {
  return `${kind} ${namespace}/${name}`;
}

/** The workload that a pod belongs to, as `keyOf` has it. A pod that says so wrongly is of its own namespace, and keeps its node for an hour at most. */
function workloadOf({ namespace, labels, owner }: Pod): string | null {
  if (owner === null) return null;
  if (owner.kind !== 'ReplicaSet') return keyOf({ kind: owner.kind, namespace, name: owner.name });
  const [isRollout, hash] = HASH_LABELS.flatMap((label, index) => {
    const value = labels[label];
    return value === undefined ? [] : [[index === 1, value] as const];
  })[0] ?? [false, null];
  if (hash === null || !owner.name.endsWith(`-${hash}`)) return null;
  const name = owner.name.slice(0, -hash.length - 1);
  return keyOf({ kind: isRollout ? 'Rollout' : 'Deployment', namespace, name });
}

/** As the API server would store them, and kube-scheduler would say that no node is there for them. */
function podsOf(
  { workload, at, pods, template }: Outlook,
  state: ClusterState,
  { there, most }: { readonly there: readonly Pod[]; readonly most: number },
): readonly Pod[] {
  if (!isTemplate(template)) return [];
  const { kind, namespace, name } = workload;
  const { labels, spec, schedulerName, ownClaims } = template;
  const constraints = templateConstraints({ namespace, template: spec }, state);
  const isThere = new Set(state.claims.filter((claim) => claim.namespace === namespace).map((claim) => claim.name));
  const count = Math.max(0, Math.min(pods - there.length, most, MOST_OF_ONE));
  const taken = new Set(there.map((pod) => pod.name));
  // A StatefulSet's pods have numbers, and their claims with them.
  const names = Array.from({ length: count + taken.size }, (_, index) => `${name}-${index}`);
  const free = names.filter((each) => !taken.has(each)).slice(0, count);
  return free.map((podName): Pod => {
    const own = ownClaims.map((claim) => `${claim}-${podName}`);
    return {
      ...constraints,
      // A claim that is made with its pod may be anywhere; one that was kept is where its volume is.
      claims: [...constraints.claims, ...own.filter((claim) => isThere.has(claim))],
      uid: `${kind} ${namespace}/${podName}`,
      namespace,
      name: podName,
      labels,
      annotations: {},
      owner: null,
      node: null,
      nominatedNode: null,
      phase: 'Pending',
      priority: 0,
      schedulerName,
      createdAt: state.at,
      deletesAt: null,
      gracePeriodSeconds: 0,
      unscheduled: { reason: 'Unschedulable', message: '', since: at, writtenAt: null },
      isReady: false,
      localVolumes: [],
    };
  });
}

/** `readPodTemplate` has made it. */
function isTemplate(template: unknown): template is PodTemplate {
  return isRecord(template) && isRecord(template['spec']);
}

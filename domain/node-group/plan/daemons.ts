/** The pods of DaemonSets on a node that comes: those that live nodes of its type have, else those of the template as it would be stored. */
import { ownValue } from '../../kernel/record.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { ClusterState, DaemonSet } from '../model/cluster-state.ts';
import type { Node } from '../model/node.ts';
import type { HostPort, Labels, Pod, PodConstraints } from '../model/pod.ts';
import { isOfDaemonSet } from '../model/pod-owner.ts';
import { daemonConstraints } from '../scheduling/daemon-template.ts';
import { matchesNode, untolerated } from '../scheduling/node-selection.ts';
import { type Examples, examplesOf } from './live-nodes.ts';
import { typeKey } from './type-key.ts';
import { byText } from './pending.ts';

/** A DaemonSet, as far as nodes that come have pods of it. */
export interface Daemon {
  readonly uid: string;
  readonly namespace: string;
  readonly labels: Labels;
  /** What its pod asks for on a node of which nothing else is known; null where none comes. */
  readonly pod: PodConstraints | null;
  /** What live nodes show, by `typeKey`. */
  readonly byType: ReadonlyMap<string, PodConstraints | null>;
}

type State = Pick<
  ClusterState,
  'at' | 'pods' | 'nodes' | 'machines' | 'leaving' | 'daemonSets' | 'limitRanges' | 'runtimeClasses'
>;

/** In milliseconds: so long the pods of a DaemonSet may take to come to a node that has become ready. */
const COMES_WITHIN_MS = 60_000;
const GENERATION = 'pod-template-generation';

/** All DaemonSets but those that are being deleted, in the order of their names. */
export function daemonsOf(state: State): readonly Daemon[] {
  if (state.daemonSets.length === 0) return [];
  const examples = examplesOf(state);
  const pods = podsByOwner(state.pods, examples);
  return state.daemonSets
    .filter(({ isDeleting }) => isDeleting !== true)
    .toSorted((a, b) => byText(a.namespace, b.namespace) || byText(a.name, b.name))
    .map((set) => {
      const stored = daemonConstraints(set, state);
      const isRefused = set.hasNoPods && state.at - set.createdAt >= COMES_WITHIN_MS;
      const own = pods.get(ownerKey(set.namespace, set.uid));
      const byType = new Map<string, PodConstraints | null>();
      for (const [key, of] of examples) {
        const shown = shownBy(of, set, stored, own?.get(key) ?? [], state.at);
        if (shown !== undefined) byType.set(key, shown);
      }
      const { uid, namespace, labels } = set;
      return { uid, namespace, labels, pod: isRefused ? null : stored, byType };
    });
}

/** What the pod of the DaemonSet asks for on a node of the type; null where none comes. */
export function daemonOn(
  { pod, byType }: Daemon,
  { group, instanceType }: { readonly group: string | null; readonly instanceType: string | null },
): PodConstraints | null {
  const shown = byType.get(typeKey(group ?? '', instanceType ?? ''));
  return shown === undefined ? pod : shown;
}

/** An owner is of the namespace of its pods: the UID alone could be claimed by a pod of any other one. */
function ownerKey(namespace: string, uid: string): string {
  return `${namespace}/${uid}`;
}

/**
 * The pods of settled nodes, by `ownerKey` of their DaemonSet and the key of the type. One that waits for its node counts: it would be the
 * first on the next one.
 */
function podsByOwner(
  pods: readonly Pod[],
  examples: ReadonlyMap<string, Examples>,
): ReadonlyMap<string, ReadonlyMap<string, readonly Pod[]>> {
  const keys = new Map([...examples].flatMap(([key, { settled }]) => settled.map(({ name }) => [name, key] as const)));
  const daemons = pods.filter(
    ({ owner, phase, deletesAt }) =>
      isOfDaemonSet({ owner }) && deletesAt === null && phase !== 'Succeeded' && phase !== 'Failed',
  );
  const byOwner = Map.groupBy(daemons, ({ namespace, owner }) => ownerKey(namespace, owner?.uid ?? ''));
  return new Map(
    [...byOwner].map(([uid, own]) => [uid, Map.groupBy(own, (pod) => keys.get(targetOf(pod)) ?? '')] as const),
  );
}

/** What the live nodes of a type say; undefined where they say nothing. */
function shownBy(
  { settled }: Examples,
  { generation }: DaemonSet,
  stored: PodConstraints,
  there: readonly Pod[],
  at: EpochMs,
): PodConstraints | null | undefined {
  // A pod of an earlier template says nothing about the next one.
  const current = there.filter(({ labels }) => generation === null || ownValue(labels, GENERATION) === generation);
  if (current.length > 0) return asTheyAre(stored, current);
  if (there.length > 0) return stored;
  return settled.some((node) => hasHadTime(node, at) && selects(stored, node)) ? null : undefined;
}

/** The controller binds a pod to its node by a term of node affinity, until the scheduler has. */
function targetOf({ node, nodeAffinity }: Pod): string {
  if (node !== null) return node;
  const fields = (nodeAffinity ?? []).flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key }) => key === 'metadata.name')?.values?.[0] ?? '';
}

function hasHadTime({ ready, createdAt }: Node, at: EpochMs): boolean {
  return ready.status === 'True' && at - Math.max(ready.since, createdAt) >= COMES_WITHIN_MS;
}

function selects(pod: PodConstraints, { name, labels, taints }: Node): boolean {
  return matchesNode(pod, labels, name) && untolerated(pod.tolerations, taints) === null;
}

/** Webhooks and autoscalers of pods change what was asked for: of each resource the most that one of the pods requests. */
function asTheyAre(stored: PodConstraints, pods: readonly Pod[]): PodConstraints {
  const requests = new Map<string, number>();
  for (const { node, requests: asked } of pods) {
    for (const [resource, amount] of Object.entries(asked)) {
      // One that is on no node has taken nothing, whatever it asks for.
      const taken = node === null ? Math.min(amount, ownValue(stored.requests, resource) ?? 0) : amount;
      requests.set(resource, Math.max(requests.get(resource) ?? taken, taken));
    }
  }
  return { ...stored, requests: Object.fromEntries(requests), hostPorts: portsOf(pods) };
}

/** The host ports that pods hold, each once. */
export function portsOf(pods: readonly Pod[]): readonly HostPort[] {
  const all = pods.flatMap(({ hostPorts }) => hostPorts);
  return [...new Map(all.map((port) => [`${port.ip} ${port.protocol} ${port.port}`, port])).values()].toSorted(
    (a, b) => a.port - b.port || byText(a.protocol, b.protocol) || byText(a.ip, b.ip),
  );
}

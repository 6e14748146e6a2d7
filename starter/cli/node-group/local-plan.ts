/** The starter's plan, made by a command: of what the API server has now, with the rights of whoever asks. */
import { pausesIn, readPauseConfigMaps } from '../../../activities/kernel/pause.ts';
import { AUTOSCALER_LEASE, MACHINE_PLURAL, NAMESPACE, PLURAL } from '../../../domain/node-group/api/names.ts';
import { type ReadNodeGroup, readNodeGroup } from '../../../domain/node-group/api/read-node-group.ts';
import type { Machine } from '../../../domain/node-group/model/node-group.ts';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import type { ClusterPlan } from '../../../domain/node-group/model/plan.ts';
import type { Labels, Pod } from '../../../domain/node-group/model/pod.ts';
import { PLAN_LEASE } from '../../../domain/node-group/plan-claim.ts';
import type { Config } from '../../config.ts';
import { type ApiGet, failureOf } from '../../../activities/kubernetes/api-get.ts';
import { listParts } from '../../node-group/caches.ts';
import { createFreshFacts } from '../../node-group/fresh-facts.ts';
import { PlanBook } from '../../node-group/plan-book.ts';
import type { PlanPart, PlanParts, UsageSample, WatchedParts } from '../../node-group/plan-messages.ts';
import { ServerClock } from '../../../activities/kubernetes/server-clock.ts';
import { readUsage } from '../../node-group/usage-sampler.ts';
import { type Cluster, withCluster } from '../cluster.ts';
import type { LoadedConfig } from '../controller.ts';
import type { Output } from '../output.ts';
import { listGroups, listingFailure, nameOf } from './groups.ts';
import { configInForce } from './in-force.ts';

/** A plan, and what it was made of as far as people ask for it. */
export interface LocalPlan {
  readonly cluster: string;
  /** In full: with pods that fit a node that is there, and the names of all that go to new nodes. */
  readonly plan: ClusterPlan;
  readonly groups: readonly ReadNodeGroup[];
  /** Why nothing is written for any group, as a sentence; null where something is. */
  readonly heldBy: string | null;
  /** What each node uses now, in percent; null where metrics.k8s.io does not say. */
  readonly usage: UsageSample['nodes'] | null;
  /** By `<namespace>/<name>`, without those that have ended. */
  readonly pods: ReadonlyMap<string, Pod>;
  readonly nodes: ReadonlyMap<string, Node>;
  readonly machines: readonly Machine[];
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/**
 * Makes the plan, and says on standard error what it goes by where that is not the workers' settings, or not all of it.
 *
 * @throws {CommandFailed} where the cluster cannot be read.
 */
export async function localPlan(loaded: LoadedConfig, output: Output): Promise<LocalPlan> {
  const inForce = await configInForce(loaded, output);
  return await withCluster(loaded, async (cluster) => {
    try {
      return await planOf(cluster, inForce, output);
    } catch (error) {
      throw listingFailure(error, cluster.name, rightsOf(inForce.kubernetes.systemNamespace));
    }
  });
}

async function planOf(
  { name, kubernetes, get }: Cluster,
  { kubernetes: { systemNamespace }, nodeGroups: { mode } }: Config,
  output: Output,
): Promise<LocalPlan> {
  const objects = await listGroups(get);
  const pauseOf = pausesIn(await readPauseConfigMaps({ kubernetes, systemNamespace }));
  const names = objects.map(nameOf);
  const clock = new ServerClock();
  const fresh = createFreshFacts({ kubernetes, systemNamespace, pauseOf, groups: () => names, clock });
  // Before everything else, as in the starter: a plan is never older than the claims that it counts.
  const {
    claims: { claims },
    wishes,
    blocked,
    heldBy,
  } = await fresh();
  const parts = await listParts(get);
  const nodes = partOf(parts, 'nodes');
  const sample = await usageNow(get, { nodes, now: clock.now }, output);
  const read = objects.map((object) => readNodeGroup(object, { mode }));
  const groups = read.flatMap(({ group }) => group ?? []);
  const book = new PlanBook();
  const at = clock.now();
  const samples = sample === null ? [] : [sample];
  const request = {
    id: 1,
    isWhole: true,
    parts,
    samples,
    at,
    groups,
    blocked,
    claims,
    wishes,
  };
  book.update(request);
  return {
    cluster: name,
    plan: book.planInFull(request),
    groups: read,
    heldBy,
    usage: sample?.nodes ?? null,
    pods: new Map(partOf(parts, 'pods').map((pod) => [`${pod.namespace}/${pod.name}`, pod])),
    nodes: new Map(nodes.map((node) => [node.name, node])),
    machines: partOf(parts, 'machines'),
    namespaces: new Map((parts.namespaces ?? []).map(([key, labels]) => [key.slice(1), labels as Labels])),
  };
}

/** What was listed is what the part's reader gave. */
function partOf<Part extends PlanPart>(parts: PlanParts, part: Part): readonly WatchedParts[Part][] {
  return (parts[part] ?? []).map(([, read]) => read) as readonly WatchedParts[Part][];
}

async function usageNow(
  get: ApiGet,
  { nodes, now }: { readonly nodes: readonly Node[]; readonly now: () => EpochMs },
  output: Output,
): Promise<UsageSample | null> {
  const allocatable = new Map(nodes.map((node) => [node.name, node.allocatable]));
  try {
    return await readUsage(get, { allocatable: (node) => allocatable.get(node) ?? null, now });
  } catch (error) {
    const { reason } = failureOf(error);
    output.note(`What nodes use is not known, so that only empty ones may go: metrics.k8s.io answers ${reason}`);
    return null;
  }
}

function rightsOf(systemNamespace: string): string {
  const lists = [
    `${PLURAL} and ${MACHINE_PLURAL}`,
    'pods, nodes, namespaces, persistentvolumeclaims and persistentvolumes',
    'daemonsets, limitranges, runtimeclasses, poddisruptionbudgets, storageclasses and csinodes',
  ];
  const gets = `the ConfigMaps headroom-pause and headroom-pauses and the Lease ${PLAN_LEASE} in ${systemNamespace}`;
  return (
    `headroom node-groups preview and explain read with your own rights what the starter reads: they need to list ` +
    `${lists.join(', ')}, and to get ${gets}, and the Lease ${AUTOSCALER_LEASE} in ${NAMESPACE}`
  );
}

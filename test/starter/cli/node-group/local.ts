/** A plan as a command has it, of a cluster that is written down. */
import type { ClusterState } from '../../../../domain/node-group/model/cluster-state.ts';
import { planCluster } from '../../../../domain/node-group/plan/plan-cluster.ts';
import { freshPlanMemory } from '../../../../domain/node-group/scale-down/memory.ts';
import type { LocalPlan } from '../../../../starter/cli/node-group/local-plan.ts';

export function localOf(state: ClusterState, over: Partial<LocalPlan> = {}): LocalPlan {
  const namedPods = Number.POSITIVE_INFINITY;
  const { plan } = planCluster(state, { blocked: {}, memory: freshPlanMemory, requested: [], namedPods });
  return {
    cluster: 'prod',
    plan,
    groups: state.groups.map((group) => ({ ...group, group, problems: [] })),
    heldBy: null,
    usage: null,
    pods: new Map(state.pods.map((pod) => [`${pod.namespace}/${pod.name}`, pod])),
    nodes: new Map(state.nodes.map((node) => [node.name, node])),
    machines: state.machines,
    namespaces: new Map(Object.entries(state.namespaces)),
    ...over,
  };
}

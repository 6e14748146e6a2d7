/** The plan for the whole cluster: which nodes are to come, and which are given back. */
import type { ClusterState } from '../model/cluster-state.ts';
import type { ClusterPlan } from '../model/plan.ts';
import type { CandidateOrder } from '../scale-down/candidates.ts';
import type { PlanMemory } from '../scale-down/memory.ts';
import { planRemovals, type RequestedRemoval, type RestingNode } from '../scale-down/plan-removals.ts';
import { daemonsOf } from './daemons.ts';
import { learnTypes } from './learned-types.ts';
import type { Blocked } from './offers.ts';
import { planScaleUp } from './scale-up.ts';

export interface PlanOptions {
  /** Groups that ask for no machines now, by name. */
  readonly blocked: Readonly<Record<string, Blocked>>;
  /** What the plan before left; `freshPlanMemory` for the first one. */
  readonly memory: PlanMemory;
  /** Nodes that people want to be taken away. */
  readonly requested: readonly RequestedRemoval[];
  /** Nodes whose drain failed lately, or was rejected; none where it is absent. */
  readonly resting?: readonly RestingNode[];
  /** In which order nodes go: the VPSie autoscaler's where it is absent. */
  readonly candidateOrder?: CandidateOrder;
  /** How many pods are named beside new nodes: a few where it is absent. */
  readonly namedPods?: number;
}

/**
 * One plan for the whole cluster, the same whatever the order of the state's parts. A group that grows in it gives nothing back, but
 * for what a person asks for and for nodes that are not ready. Of a group that is being deleted all nodes go.
 *
 * @returns the plan, and what the next one needs to know.
 */
export function planCluster(
  state: ClusterState,
  { blocked, memory, requested, resting = [], candidateOrder = 'age', namedPods }: PlanOptions,
): { readonly plan: ClusterPlan; readonly memory: PlanMemory } {
  const known = { ...state, instanceTypes: learnTypes(state) };
  const daemons = daemonsOf(state);
  const { newNodes, unhelped, proof } = planScaleUp(known, {
    blocked,
    daemons,
    promised: state.instanceTypes,
    trials: memory.trials,
    ...(namedPods === undefined ? {} : { namedPods }),
  });
  const options = { blocked, daemons, memory, requested, resting, newNodes, proof, order: candidateOrder };
  const down = planRemovals(known, options);
  const { removals, kept } = down;
  const { records: inVain, trials } = proof;
  return { plan: { at: state.at, newNodes, unhelped, removals, kept, inVain }, memory: { ...down.memory, trials } };
}

/** What Kubernetes does with pods and budgets, by rules of its own: the disruption controller's numbers and the eviction API. */
import type { EvictionAnswer } from '../../../../domain/node-group/drain/drain-progress.ts';
import type { DisruptionBudget } from '../../../../domain/node-group/model/cluster-state.ts';
import type { Labels, Pod } from '../../../../domain/node-group/model/pod.ts';

export interface BudgetSpec {
  readonly namespace: string;
  readonly name: string;
  readonly matchLabels: Labels;
  readonly minAvailable: number;
  readonly policy?: DisruptionBudget['unhealthyPodEvictionPolicy'];
}

const selects = ({ namespace, matchLabels }: BudgetSpec, pod: Pick<Pod, 'namespace' | 'labels'>): boolean =>
  pod.namespace === namespace && Object.entries(matchLabels).every(([key, value]) => pod.labels[key] === value);

const isHealthy = ({ isReady, deletesAt, phase }: Pod): boolean => isReady && deletesAt === null && phase === 'Running';

/** The status of a budget, as the disruption controller writes it. */
export function budgetOf(spec: BudgetSpec, pods: readonly Pod[]): DisruptionBudget {
  const { namespace, name, matchLabels, minAvailable, policy = 'IfHealthyBudget' } = spec;
  const healthy = pods.filter((pod) => selects(spec, pod) && isHealthy(pod)).length;
  return {
    namespace,
    name,
    selector: { matchLabels },
    disruptionsAllowed: Math.max(0, healthy - minAvailable),
    currentHealthy: healthy,
    desiredHealthy: minAvailable,
    disruptedPods: 0,
    unhealthyPodEvictionPolicy: policy,
    isObserved: true,
  };
}

/** The answer to one eviction, the pods being as they are now. */
export function evictionOf(pod: Pod, specs: readonly BudgetSpec[], pods: readonly Pod[]): EvictionAnswer {
  if (pod.phase !== 'Running' || pod.deletesAt !== null) return { kind: 'evicted' };
  const own = specs.filter((spec) => selects(spec, pod));
  if (own.length > 1) return { kind: 'impossible' };
  const [spec] = own;
  if (spec === undefined) return { kind: 'evicted' };
  const { currentHealthy, desiredHealthy, disruptionsAllowed } = budgetOf(spec, pods);
  const isFree =
    !pod.isReady && (spec.policy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy));
  if (isFree || disruptionsAllowed > 0) return { kind: 'evicted' };
  return { kind: 'refused', budgets: [`${spec.namespace}/${spec.name}`], message: 'the budget is used up' };
}

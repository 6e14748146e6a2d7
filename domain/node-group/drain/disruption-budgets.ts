/**
 * What the eviction API would say of pods, by their PodDisruptionBudgets: the rules of Kubernetes 1.35
 * (`pkg/registry/core/pod/storage/eviction.go`).
 */
import { matchesSelector } from '../../kernel/label-selector.ts';
import { listText } from '../../kernel/sentence.ts';
import type { DisruptionBudget } from '../model/cluster-state.ts';
import type { Pod } from '../model/pod.ts';
import { podName } from './pods-to-evict.ts';

/** What the API server reads of a pod that is to be evicted. */
export type EvictedPod = Pick<Pod, 'namespace' | 'name' | 'labels' | 'phase' | 'deletesAt' | 'isReady'>;

export type EvictionForecast =
  /** `uses`: the budget that allows one disruption less afterwards; null where none does. */
  | { readonly kind: 'allowed'; readonly uses: DisruptionBudget | null }
  /** Not now. `detail`: one sentence. */
  | { readonly kind: 'refused'; readonly by: DisruptionBudget; readonly detail: string }
  /** Never, as the API server supports one budget for a pod. */
  | { readonly kind: 'impossible'; readonly budgets: readonly DisruptionBudget[] };

/** What budgets allow for pods that are evicted at once, before any of them has a successor. */
export interface BudgetShare {
  readonly budget: DisruptionBudget;
  readonly allowed: number;
  readonly asked: number;
}

/** With more pods that were evicted and are still there, the API server evicts no other one of the budget. */
const MOST_DISRUPTED = 2_000;
const NONE: EvictionForecast = { kind: 'allowed', uses: null };

/** The budgets of one state of a cluster. */
export class DisruptionBudgets {
  readonly #byNamespace = new Map<string, DisruptionBudget[]>();

  constructor(budgets: readonly DisruptionBudget[]) {
    for (const budget of budgets.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const list = this.#byNamespace.get(budget.namespace) ?? [];
      list.push(budget);
      this.#byNamespace.set(budget.namespace, list);
    }
  }

  /** Those that select a pod, by their names. */
  of({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>): readonly DisruptionBudget[] {
    return (this.#byNamespace.get(namespace) ?? []).filter(({ selector }) => matchesSelector(selector, labels));
  }

  /** What the eviction API would say of one pod. */
  forecast(pod: EvictedPod): EvictionForecast {
    return hasNoBudget(pod) ? NONE : forecastBy(pod, this.of(pod));
  }

  /** The budgets that do not let all of these pods go at once: the pods of one budget use it up together. */
  tooSmallFor(pods: readonly EvictedPod[]): readonly BudgetShare[] {
    const asked = new Map<DisruptionBudget, number>();
    for (const pod of pods) {
      const answer = this.forecast(pod);
      const budget = answer.kind === 'allowed' ? answer.uses : null;
      if (budget !== null) asked.set(budget, (asked.get(budget) ?? 0) + 1);
    }
    return [...asked]
      .map(([budget, count]) => ({ budget, allowed: budget.disruptionsAllowed, asked: count }))
      .filter(({ allowed, asked: count }) => allowed < count);
  }
}

export function budgetName({ namespace, name }: DisruptionBudget): string {
  return `${namespace}/${name}`;
}

/**
 * Why a pod cannot be evicted that more than one budget selects.
 *
 * @param budgets those that are known.
 */
export function severalBudgets(pod: Pick<Pod, 'namespace' | 'name'>, budgets: readonly DisruptionBudget[]): string {
  const names = budgets.length < 2 ? '' : ` (${listText(budgets.map(budgetName))})`;
  return `${podName(pod)} cannot be evicted: more than one PodDisruptionBudget selects it${names}`;
}

/** A pod that has not started, has ended or is being deleted serves nobody, so no budget is asked. */
function hasNoBudget({ phase, deletesAt }: EvictedPod): boolean {
  return deletesAt !== null || phase === 'Pending' || phase === 'Succeeded' || phase === 'Failed';
}

function forecastBy(pod: EvictedPod, budgets: readonly DisruptionBudget[]): EvictionForecast {
  const [budget, other] = budgets;
  if (budget === undefined) return NONE;
  if (other !== undefined) return { kind: 'impossible', budgets };
  // Even by an old status: the API server asks this before it looks at the generation.
  if (!pod.isReady && mayGoUnready(budget)) return NONE;
  const why = refusal(budget);
  if (why === null) return { kind: 'allowed', uses: budget };
  const detail = `the PodDisruptionBudget ${budgetName(budget)} does not let ${podName(pod)} be evicted now: ${why}`;
  return { kind: 'refused', by: budget, detail };
}

/** Whether a pod that is not ready may go although the budget allows no disruption: it is counted among the healthy ones already as missing. */
function mayGoUnready({ unhealthyPodEvictionPolicy, currentHealthy, desiredHealthy }: DisruptionBudget): boolean {
  return unhealthyPodEvictionPolicy === 'AlwaysAllow' || (desiredHealthy > 0 && currentHealthy >= desiredHealthy);
}

/** Why a budget allows no disruption, as a clause; null where it allows one. */
function refusal(budget: DisruptionBudget): string | null {
  const { isObserved, disruptedPods, disruptionsAllowed, currentHealthy, desiredHealthy } = budget;
  if (!isObserved) return 'its status is not of its current spec yet';
  if (disruptedPods > MOST_DISRUPTED) return `${disruptedPods} of its pods were evicted and are still there`;
  if (disruptionsAllowed > 0) return null;
  return `it needs ${desiredHealthy} healthy pods and has ${currentHealthy}`;
}

/** Evictions, and what the API server's answers to them mean. */
import { ApiException } from '@kubernetes/client-node';
import { type KubernetesStatus, readKubernetesStatus } from '../../../domain/kernel/kubernetes-status.ts';
import { matchesSelector } from '../../../domain/kernel/label-selector.ts';
import { oneLine } from '../../../domain/kernel/sentence.ts';
import type { EvictionAnswer } from '../../../domain/node-group/drain/look.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { readBudget } from '../../../domain/node-group/scheduling/read-objects.ts';
import { isNamespaceTerminating, statusCode } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';

const BUDGETS = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' } as const;

/** The API server names a PodDisruptionBudget that refuses an eviction only in a sentence, whichever of these it is. */
const BUDGET_NAMED = /^The disruption budget (\S+) /;
const BUDGET_CAUSE = 'DisruptionBudget';

/**
 * Asks for the eviction of exactly this pod: another one that has its name by then stays.
 *
 * @param grace seconds that the pod gets to end; null: as many as it asks for.
 * @throws the API server's error where it says nothing about the pod: it is overloaded, broken or not reachable.
 */
export async function evict(
  kubernetes: Pick<Kubernetes, 'core' | 'custom'>,
  pod: Pod,
  grace: number | null,
): Promise<EvictionAnswer> {
  const { namespace, name, uid } = pod;
  const deleteOptions = { preconditions: { uid }, ...(grace === null ? {} : { gracePeriodSeconds: grace }) };
  const body = { metadata: { name, namespace }, deleteOptions };
  try {
    await kubernetes.core.createNamespacedPodEviction({ namespace, name, body });
    return { kind: 'evicted' };
  } catch (error) {
    const answer = answerOf(error, namespace);
    if (answer === 'SeveralBudgets') return { kind: 'impossible', budgets: await budgetsOf(kubernetes, pod) };
    if (answer === null) throw error;
    return answer;
  }
}

/** Null where the error is not about the pod. */
function answerOf(error: unknown, namespace: string): EvictionAnswer | 'SeveralBudgets' | null {
  const code = statusCode(error);
  const status: KubernetesStatus = error instanceof ApiException ? readKubernetesStatus(error.body) : {};
  // It is gone, or another one has its name; with its namespace it is deleted without an eviction.
  if (code === 404 || code === 409 || isNamespaceTerminating(error)) return { kind: 'gone' };
  const message = oneLine(status.message ?? '');
  if (code === 429) {
    const causes = (status.details?.causes ?? []).filter(({ reason }) => reason === BUDGET_CAUSE);
    // Without such a cause the API server is overloaded.
    if (causes.length === 0) return null;
    const named = causes.map((cause) => cause.message ?? '');
    const budgets = named.flatMap((text) => BUDGET_NAMED.exec(text)?.[1] ?? []).map((name) => `${namespace}/${name}`);
    return { kind: 'refused', budgets, message: oneLine(named.join('; ')) || message };
  }
  if (code === 500 && message.includes('more than one PodDisruptionBudget')) return 'SeveralBudgets';
  // An admission webhook or policy refuses it, or a role is missing.
  if (code !== undefined && code >= 400 && code < 500 && code !== 401) return { kind: 'refused', budgets: [], message };
  return null;
}

/** The PodDisruptionBudgets that select a pod, for people; none where they cannot be read. */
async function budgetsOf(
  { custom }: Pick<Kubernetes, 'custom'>,
  { namespace, labels }: Pick<Pod, 'namespace' | 'labels'>,
): Promise<readonly string[]> {
  try {
    const answer: unknown = await custom.listNamespacedCustomObject({ ...BUDGETS, namespace });
    return (answer as { readonly items: readonly Readonly<Record<string, unknown>>[] }).items
      .map(readBudget)
      .filter(({ selector }) => matchesSelector(selector, labels))
      .map(({ name }) => `${namespace}/${name}`);
  } catch (error) {
    if (error instanceof ApiException) return [];
    throw error;
  }
}

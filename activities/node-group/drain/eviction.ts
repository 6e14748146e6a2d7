/** Evictions, and what the API server's answers to them mean. */
import { ApiException } from '@kubernetes/client-node';
import { type KubernetesStatus, readKubernetesStatus } from '../../../domain/kernel/kubernetes-status.ts';
import { oneLine } from '../../../domain/kernel/sentence.ts';
import { DisruptionBudgets } from '../../../domain/node-group/drain/disruption-budgets.ts';
import type { EvictionAnswer } from '../../../domain/node-group/drain/drain-progress.ts';
import type { DisruptionBudget } from '../../../domain/node-group/model/cluster-state.ts';
import type { Pod } from '../../../domain/node-group/model/pod.ts';
import { readBudget } from '../../../domain/node-group/scheduling/read-objects.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { isNamespaceTerminating, statusCode } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';

const BUDGETS = { group: 'policy', version: 'v1', plural: 'poddisruptionbudgets' } as const;

/** The API server names a PodDisruptionBudget that refuses an eviction only in a sentence, whichever of these it is. */
const BUDGET_NAMED = /^The disruption budget (\S+) /;
const BUDGET_CAUSE = 'DisruptionBudget';
/** What the API server calls the object of a refusal for the state of the budget itself, such as too many evicted pods. */
const BUDGET_KIND = 'poddisruptionbudget';
/** Namespaces that are read at once. */
const AT_ONCE = 10;

/**
 * Asks for the eviction of exactly this pod: another one that has its name by then stays.
 *
 * @param grace seconds that the pod gets to end; null: as many as it asks for.
 * @throws the API server's error where it says nothing about the pod: it is overloaded, broken or not reachable.
 */
export async function evict(
  kubernetes: Pick<Kubernetes, 'core'>,
  { namespace, name, uid }: Pick<Pod, 'namespace' | 'name' | 'uid'>,
  grace: number | null,
): Promise<EvictionAnswer> {
  const deleteOptions = { preconditions: { uid }, ...(grace === null ? {} : { gracePeriodSeconds: grace }) };
  const body = { metadata: { name, namespace }, deleteOptions };
  try {
    await kubernetes.core.createNamespacedPodEviction({ namespace, name, body });
    return { kind: 'evicted' };
  } catch (error) {
    const answer = answerOf(error, namespace);
    if (answer === null) throw error;
    return answer;
  }
}

/** Null where the error is not about the pod. */
function answerOf(error: unknown, namespace: string): EvictionAnswer | null {
  const code = statusCode(error);
  const status: KubernetesStatus = error instanceof ApiException ? readKubernetesStatus(error.body) : {};
  // It is gone, or another one has its name.
  if (code === 404 || code === 409) return { kind: 'gone' };
  // Its namespace deletes it, and until then it runs.
  if (isNamespaceTerminating(error)) return { kind: 'leftToNamespace' };
  const message = oneLine(status.message ?? '');
  if (code === 429) {
    const causes = (status.details?.causes ?? []).filter(({ reason }) => reason === BUDGET_CAUSE);
    // Without such a cause the API server is overloaded.
    if (causes.length === 0) return null;
    const named = causes.map((cause) => cause.message ?? '');
    const budgets = named.flatMap((text) => BUDGET_NAMED.exec(text)?.[1] ?? []).map((name) => `${namespace}/${name}`);
    return { kind: 'refused', budgets, message: oneLine(named.join('; ')) || message };
  }
  if (code === 500 && message.includes('more than one PodDisruptionBudget')) return { kind: 'impossible' };
  const { kind, name = '' } = status.details ?? {};
  if (code === 403 && kind === BUDGET_KIND) return { kind: 'refused', budgets: [`${namespace}/${name}`], message };
  // An admission webhook or policy refuses it, or a role is missing.
  if (code !== undefined && code >= 400 && code < 500 && code !== 401) return { kind: 'refused', budgets: [], message };
  return null;
}

/** The PodDisruptionBudgets of some namespaces, without those that cannot be read. */
export async function budgetsIn(
  kubernetes: Pick<Kubernetes, 'custom'>,
  namespaces: ReadonlySet<string>,
): Promise<DisruptionBudgets> {
  const lists = await inParallel(
    AT_ONCE,
    [...namespaces],
    async (namespace) => await listBudgets(kubernetes, namespace),
  );
  return new DisruptionBudgets(lists.flat());
}

async function listBudgets(
  { custom }: Pick<Kubernetes, 'custom'>,
  namespace: string,
): Promise<readonly DisruptionBudget[]> {
  try {
    const answer: unknown = await custom.listNamespacedCustomObject({ ...BUDGETS, namespace });
    return (answer as { readonly items: readonly Readonly<Record<string, unknown>>[] }).items.map(readBudget);
  } catch (error) {
    // The API server knows them all the same when it is asked for an eviction.
    if (error instanceof ApiException) return [];
    throw error;
  }
}

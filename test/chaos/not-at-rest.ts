/** What keeps a quota of a chaos run from being at rest, and everything that explains why. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { pathOf, QUOTA, targetOf } from '../faults/pressed-namespaces.ts';
import { status } from '../../workflows/quota-resize/messages.ts';
import { type Stack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';

type Seen = Pick<Stack, 'client' | 'core' | 'coordination' | 'forge'>;

/** The share of a limit at which Headroom raises it, by its own default. */
const THRESHOLD = 0.8;

export async function quotaOf({ core }: Pick<Stack, 'core'>, namespace: string) {
  const { spec, status: counted } = await core.readNamespacedResourceQuota({ namespace, name: QUOTA });
  return { hard: Number(spec?.hard?.['secrets']), used: Number(counted?.used?.['secrets'] ?? 0) };
}

/** The limit that a manifest of a chaos run states; NaN where it states none. */
export function limitIn(manifest: string | undefined): number {
  return Number(/secrets: "(\d+)"/.exec(manifest ?? '')?.[1]);
}

/**
 * What is left to be done for each namespace that is not at rest, in words.
 *
 * @param openPullRequests those that the forge knows, asked after the workflows were.
 */
export async function notAtRest(
  stack: Seen,
  namespaces: readonly string[],
  openPullRequests: () => readonly { readonly number: number; readonly namespace: string }[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const left = new Map<string, string[]>();
  const add = (namespace: string, what: string) => left.set(namespace, [...(left.get(namespace) ?? []), what]);
  const quotas = new Map<string, { readonly hard: number; readonly used: number }>();
  for (const namespace of namespaces) {
    const quota = await quotaOf(stack, namespace);
    quotas.set(namespace, quota);
    if (quota.used >= quota.hard * THRESHOLD) add(namespace, `uses ${quota.used} of ${quota.hard}`);
  }
  // A workflow that observed before something was deleted may still be about to raise a limit, and nothing shows it yet.
  for (const namespace of namespaces) if (await isRunning(stack, namespace)) add(namespace, 'its workflow runs');
  for (const { namespace, number } of openPullRequests()) add(namespace, `pull request #${number} is open`);
  // What was merged last may raise a limit that is not needed any more, so nobody but the syncer waits for it.
  for (const namespace of namespaces) {
    const inGit = limitIn(await stack.forge.readFile('main', pathOf(namespace)));
    const inCluster = quotas.get(namespace)?.hard;
    if (inGit !== inCluster) add(namespace, `the limit is ${inGit} in Git and ${inCluster} in the cluster`);
  }
  const { items } = await stack.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
  for (const { metadata, spec } of items) {
    if (!spec?.holderIdentity) continue;
    const namespace = metadata?.annotations?.['resizer.io/target-namespace'] ?? 'of no namespace';
    add(namespace, `the Lease ${metadata?.name} is held by ${spec.holderIdentity}`);
  }
  return left;
}

/** Whether an episode of the namespace goes on. One that begins from now on finds nothing to raise. */
async function isRunning({ client }: Seen, namespace: string): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(quotaResizeId(targetOf(namespace))).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** What the workflow of a namespace says of itself, and what Temporal knows about it, as lines. Never fails. */
export async function workflowAccount({ client }: Pick<Stack, 'client'>, namespace: string): Promise<string[]> {
  const handle = client.workflow.getHandle(quotaResizeId(targetOf(namespace)));
  const answer = await handle.query(status).then(
    ({ phase, reason, detail, since, until, paused }) =>
      `${phase}, ${reason} since ${since}${until === undefined ? '' : ` until ${until}`}: ${detail}${paused === null ? '' : ' (paused)'}`,
    (error: unknown) => `no answer to the query "status": ${messageOf(error)}`,
  );
  const existing = await handle.describe().then(
    ({ status: { name }, runId, historyLength, raw }) => [
      `run ${runId} is ${name}, ${historyLength} events`,
      ...(raw.pendingWorkflowTask ? [`a workflow task is pending, attempt ${raw.pendingWorkflowTask.attempt}`] : []),
      ...(raw.pendingActivities ?? []).map(
        ({ activityType, attempt, lastFailure }) =>
          `activity ${activityType?.name}, attempt ${attempt}${lastFailure ? `, last failure: ${lastFailure.message}` : ''}`,
      ),
    ],
    (error: unknown) => [`Temporal does not describe it: ${messageOf(error)}`],
  );
  return [answer, ...existing];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

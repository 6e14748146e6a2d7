/** What one decision writes to GitHub, and what of it is more because an attempt at it was repeated. */
import type { WriteExchange } from '../kernel/forge/http/write-log.ts';
import type { Stack } from '../kernel/stack/stack.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { targetOf } from './pressed-namespaces.ts';
import { stepsOf } from '../kernel/forge/opening.ts';

/** Branch, commit, pull request, merge, and the branch again: whatever happens on the way, each of them once. */
export const ONE_OF_EACH: readonly string[] = ['POST git', 'PUT contents', 'POST pulls', 'PUT pulls', 'DELETE git'];

const MOVED = 'PATCH git';

type Servers = Pick<Stack, 'client' | 'forge'>;

/** How often each kind of activity of a workflow's newest run was begun, repetitions included; those that are over only. */
async function attemptsIn({ client }: Pick<Stack, 'client'>, workflowId: string): Promise<Map<string, number>> {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  const names = new Map(
    (events ?? []).map(({ eventId, activityTaskScheduledEventAttributes: scheduled }) => [
      String(eventId),
      scheduled?.activityType?.name ?? '',
    ]),
  );
  const attempts = new Map<string, number>();
  for (const { activityTaskStartedEventAttributes: started } of events ?? []) {
    if (!started) continue;
    const name = names.get(String(started.scheduledEventId)) ?? '';
    attempts.set(name, (attempts.get(name) ?? 0) + (started.attempt ?? 1));
  }
  return attempts;
}

/** Whether an activity of a namespace's episode was begun again: its worker was lost, or counted as lost, or it failed. */
export async function hasRepeated({ client }: Pick<Stack, 'client'>, namespace: string): Promise<boolean> {
  const { events } = await client.workflow.getHandle(quotaResizeId(targetOf(namespace))).fetchHistory();
  return (events ?? []).some((event) => (event.activityTaskStartedEventAttributes?.attempt ?? 1) > 1);
}

/**
 * Writes that had an effect, by their kinds and in their order. A worker that starves for ten seconds counts as lost, and
 * a permit that came too late is asked for again: then the next attempt finds a branch without a commit, and moves it to
 * where its base is by now. Such moves are left out: before the commit, and at most one for each repeated attempt.
 *
 * @param writes of one decision.
 * @param workflowId of its episode, whose history tells how often it was attempted.
 */
export async function kindsOf(
  servers: Pick<Stack, 'client'>,
  writes: readonly WriteExchange[],
  workflowId: string,
): Promise<readonly string[]> {
  const kinds = writes.filter(({ effect }) => effect).flatMap(stepsOf);
  const commit = kinds.indexOf('PUT contents');
  const isMove = (kind: string, index: number): boolean => kind === MOVED && index > 0 && index < commit;
  const moves = kinds.filter(isMove).length;
  if (moves === 0) return kinds;
  const attempts = (await attemptsIn(servers, workflowId)).get('ensurePullRequest') ?? 0;
  return moves < attempts ? kinds.filter((kind, index) => !isMove(kind, index)) : kinds;
}

/** The same for everything that was ever written for a namespace's quota. */
export async function writtenFor(servers: Servers, namespace: string): Promise<readonly string[]> {
  const writes = servers.forge.writes.filter(({ branch }) => branch?.includes(`/${namespace}/`));
  return await kindsOf(servers, writes, quotaResizeId(targetOf(namespace)));
}

import type { PullRequest, PullRequestState } from '../../forge/forge.ts';
import type { DequeueOutcome } from '../interface.ts';
import type { PullRequestTask } from './decision-branch.ts';
import { isOwnAccount } from './own-account.ts';
import { pullRequestRef } from './own-work.ts';

/**
 * Takes the pull request out of the merge queue, if it is Headroom's account that put it there. Only the state tells whether it
 * is out: GitHub may say that it failed, and have done it.
 */
export async function takenOut(
  task: PullRequestTask,
  { number }: Pick<PullRequest, 'number'> = pullRequestRef(task.forge, task.decision),
): Promise<DequeueOutcome> {
  const { forge, write } = task;
  const before = await forge.pullRequests.state(number);
  if (!(await isQueuedByOwn(task, before))) return ended(before) ?? { kind: 'dequeued' };
  await write('dequeue', { number }, async () => await forge.pullRequests.dequeue(number));
  const after = await forge.pullRequests.state(number);
  if (!(await isQueuedByOwn(task, after))) return ended(after) ?? { kind: 'dequeued' };
  return { kind: 'moved', why: 'the merge queue does not let it go, because it is about to be merged' };
}

async function isQueuedByOwn({ forge }: PullRequestTask, { pull, queue }: PullRequestState): Promise<boolean> {
  const entry = pull.state === 'open' ? (queue?.entry ?? null) : null;
  return entry !== null && (await isOwnAccount(forge, pull, entry.by));
}

function ended({ pull }: PullRequestState): DequeueOutcome | null {
  return pull.mergedAt === null ? null : { kind: 'moved', why: 'it is merged' };
}

import type { PullRequest, PullRequestState, QueueState } from '../../forge/forge.ts';
import type { DequeueOutcome } from '../interface.ts';
import type { PullRequestTask } from './decision-branch.ts';
import { isOwnAccount } from './own-account.ts';
import { pullRequestRef } from './own-work.ts';

type Entry = NonNullable<QueueState['entry']>;

/**
 * Takes the pull request out of the merge queue, or disables auto-merge, if it is Headroom's account that put it there or enabled
 * that. Only the state tells whether it is so: GitHub may say that it failed, and have done it.
 */
export async function takenOut(
  task: PullRequestTask,
  { number }: Pick<PullRequest, 'number'> = pullRequestRef(task.forge, task.decision),
): Promise<DequeueOutcome> {
  const { forge, write } = task;
  const { pullRequests } = forge;
  const before = await pullRequests.state(number);
  const entry = await ownEntry(task, before);
  if (entry === null) return ended(before) ?? { kind: 'dequeued' };
  const isQueued = entry.autoMerge === undefined;
  await write('dequeue', { number }, async () =>
    isQueued ? await pullRequests.dequeue(number) : await pullRequests.disableAutoMerge(number),
  );
  const after = await pullRequests.state(number);
  if ((await ownEntry(task, after)) === null) return ended(after) ?? { kind: 'dequeued' };
  const why = isQueued
    ? 'the merge queue does not let it go, because it is about to be merged'
    : "GitHub's auto-merge is still enabled, although it was to be disabled";
  return { kind: 'moved', why };
}

async function ownEntry({ forge }: PullRequestTask, { pull, queue }: PullRequestState): Promise<Entry | null> {
  const entry = pull.state === 'open' ? (queue?.entry ?? null) : null;
  return entry !== null && (await isOwnAccount(forge, pull, entry.by)) ? entry : null;
}

function ended({ pull }: PullRequestState): DequeueOutcome | null {
  return pull.mergedAt === null ? null : { kind: 'moved', why: 'it is merged' };
}

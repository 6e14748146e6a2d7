import type { PullRequest, PullRequestState, QueueState } from '../../forge/forge.ts';
import { failure } from '../../kernel/failure.ts';
import type { DequeueOutcome } from '../interface.ts';
import type { PullRequestTask } from './decision-branch.ts';
import { isOwnAccount } from './own-account.ts';
import { pullRequestRef, writesOf } from './own-work.ts';

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

/**
 * The same before something is pushed to the branch or before the pull request is left to others: also during a pause, and
 * without a permit.
 *
 * @throws {ApplicationFailure} ForgeUnavailable where it would still be merged: with a push, what nobody has let pass.
 */
export async function assertTakenOut(
  task: Omit<PullRequestTask, 'write'>,
  pull: Pick<PullRequest, 'number'>,
): Promise<void> {
  const { target, decision, forge } = task;
  const out = await takenOut({ ...task, write: writesOf(task, target, decision, 'withdraw') }, pull);
  if (out.kind === 'dequeued') return;
  const message = `nothing is pushed to pull request #${pull.number} of ${forge.repository}: ${out.why}; Headroom checks it again`;
  throw failure({ type: 'ForgeUnavailable', message });
}

async function ownEntry({ forge }: PullRequestTask, { pull, queue }: PullRequestState): Promise<Entry | null> {
  const entry = pull.state === 'open' ? (queue?.entry ?? null) : null;
  return entry !== null && (await isOwnAccount(forge, pull, entry.by)) ? entry : null;
}

function ended({ pull }: PullRequestState): DequeueOutcome | null {
  return pull.mergedAt === null ? null : { kind: 'moved', why: 'it is merged' };
}

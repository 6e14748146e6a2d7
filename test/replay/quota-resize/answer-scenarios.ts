/** Resizes that meet every answer of Git, GitHub and the Leases, to be recorded. */
import { eventually } from '../../kernel/stack/eventually.ts';
import { untilHeld } from '../../kernel/forge/until-held.ts';
import { type Stack, SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import {
  counted,
  createQuota,
  EPISODE_MS,
  givenQuota,
  quotaManifest,
  WatchedQuota,
} from '../../kernel/stack/watched-quota.ts';
import type { Scenario } from '../stages.ts';
import { byPeople, HARD, opened, press, runOf, timesAsked } from './given.ts';
import { openingOf } from '../../kernel/forge/opening.ts';

const approvedFirst = { 'resizer.io/approval': 'before-pull-request' };

/** Two quotas of one file, the second of which has joined the pull request of the first. */
async function sharing(stack: Stack, namespace: string): Promise<Readonly<Record<'owner' | 'joined', WatchedQuota>>> {
  const hard = { pods: '10' };
  const annotations = { 'resizer.io/approval': 'before-merge' };
  const file = ['first', 'second'].map((quota) => quotaManifest({ quota, hard })).join('---\n');
  const owner = await givenQuota(stack, { namespace, quota: 'first', hard, annotations, synced: false, file });
  await press(owner);
  await owner.reaches('AwaitingApproval', 'ApprovalRequired');
  const joined = new WatchedQuota(stack, namespace, 'second');
  await createQuota(stack, { namespace, quota: 'second', hard });
  await joined.reaches('AwaitingApproval', 'ApprovalRequired');
  return { owner, joined };
}

/** A decision that waits for an approval and has no pull request yet; the syncer leaves its quota alone. */
async function unopened(stack: Stack, namespace: string): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: approvedFirst, synced: false });
  await press(quota);
  await quota.reaches('AwaitingApproval', 'ApprovalRequired');
  return quota;
}

/** Scenarios that share the servers without noticing each other. */
export const answerScenarios: Readonly<Record<string, Scenario<Stack>>> = {
  'revised-before-approval': async (stack, namespace) => {
    const quota = await unopened(stack, namespace);
    const before = (await quota.status()).decision?.changes;
    await quota.deploy('more', 4, { cpu: '10m' });
    await eventually('the decision is another one', async () => {
      const { decision } = await quota.status();
      return JSON.stringify(decision?.changes) !== JSON.stringify(before);
    });
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    await quota.command('reject', { by: 'alice', reason: 'too much' });
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    return await runOf(quota);
  },

  'in-git-before-opening': async (stack, namespace) => {
    const quota = await unopened(stack, namespace);
    await stack.forge.pushCommit({ files: { [quota.path]: quotaManifest({ hard: { pods: '20' } }) } });
    await quota.command('approve', { by: 'alice' });
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '20' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'text-changed-before-opening': async (stack, namespace) => {
    const quota = await unopened(stack, namespace);
    await stack.forge.pushCommit({ files: { [quota.path]: quotaManifest({ hard: { pods: '11' } }) } });
    await quota.command('approve', { by: 'alice' });
    // What was approved is 10 → 12, and what would be written now is 11 → 12: it is asked for again.
    await eventually(
      'it is asked for again',
      async () => (await quota.events('QuotaResizeApprovalNeeded')).length === 2,
    );
    if (quota.pullRequests().length > 0) throw new Error('it was opened without the approval');
    await quota.command('approve', { by: 'alice' });
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '12' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'text-changed-while-open': async (stack, namespace) => {
    const quota = await opened(stack, namespace, { synced: false });
    const before = await quota.pullRequest();
    await stack.forge.pushCommit({ files: { [quota.path]: quotaManifest({ hard: { pods: '11' } }) } });
    // The line conflicts, so the branch is made anew.
    await quota.rebuilt(before);
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    return await runOf(quota);
  },

  'file-gone-before-opening': async (stack, namespace) => {
    const quota = await unopened(stack, namespace);
    await stack.forge.pushCommit({ files: { [quota.path]: null } });
    await quota.command('approve', { by: 'alice' });
    await quota.reaches('Blocked', 'FileNotFound');
    return await runOf(quota);
  },

  'closed-while-opening': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: byPeople });
    const hold = stack.forge.hold({ ...openingOf(namespace), when: 'after' });
    await press(quota);
    await untilHeld(hold, `the pull request of ${namespace} is made`, EPISODE_MS);
    const { number } = await quota.pullRequest();
    await stack.forge.closePullRequest(number, 'bob');
    // The answer is lost, so the pull request is looked for, and found closed.
    hold.abandon();
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    return await runOf(quota);
  },

  'closed-while-rebuilt': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number, head } = await quota.pullRequest();
    const hold = stack.forge.hold({ method: 'PATCH', path: `/git/refs/heads/${head.ref}`, when: 'after' });
    await quota.deploy('more', 4, { cpu: '10m' });
    await untilHeld(hold, `the branch of ${namespace} is moved`, EPISODE_MS);
    await stack.forge.closePullRequest(number, 'bob');
    hold.abandon();
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    return await runOf(quota);
  },

  'in-git-while-open': async (stack, namespace) => {
    const quota = await opened(stack, namespace, { synced: false });
    await stack.forge.pushCommit({ files: { [quota.path]: quotaManifest({ hard: { pods: '20' } }) } });
    // More is needed, so the branch is to be made anew.
    await quota.deploy('more', 4, { cpu: '10m' });
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '20' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'file-gone-while-open': async (stack, namespace) => {
    const quota = await opened(stack, namespace, { synced: false });
    await stack.forge.pushCommit({ files: { [quota.path]: null } });
    await quota.deploy('more', 4, { cpu: '10m' });
    await quota.reaches('Blocked', 'FileNotFound');
    return await runOf(quota);
  },

  'head-moved': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number, head } = await quota.pullRequest();
    const hold = stack.forge.hold({ method: 'PUT', path: `/pulls/${number}/merge`, when: 'before' });
    await quota.annotate({ 'resizer.io/auto-merge': null });
    await untilHeld(hold, `the merge of ${namespace} is about to be made`, EPISODE_MS);
    await stack.forge.pushCommit({ branch: head.ref, files: { 'NOTES.md': 'wait for me\n' }, author: 'alice' });
    hold.release();
    await quota.reaches('AwaitingMerge', 'ForeignCommit');
    return await runOf(quota);
  },

  'held-while-merging': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number } = await quota.pullRequest();
    const hold = stack.forge.hold({ method: 'PUT', path: `/pulls/${number}/merge`, when: 'before' });
    await quota.annotate({ 'resizer.io/auto-merge': null });
    await untilHeld(hold, `the merge of ${namespace} is about to be made`, EPISODE_MS);
    await quota.annotate(byPeople);
    // The connection breaks, so the merge is tried again, and the policy is asked again.
    hold.abandon();
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    return await runOf(quota);
  },

  'merge-refused': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number } = await quota.pullRequest();
    const action = {
      kind: 'status',
      status: 405,
      message: 'Squash merges are not allowed on this repository.',
    } as const;
    const fault = stack.forge.fail({ method: 'PUT', path: `/pulls/${number}/merge`, times: 'always', action });
    await quota.annotate({ 'resizer.io/auto-merge': null });
    await quota.reaches('Blocked', 'NotMergeable');
    fault.remove();
    await quota.reaches('CoolingDown', 'CoolingDown');
    return await runOf(quota);
  },

  'in-merge-queue': async (stack, namespace) => {
    const branch = `queue-${namespace}`;
    const annotations = { 'resizer.io/git-ref': branch };
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations, synced: false });
    await stack.forge.pushCommit({ branch, files: { 'README.md': '# taken through a queue\n' } });
    await stack.forge.protectBranch(branch, { as: 'ruleset', mergeQueue: true, requiredChecks: ['ci'] });
    await press(quota);
    await quota.reaches('Merging', 'InMergeQueue');
    const { number } = await quota.pullRequest();
    await stack.forge.requestChanges(number, 'alice');
    await quota.reaches('AwaitingMerge', 'ChangesRequested');
    await stack.forge.dismissReview(number, 'alice', 'bob');
    await quota.reaches('Merging', 'InMergeQueue');
    await stack.forge.finishQueued(number, 'failed');
    await quota.reaches('AwaitingMerge', 'RemovedFromQueue');
    await stack.forge.enqueue(number, 'alice');
    await quota.command('reconcileNow');
    await quota.reaches('AwaitingMerge', 'InMergeQueue');
    await stack.forge.finishQueued(number, 'passed');
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '12' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    return await runOf(quota);
  },

  'refused-by-github': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    const action = { kind: 'status', status: 403, message: 'Resource not accessible by integration' } as const;
    const fault = stack.forge.fail({ method: 'POST', body: `/${namespace}/`, times: 'always', action });
    await press(quota);
    await quota.reaches('Blocked', 'ForgeRejected');
    fault.remove();
    await quota.reaches('CoolingDown', 'CoolingDown');
    return await runOf(quota);
  },

  'one-file-at-a-time': async (stack, namespace) => {
    // Above its threshold only, so that each has a decision of its own.
    const hard = { pods: '10' };
    const both = ['first', 'second'].map((quota) => quotaManifest({ quota, hard })).join('---\n');
    const first = await givenQuota(stack, {
      namespace,
      quota: 'first',
      hard,
      annotations: byPeople,
      synced: false,
      file: both,
    });
    const second = new WatchedQuota(stack, namespace, 'second');
    await createQuota(stack, { namespace, quota: 'second', hard });
    // Under other rules: it does not join the pull request of the first.
    await second.annotateQuota({ 'resizer.io/approval': 'before-merge' });
    await counted(second);
    await press(first);
    const busy = await eventually(
      'one of them waits for the file',
      async () => {
        for (const quota of [first, second]) {
          const seen = await quota.status().catch(() => null);
          if (seen?.phase === 'Blocked' && seen.reason === 'FileBusy') return quota;
        }
        return null;
      },
      EPISODE_MS,
    );
    return await runOf(busy);
  },

  'shared-owner': async (stack, namespace) => {
    const { owner, joined } = await sharing(stack, namespace);
    await stack.forge.approveReview((await owner.pullRequest()).number, 'alice');
    await owner.reaches('AwaitingSync');
    await joined.reaches('AwaitingSync');
    return await runOf(owner);
  },

  'shared-joined': async (stack, namespace) => {
    const { owner, joined } = await sharing(stack, namespace);
    await owner.command('reject', { by: 'alice', reason: 'not now' });
    // It goes on with one of its own.
    await joined.pullRequest();
    await joined.reaches('AwaitingApproval', 'ApprovalRequired');
    return await runOf(joined);
  },

  'companion-left-out': async (stack, namespace) => {
    const compute = await givenQuota(stack, {
      namespace,
      hard: { 'requests.cpu': '1' },
      annotations: approvedFirst,
      synced: false,
    });
    const objects = new WatchedQuota(stack, namespace, 'objects');
    await stack.forge.pushCommit({
      files: { [objects.path]: quotaManifest({ quota: 'objects', hard: { pods: '5' } }) },
    });
    await createQuota(stack, { namespace, quota: 'objects', hard: { pods: '5' } });
    await counted(objects);
    await compute.deploy('web', 6, { cpu: '200m' });
    const both = [compute, objects];
    const batchOwner = await eventually(
      'one of them leads',
      async () => {
        for (const quota of both) {
          const seen = await quota.status().catch(() => null);
          if ((seen?.decision?.batchedQuotas ?? []).length > 0 && seen?.phase === 'AwaitingApproval') return quota;
        }
        return null;
      },
      EPISODE_MS,
    );
    const batchedQuota = batchOwner === compute ? objects : compute;
    await stack.forge.pushCommit({ files: { [batchedQuota.path]: null } });
    await batchOwner.command('approve', { by: 'alice' });
    await eventually('the companion is free', async () => (await batchedQuota.lease())?.holder === null, EPISODE_MS);
    // What was approved was for both, so it is asked for again.
    await batchOwner.reaches('AwaitingApproval');
    return await runOf(batchOwner);
  },

  'sync-overdue': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, synced: false });
    await press(quota);
    await quota.reaches('AwaitingSync', 'SyncOverdue');
    await stack.forge.pushCommit({ files: { [quota.path]: null } });
    const before = await timesAsked(quota, 'observeSource');
    // The one after the first that began later has certainly seen the push.
    const isReadTwice = async () => (await timesAsked(quota, 'observeSource')) >= before + 2;
    await eventually('Git is read twice more', isReadTwice, EPISODE_MS);
    await quota.setHard({ pods: '12' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },
};

/** Scenarios that change something for everybody, one after the other. */
export const lonelyAnswerScenarios: Readonly<Record<string, Scenario<Stack>>> = {
  'lease-taken-meanwhile': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    // Git is read after the Lease was seen free and before it is taken. Held before the commit: otherwise an earlier
    // scenario's episode that tries again may read the new tree first, and nobody asks for it again.
    const hold = stack.forge.hold({ method: 'GET', path: '/git/trees/**', when: 'before' });
    await stack.forge.pushCommit({ files: { 'README.md': `# for ${namespace}\n` } });
    await press(quota);
    // The request that is held may be another episode's, so the quota's own history says when Git is read for it.
    const isAsked = async () => (await timesAsked(quota, 'observeSource')) >= 1;
    await eventually(`Git is read for ${namespace}`, isAsked, EPISODE_MS);
    // It is read while the demand settles; a Lease that is taken before that is over would be seen as taken.
    await quota.reaches('OpeningPullRequest');
    await quota.createLease('somebody-else');
    hold.release();
    await quota.reaches('Blocked', 'LeaseHeld');
    const recorded = await runOf(quota);
    await quota.unlockLease();
    await quota.reaches('CoolingDown');
    return recorded;
  },

  'paused-while-opening': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    // The repetition goes step by step.
    stack.forge.fail({ ...openingOf(namespace), action: { kind: 'status', status: 502 } });
    const hold = stack.forge.hold({ method: 'POST', path: '/git/refs', body: `/${namespace}/`, when: 'before' });
    await press(quota);
    await untilHeld(hold, `the branch of ${namespace} is about to be made`, EPISODE_MS);
    const name = 'headroom-pause';
    const data = { by: 'alice', reason: 'an incident' };
    await stack.core.createNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, body: { metadata: { name }, data } });
    hold.release();
    await quota.reaches('Paused', 'GloballyPaused');
    await stack.core.deleteNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, name });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },
};

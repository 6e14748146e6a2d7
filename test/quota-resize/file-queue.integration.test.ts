/** Quotas of several teams in one file: who changes it, who waits for it, and for how long. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import type { PullRequestRef } from '../../domain/quota-resize/model/decision.ts';
import { targetsOfCommit } from '../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { longOnly } from '../kernel/long.ts';

/** One line for each quota: neighbours are in conflict with each other. */
function fileOf(limits: Readonly<Record<string, string>>): string {
  const items = Object.entries(limits).map(
    ([namespace, pods]) =>
      `- {apiVersion: v1, kind: ResourceQuota, metadata: {name: compute, namespace: ${namespace}}, spec: {hard: {pods: "${pods}"}}}`,
  );
  return ['apiVersion: v1', 'kind: List', 'items:', ...items, ''].join('\n');
}

/** The quotas of these namespaces, with ten pods each, in one file. */
async function sharing(
  stack: Stack,
  path: string,
  annotations: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<readonly WatchedQuota[]> {
  const namespaces = Object.keys(annotations);
  const limits = Object.fromEntries(namespaces.map((namespace) => [namespace, '10']));
  const quotas: WatchedQuota[] = [];
  for (const namespace of namespaces) {
    const own = annotations[namespace] ?? {};
    quotas.push(await givenQuota(stack, { namespace, hard: { pods: '10' }, annotations: own, file: null }));
  }
  await stack.forge.pushCommit({ files: { [path]: fileOf(limits) } });
  return quotas;
}

const byPeople = { 'resizer.io/auto-merge': 'false' };
const approvedFirst = { 'resizer.io/approval': 'before-pull-request' };

/** Above its threshold. */
async function press(quota: WatchedQuota): Promise<void> {
  await quota.deploy('web', 9, { cpu: '10m' });
}

/** The cluster follows Git: the syncer applies no lists. */
async function synced(quota: WatchedQuota, pods = '12'): Promise<void> {
  await quota.reaches('AwaitingSync', 'SyncPending');
  await quota.setHard({ pods });
  await quota.reaches('CoolingDown', 'CoolingDown');
}

async function start(env: Readonly<Record<string, string>>): Promise<Stack> {
  return await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: { ...quickAutoMerge, 'timings.holdRetry': '1s', ...env },
  });
}

async function merge(quota: WatchedQuota): Promise<void> {
  await quota.stack.forge.mergePullRequest((await quota.pullRequest()).number, 'alice');
}

/** Variations, which are in the long part only. */
const MORE_PHASES = { ...SEVERAL_PHASES, ...longOnly } as const;

describe('the file of several teams', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await start({});
  });
  afterAll(async () => await stack?.stop());

  it('does not wait for an approval that another team has not given yet', SEVERAL_PHASES, async () => {
    const path = 'teams/approved/quotas.yaml';
    const [asking, other] = await sharing(stack, path, { 'waits-for-a-person': approvedFirst, 'next-to-it': {} });
    if (asking === undefined || other === undefined) throw new Error('there are two');
    await press(asking);
    await asking.reaches('AwaitingApproval', 'ApprovalRequired');
    await press(other);
    await synced(other);
    expect(asking.pullRequests()).toEqual([]);
    expect((await asking.status()).phase).toBe('AwaitingApproval');
    expect(await stack.forge.readFile('main', path)).toBe(fileOf({ 'waits-for-a-person': '10', 'next-to-it': '12' }));

    await asking.command('approve', { by: 'alice' });
    await synced(asking);
    expect(await stack.forge.readFile('main', path)).toBe(fileOf({ 'waits-for-a-person': '12', 'next-to-it': '12' }));
  });

  it('is waited for by what was approved before, and the approval is not asked for again', MORE_PHASES, async () => {
    const path = 'teams/answered/quotas.yaml';
    const [holder, asking] = await sharing(stack, path, { 'has-it': byPeople, answered: approvedFirst });
    if (holder === undefined || asking === undefined) throw new Error('there are two');
    await press(holder);
    await holder.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    await press(asking);
    await asking.reaches('AwaitingApproval', 'ApprovalRequired');
    await asking.command('approve', { by: 'alice' });
    await asking.reaches('Blocked', 'FileBusy');
    expect(asking.pullRequests()).toEqual([]);
    await merge(holder);
    await synced(asking);
    expect(await stack.forge.readFile('main', path)).toBe(fileOf({ 'has-it': '12', answered: '12' }));
    expect(await asking.events('QuotaResizeApprovalNeeded')).toHaveLength(1);
  });

  it('goes to denied workloads first when it is free again, and everybody sees the queue', SEVERAL_PHASES, async () => {
    const path = 'teams/queued/quotas.yaml';
    const [holder, calm, urgent] = await sharing(stack, path, { holding: byPeople, calm: {}, urgent: {} });
    if (holder === undefined || calm === undefined || urgent === undefined) throw new Error('there are three');
    await press(holder);
    await holder.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await holder.pullRequest();
    await press(calm);
    const alone = await calm.reaches('Blocked', 'FileBusy');
    expect(alone.detail).toMatch(
      new RegExp(
        `^${path} is being changed by the pull request of holding/compute \\(\\[#${number}\\]\\(.*\\), open since 20.*\\)\\. This quota has waited for the file since 20.*, alone; from 20.* on it gets a pull request of its own\\. Headroom tries again at 20`,
      ),
    );
    expect((await calm.events('FileBusy'))[0]).toContain(`#${number}`);

    await urgent.deploy('web', 12, { cpu: '10m' });
    // It may decide before it sees that pods are denied; its decision grows then.
    await urgent.reaches('Blocked', 'FileBusy');
    const shows = async (quota: WatchedQuota, place: string) => (await quota.status()).detail.includes(place);
    await eventually('the urgent one is first', async () => await shows(urgent, 'as number 1 of 2'), EPISODE_MS);
    await eventually('the calm one is behind it', async () => await shows(calm, 'as number 2 of 2'), EPISODE_MS);
    expect([...calm.pullRequests(), ...urgent.pullRequests()]).toEqual([]);

    await merge(holder);
    await synced(urgent, '20');
    await synced(calm);
    const [first = 0] = urgent.pullRequests();
    const [after = 0] = calm.pullRequests();
    expect(first).toBeLessThan(after);
    expect(await stack.forge.readFile('main', path)).toContain('namespace: calm}, spec: {hard: {pods: "12"}}');
  });
});

describe('a quota that has waited for long enough', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await start({ 'timings.fileWait': '4s' });
  });
  afterAll(async () => await stack?.stop());

  it(
    'gets a pull request of its own, and neither of the two takes back what the other wrote',
    SEVERAL_PHASES,
    async () => {
      const path = 'teams/day/quotas.yaml';
      const [slow, waiting] = await sharing(stack, path, { slow: byPeople, waiting: {} });
      if (slow === undefined || waiting === undefined) throw new Error('there are two');
      await waiting.annotate(byPeople);
      await press(slow);
      await slow.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
      await press(waiting);
      await waiting.reaches('Blocked', 'FileBusy');
      await waiting.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
      const own = await waiting.pullRequest();
      expect((await slow.pullRequest()).state).toBe('open');
      const { head } = own;
      expect(await stack.forge.readFile(head.ref, path)).toBe(fileOf({ slow: '10', waiting: '12' }));

      await merge(slow);
      // Neighbouring lines are a conflict: the second is rebuilt on what the first has written.
      const rebuilt = await waiting.rebuilt(own);
      expect(await stack.forge.readFile(rebuilt.head.ref, path)).toBe(fileOf({ slow: '12', waiting: '12' }));
      await waiting.annotate({ 'resizer.io/auto-merge': null });
      await synced(slow);
      await synced(waiting);
      expect(await stack.forge.readFile('main', path)).toBe(fileOf({ slow: '12', waiting: '12' }));
    },
  );
});

/** The commits of a pull request, each with the quotas in its trailers. */
async function commitsOf(quota: WatchedQuota, number: number): Promise<readonly (readonly string[])[]> {
  const commits = await quota.commits(number);
  return commits.map((message) => targetsOfCommit(message).map((target) => target.replace(/^[^/]*\//, '')));
}

/** The pull request of another quota's decision that a quota has joined. */
async function sharedBy(joined: WatchedQuota): Promise<PullRequestRef> {
  return await eventually(
    'it has joined a pull request',
    async () => {
      const recorded = (await joined.status()).decision?.pullRequest;
      return recorded?.joinedTo !== undefined && recorded;
    },
    EPISODE_MS,
  );
}

describe('quotas of one file whose policies agree', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await start({ 'timings.updateInterval': '1s', 'timings.needGone': '2s' });
  });
  afterAll(async () => await stack?.stop());

  const approved = { 'resizer.io/approval': 'before-merge' };

  it('share a pull request, with a commit and an approval each', SEVERAL_PHASES, async () => {
    const path = 'teams/shared/quotas.yaml';
    const [first, second] = await sharing(stack, path, { opens: approved, joins: approved });
    if (first === undefined || second === undefined) throw new Error('there are two');
    await press(first);
    await first.reaches('AwaitingApproval', 'ApprovalRequired');
    const opened = await first.pullRequest();
    await press(second);
    const { number, joinedTo } = await sharedBy(second);
    expect([number, joinedTo?.namespace]).toEqual([opened.number, 'opens']);
    expect(second.pullRequests()).toEqual([]);
    expect(await commitsOf(first, number)).toEqual([['opens/compute'], ['joins/compute']]);
    const shared = await first.shown(number);
    expect(shared.title).toBe('Raise quota opens/compute: pods 10 → 12 and 1 more');
    expect(shared.body).toContain('| `joins/compute` | `pods` | `9` | `10` | **`12`** |');
    expect(shared.body).toContain('**An approval is needed for `joins/compute`** before Headroom merges this');
    expect(await stack.forge.readFile(shared.head.ref, path)).toBe(fileOf({ opens: '12', joins: '12' }));

    await first.command('approve', { by: 'alice' });
    await first.reaches('AwaitingMerge', 'RaisedWithOtherQuota');
    expect((await first.shown(number)).state).toBe('open');
    await second.reaches('AwaitingApproval', 'ApprovalRequired');
    expect(await second.details()).toContain(`/pull/${number}), shared with opens/compute`);
    await second.command('approve', { by: 'bob' });
    await synced(first);
    await synced(second);
    expect(await stack.forge.readFile('main', path)).toBe(fileOf({ opens: '12', joins: '12' }));
    expect(second.pullRequests()).toEqual([]);
  });

  it('asks again for an approval of the head before, and goes on with what grew', MORE_PHASES, async () => {
    const path = 'teams/asked-again/quotas.yaml';
    const [first, second] = await sharing(stack, path, { approved: approved, growing: approved });
    if (first === undefined || second === undefined) throw new Error('there are two');
    await press(first);
    const opened = await first.pullRequest();
    await stack.forge.setCheckRun({ sha: opened.head.sha, name: 'slow', status: 'in_progress' });
    await first.reaches('AwaitingChecks', 'ChecksPending');
    await first.command('approve', { by: 'alice' });
    await press(second);
    const { number } = await sharedBy(second);
    await first.reaches('AwaitingApproval', 'ApprovalRequired');
    expect((await first.status()).approval).toBeNull();

    await second.scale('web', 14);
    await eventually(
      'the greater demand is in the shared pull request',
      async () => (await stack.forge.readFile(opened.head.ref, path)) === fileOf({ approved: '12', growing: '18' }),
      EPISODE_MS,
    );
    expect(await commitsOf(first, number)).toEqual([['approved/compute'], ['growing/compute']]);
    // A review of the head is about all of it.
    await stack.forge.approveReview(number, 'carol');
    await synced(first);
    await synced(second, '18');
  });

  it('go on without one that is rejected, and without the owner of the pull request', SEVERAL_PHASES, async () => {
    const path = 'teams/parting/quotas.yaml';
    const quotas = await sharing(stack, path, { owner: byPeople, stays: byPeople, 'not-now': byPeople });
    const [owner, stays, rejected] = quotas;
    if (owner === undefined || stays === undefined || rejected === undefined) throw new Error('there are three');
    await press(owner);
    const opened = await owner.pullRequest();
    await press(stays);
    await sharedBy(stays);
    await press(rejected);
    await sharedBy(rejected);
    expect((await commitsOf(owner, opened.number)).flat()).toEqual([
      'owner/compute',
      'stays/compute',
      'not-now/compute',
    ]);

    expect(await rejected.command('reject', { by: 'bob', reason: 'not now' })).toContain('goes on without it');
    await rejected.reaches('CoolingDown', 'PreviouslyRejected');
    await eventually(
      'the pull request is rebuilt without it',
      async () => (await commitsOf(owner, opened.number)).length === 2,
      EPISODE_MS,
    );
    expect((await owner.shown(opened.number)).state).toBe('open');
    await stays.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');

    await owner.command('reject', { by: 'alice' });
    await owner.reaches('CoolingDown', 'PreviouslyRejected');
    const next = await stays.pullRequest();
    expect(next.number).not.toBe(opened.number);
    expect(await stack.forge.readFile(next.head.ref, path)).toBe(fileOf({ owner: '10', stays: '12', 'not-now': '10' }));
    await merge(stays);
    await synced(stays);
    expect(rejected.pullRequests()).toEqual([]);
  });

  it('are all rejected where a person closes the pull request', MORE_PHASES, async () => {
    const path = 'teams/closed/quotas.yaml';
    const [first, second] = await sharing(stack, path, { 'closed-first': byPeople, 'closed-second': byPeople });
    if (first === undefined || second === undefined) throw new Error('there are two');
    await press(first);
    const { number } = await first.pullRequest();
    await press(second);
    await sharedBy(second);
    await stack.forge.closePullRequest(number, 'alice');
    await first.reaches('CoolingDown', 'PreviouslyRejected');
    await second.reaches('CoolingDown', 'PreviouslyRejected');
    expect((await second.status()).rejections).toMatchObject([{ by: 'alice', limits: { pods: '12' } }]);
    expect(second.pullRequests()).toEqual([]);
  });
});

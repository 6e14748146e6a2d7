/** A pull request that several decisions share: with the Leases of a real API server, and a forge. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileLocks, type FileLocks } from '../../../../activities/quota-resize/lease/file-lock.ts';
import type { PullRequestOutcome } from '../../../../activities/quota-resize/interface.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { type Decision, decidedLimits, type OpenDecision } from '../../../../domain/quota-resize/model/decision.ts';
import { fileLeaseName } from '../../../../domain/quota-resize/model/lease.ts';
import { decisionOfCommit } from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import { type Cluster, leaseStore, startCluster, SYSTEM_NAMESPACE } from '../../kubernetes/cluster.ts';
import { change, decide, type GitOps, policy, startGitOps, type Worker } from '../gitops-fixture.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => await cluster?.stop());

function fileLocks(): FileLocks {
  const { worker: kubernetes } = cluster;
  const log = pino({ level: 'silent' });
  const timings = { holdRetry: 300_000, fileWait: 86_400_000 };
  return createFileLocks({ kubernetes, systemNamespace: SYSTEM_NAMESPACE, leases: leaseStore(cluster), timings, log });
}

/** A line for each namespace: its quota with so many pods. */
function fileOf(pods: Readonly<Record<string, string>>): string {
  const lines = Object.entries(pods).map(
    ([namespace, limit]) =>
      `- {apiVersion: v1, kind: ResourceQuota, metadata: {name: compute, namespace: ${namespace}}, spec: {hard: {pods: "${limit}"}}}`,
  );
  return ['apiVersion: v1', 'kind: List', 'items:', ...lines, ''].join('\n');
}

interface Quota {
  readonly target: QuotaTarget;
  readonly decision: Decision;
}

let files = 0;

interface Shared {
  readonly path: string;
  readonly names: readonly [string, string, string];
  readonly worker: Worker;
  readonly owner: Quota & { readonly decision: OpenDecision };
  /** What it opens, or waits for. */
  tries(quota: Quota): Promise<PullRequestOutcome>;
  /** Rebuilds the owner's pull request with these. */
  rebuild(owner: OpenDecision): Promise<PullRequestOutcome>;
  /** A quota of the file whose decision waits for it. */
  waits(namespace: string): Promise<Quota>;
  store(quota: Quota): Promise<void>;
}

/** An open pull request for the first of three quotas in one file, for whose Leases a real API server is asked. */
async function sharing(gitops: GitOps, path: string, names: Shared['names']): Promise<Shared> {
  const worker = gitops.worker({ fileLocks: fileLocks(), decisions: leaseStore(cluster) });
  const decided = async (namespace: string): Promise<Quota> => {
    const target = { cluster: 'prod', namespace, quota: 'compute' };
    const candidates = [{ from: 'scan', learntFrom: 'a search' } as const];
    const limits = { pods: '12' };
    const found = await worker.activities.observeSource({ target, limits, candidates });
    if (found.kind !== 'found') throw new Error(found.message);
    const { repository, base, how, placement } = found;
    const decision = decide([change('pods', '10', '12')], { source: { repository, base, how, placement } });
    await leaseStore(cluster).acquire(target, decision);
    return { target, decision };
  };
  const input = ({ target, decision }: Quota) => {
    const candidatesByQuota = [
      { quota: target.quota, candidates: [{ from: 'scan', learntFrom: 'a search' } as const] },
    ];
    return { target, decision, policy, candidatesByQuota };
  };
  const tries: Shared['tries'] = async (quota) => await worker.activities.ensurePullRequest(input(quota));
  const store: Shared['store'] = async ({ target, decision }) => await leaseStore(cluster).update(target, decision);
  const first = await decided(names[0]);
  const opened = await tries(first);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const { target } = first;
  const owner = { target, decision: { ...first.decision, pullRequest: opened.pullRequest, merge: null } };
  await store(owner);
  return {
    path,
    names,
    worker,
    owner,
    tries,
    store,
    rebuild: async (decision) =>
      await worker.activities.ensurePullRequestRebuilt({ ...input({ target, decision }), why: 'others join it' }),
    waits: async (namespace) => {
      const quota = await decided(namespace);
      expect(await tries(quota)).toMatchObject({ kind: 'blocked', reason: 'FileBusy' });
      return quota;
    },
  };
}

async function start(): Promise<{ readonly gitops: GitOps; readonly shared: Shared }> {
  files += 1;
  const path = `teams/file-${files}.yaml`;
  const names = [`first-${files}`, `second-${files}`, `third-${files}`] as const;
  const gitops = await startGitOps({ [path]: fileOf(Object.fromEntries(names.map((name) => [name, '10']))) });
  return { gitops, shared: await sharing(gitops, path, names) };
}

/** The owner's decision with the others in its pull request. */
function joinedBy(owner: OpenDecision, ...others: readonly Quota[]): OpenDecision {
  const joined = others.map(({ target: { namespace, quota }, decision }) => {
    return { namespace, quota, decision: decision.id, limits: decidedLimits(decision) };
  });
  return { ...owner, joined };
}

/** Both in the owner's pull request, and recorded. */
async function joinTwo(shared: Shared): Promise<{ readonly owner: OpenDecision; readonly others: readonly Quota[] }> {
  const [, second, third] = shared.names;
  const others = [await shared.waits(second), await shared.waits(third)];
  const wanted = joinedBy(shared.owner.decision, ...others);
  const outcome = await shared.rebuild(wanted);
  if (outcome.kind !== 'open') throw new Error(outcome.kind);
  expect(outcome.joined).toEqual(wanted.joined);
  const owner = { ...wanted, pullRequest: outcome.pullRequest };
  await shared.store({ target: shared.owner.target, decision: owner });
  return { owner, others };
}

async function decisionsIn({ worker, owner }: Shared): Promise<readonly (string | null)[]> {
  const commits = await worker.github.pullRequests.commitsOf(owner.decision.pullRequest.number);
  return commits.map(({ message }) => decisionOfCommit(message));
}

describe('decisions that share a pull request', () => {
  it('have a commit each, on top of each other, and the others record it', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner, others } = await joinTwo(shared);
    const [first, second, third] = shared.names;
    const { headSha, branch } = owner.pullRequest;
    expect(await decisionsIn(shared)).toEqual([owner.id, ...others.map(({ decision }) => decision.id)]);
    expect(await gitops.forge.branchTip(branch)).toBe(headSha);
    expect(await gitops.forge.readFile(branch, shared.path)).toBe(
      fileOf({ [first]: '12', [second]: '12', [third]: '12' }),
    );
    for (const quota of others) {
      expect(await shared.tries(quota)).toMatchObject({
        kind: 'open',
        pullRequest: {
          ...owner.pullRequest,
          path: shared.path,
          joinedTo: { namespace: first, quota: 'compute', decision: owner.id },
        },
      });
    }
    const effects = gitops.effects().length;
    expect(await shared.rebuild(owner)).toMatchObject({ kind: 'open', pullRequest: { headSha }, joined: owner.joined });
    expect(gitops.effects(), 'a repetition').toHaveLength(effects);
    // As after a process that died before it recorded the head.
    const unrecorded = { ...owner, pullRequest: { ...owner.pullRequest, headSha: '' } };
    expect(await shared.rebuild(unrecorded)).toMatchObject({ kind: 'open', pullRequest: { headSha } });
    expect(gitops.effects(), 'the same after a crash').toHaveLength(effects);
  });

  it('are written without one that waits no longer, or is another one by now', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const second = await shared.waits(shared.names[1]);
    const third = await shared.waits(shared.names[2]);
    await leaseStore(cluster).release(second.target, second.decision, { rejection: null });
    const wanted = joinedBy(shared.owner.decision, second, third);
    const outcome = await shared.rebuild(wanted);
    expect(outcome).toMatchObject({
      kind: 'open',
      joined: [{ decision: second.decision.id, leftOut: true }, { decision: third.decision.id }],
    });
    expect(await decisionsIn(shared)).toEqual([shared.owner.decision.id, third.decision.id]);
  });

  it('have all of their files locked for the owner, and no others', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const [first, second, third] = shared.names;
    const { decision } = shared.owner;
    const more = (name: string) => ({ repository: 'acme/gitops', path: `${name}/kustomization.yaml` });
    const holdersOf = async (name: string): Promise<string | undefined> => {
      const { items } = await cluster.admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
      return items.find(({ metadata }) => metadata?.name === fileLeaseName(more(name)))?.spec?.holderIdentity;
    };
    const written = await shared.waits(second);
    await leaseStore(cluster).recordFiles(written.target, written.decision, [more(second)]);
    const changed = await shared.waits(third);
    await leaseStore(cluster).recordFiles(changed.target, changed.decision, [more(third)]);
    await gitops.forge.pushCommit({
      files: { [shared.path]: fileOf({ [first]: '10', [second]: '10', [third]: '11' }) },
    });
    expect(await shared.rebuild(joinedBy(decision, written, changed))).toMatchObject({
      kind: 'open',
      joined: [{ decision: written.decision.id }, { leftOut: true }],
    });
    expect(await holdersOf(second)).toBe(`headroom/${decision.id}`);
    expect(await holdersOf(third)).toBeUndefined();
  });

  it('go on without one whose value was changed in Git since it was decided', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const [first, second, third] = shared.names;
    const other = await shared.waits(second);
    await gitops.forge.pushCommit({
      files: { [shared.path]: fileOf({ [first]: '10', [second]: '11', [third]: '10' }) },
    });
    const outcome = await shared.rebuild(joinedBy(shared.owner.decision, other));
    expect(outcome).toMatchObject({ kind: 'open', joined: [{ leftOut: true }] });
    expect(await decisionsIn(shared)).toEqual([shared.owner.decision.id]);
    // It asks for the file again, with the value as it is.
    expect(await shared.tries(other)).toMatchObject({ kind: 'relocated' });
  });

  it('wait in the queue again when the pull request goes on without them, or is gone', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner, others } = await joinTwo(shared);
    const [second, third] = others;
    if (second === undefined || third === undefined) throw new Error('there are two');
    const joined = (owner.joined ?? []).map((one) =>
      one.decision === second.decision.id ? { ...one, leftOut: true } : one,
    );
    const without = await shared.rebuild({ ...owner, joined });
    expect(without).toMatchObject({ kind: 'open', joined });
    expect(await decisionsIn(shared)).toEqual([owner.id, third.decision.id]);
    if (without.kind !== 'open') throw new Error(without.kind);
    const { target } = shared.owner;
    await shared.store({ target, decision: { ...owner, joined, pullRequest: without.pullRequest } });
    const says = (message: string) => ({
      kind: 'blocked',
      reason: 'FileBusy',
      message: expect.stringContaining(message),
    });
    expect(await shared.tries(second)).toEqual(says('which goes on without this quota'));
    expect(await shared.tries(second)).toEqual(says('This quota has waited for the file since'));

    await leaseStore(cluster).release(target, { ...owner, pullRequest: without.pullRequest }, { rejection: null });
    expect(await shared.tries(second)).toMatchObject({ kind: 'open' });
  });

  it('leave a commit of somebody else alone', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner } = await joinTwo(shared);
    const { branch } = owner.pullRequest;
    const theirs = await gitops.forge.pushCommit({ branch, files: { 'README.md': 'mine' }, author: 'mona' });
    expect(await shared.rebuild(owner)).toMatchObject({ kind: 'open', pullRequest: owner.pullRequest });
    expect(await gitops.forge.branchTip(branch)).toBe(theirs);
  });
});

describe('the comments on a pull request that is shared', () => {
  it('say which quota they are about, and what becomes of the others', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner } = await joinTwo(shared);
    const { target } = shared.owner;
    const [first, second, third] = shared.names;
    const { number } = owner.pullRequest;
    const { activities, github } = shared.worker;
    await activities.ensureComment({ target, decision: owner, about: 'approval', text: 'Approved by ann.' });
    expect((await github.pullRequests.ownCommentsWith(number, 'Approved'))[0]).toContain(
      `${first}/compute: Approved by ann.`,
    );
    await activities.ensurePullRequestClosed({ target, decision: owner, comment: 'Closed by Headroom: not needed.' });
    expect((await github.pullRequests.ownCommentsWith(number, 'Closed by'))[0]).toContain(
      `Closed by Headroom: not needed. This is about one of its quotas: ${second}/compute and ${third}/compute go on with another pull request.`,
    );
    expect(await github.pullRequests.get(number)).toMatchObject({ state: 'closed' });
    expect(await gitops.forge.branchTip(owner.pullRequest.branch)).toBeUndefined();
  });
});

describe('a merge of what several decisions share', () => {
  it('is of all of them, and its commit names them', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner, others } = await joinTwo(shared);
    const outcome = await shared.worker.activities.ensureMerged({ target: shared.owner.target, decision: owner });
    expect(outcome).toMatchObject({ kind: 'merged', isOwn: true, limits: { pods: '12' } });
    const [first, second, third] = shared.names;
    expect(await gitops.forge.readFile('main', shared.path)).toBe(
      fileOf({ [first]: '12', [second]: '12', [third]: '12' }),
    );
    const main = (await gitops.forge.branchTip('main')) ?? '';
    const { message } = await shared.worker.github.branches.commit(main);
    for (const name of shared.names) expect(message).toContain(`Headroom-Target: prod/${name}/compute`);
    const [other] = others;
    if (other === undefined) throw new Error('there are two');
    const { pullRequest } = owner;
    const joinedTo = { namespace: first, quota: 'compute', decision: owner.id };
    const seen = await shared.worker.activities.observePullRequest({
      target: other.target,
      decision: { ...other.decision, pullRequest: { ...pullRequest, joinedTo }, merge: null },
    });
    expect(seen).toMatchObject({ state: 'closed', merge: { isOwn: true, limits: { pods: '12' } } });
    expect(seen.isWithoutOwn).toBeUndefined();
  });

  it('is not made while somebody requests changes, of whichever of them', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner } = await joinTwo(shared);
    const { number } = owner.pullRequest;
    const { target } = shared.owner;
    await gitops.forge.requestChanges(number, 'bob');
    const merge = async () => await shared.worker.activities.ensureMerged({ target, decision: owner });
    expect(await merge()).toEqual({
      kind: 'moved',
      why: expect.stringContaining('was not merged: changes are requested by bob at') as string,
    });
    await gitops.forge.dismissReview(number, 'bob', 'alice');
    expect(await merge()).toMatchObject({ kind: 'merged' });
  });

  it('is not made where a commit does something else than its decision, or one is missing', async () => {
    const { gitops, shared } = await start();
    await using _ = gitops;
    const { owner, others } = await joinTwo(shared);
    const { target } = shared.owner;
    const [first, second, third] = shared.names;
    const { branch, number } = owner.pullRequest;
    const commits = await shared.worker.github.pullRequests.commitsOf(number);
    const merge = async (decision: OpenDecision) => await shared.worker.activities.ensureMerged({ target, decision });
    const other = others[1];
    if (other === undefined) throw new Error('there are two');

    // The Lease of one that joined says less, or something else.
    await shared.store({ ...other, decision: { ...other.decision, changes: [change('pods', '10', '11')] } });
    expect(await merge(owner)).toMatchObject({
      kind: 'blocked',
      reason: 'NotMergeable',
      message: expect.stringContaining(`for ${third}/compute, it changes something else than was decided`) as string,
    });
    await shared.store(other);
    expect(await merge({ ...owner, joined: owner.joined?.slice(0, 1) })).toEqual({
      kind: 'moved',
      why: `pull request #${number} was not merged, as its number of commits is 3, and not 2`,
    });

    // Whoever may write to the repository writes the last commit in Headroom's name.
    const forged = await gitops.forge.pushCommit({
      branch,
      files: { [shared.path]: fileOf({ [first]: '12', [second]: '40', [third]: '12' }) },
      message: commits[2]?.message ?? '',
      author: 'headroom-bot',
    });
    const recorded = { ...owner, pullRequest: { ...owner.pullRequest, headSha: forged } };
    expect(await merge(recorded)).toEqual({
      kind: 'moved',
      why: `pull request #${number} was not merged, as its number of commits is 4, and not 3`,
    });
    // With as many decisions as commits, each commit is compared with its own.
    const fourth = { target: { ...other.target, namespace: `fourth-${files}` }, decision: other.decision };
    await leaseStore(cluster).acquire(fourth.target, fourth.decision);
    expect(await merge(joinedBy(recorded, ...others, fourth))).toMatchObject({
      kind: 'blocked',
      reason: 'NotMergeable',
      message: expect.stringContaining(
        `for ${fourth.target.namespace}/compute, it changes something else than was decided`,
      ) as string,
    });
    expect(gitops.effects().filter((effect) => effect.endsWith('/merge'))).toEqual([]);
  });
});

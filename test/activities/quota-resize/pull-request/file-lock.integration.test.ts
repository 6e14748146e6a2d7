/** When a file is locked for a pull request, and when not: with the Leases of a real API server, and a forge. */
import { V1MicroTime } from '@kubernetes/client-node';
import { ApplicationFailure } from '@temporalio/common';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFileLocks, type FileLocks } from '../../../../activities/quota-resize/lease/file-lock.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import { fileLeaseName } from '../../../../domain/quota-resize/model/lease.ts';
import { type Cluster, leaseStore, startCluster, SYSTEM_NAMESPACE } from '../../kubernetes/cluster.ts';
import {
  asAttempt,
  candidates,
  change,
  decide,
  type GitOps,
  MANIFEST,
  PATH,
  policy,
  startGitOps,
  type Worker,
} from '../gitops-fixture.ts';

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster();
});
afterAll(async () => await cluster?.stop());

const OTHER_PATH = 'managed-resources/prod/team-a/gpu.yaml';
const OTHER =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpu, namespace: team-a}\nspec: {hard: {pods: 5}}\n';

function fileLocks(fileWait = 86_400_000): FileLocks {
  const { worker: kubernetes } = cluster;
  const log = pino({ level: 'silent' });
  const timings = { holdRetry: 300_000, fileWait };
  return createFileLocks({ kubernetes, systemNamespace: SYSTEM_NAMESPACE, leases: leaseStore(cluster), timings, log });
}

/** A quota of the one file, under a decision that holds its Lease. Files of different tests are in different repositories. */
interface Quota {
  readonly target: QuotaTarget;
  readonly decision: Decision;
  open(worker: Worker): ReturnType<Worker['activities']['ensurePullRequest']>;
}

let clusters = 0;

/** The quotas of a test, in a cluster of their own name: the API server is the same for all tests. */
function quotas(): (quota: string, changes?: Partial<Decision>) => Promise<Quota> {
  clusters += 1;
  const namespace = `team-a-${clusters}`;
  return async (quota, changes = {}) => {
    const target = { cluster: 'prod', namespace, quota };
    const resource = quota === 'gpu' ? change('pods', '5', '6') : change('requests.cpu', '2', '3600m');
    const decision = decide([resource], changes);
    await leaseStore(cluster).acquire(target, decision);
    const all = [quota, ...(decision.batchedQuotas ?? []).map((other) => other.quota)];
    const candidatesByQuota = all.map((name) => ({ quota: name, candidates: inNamespace(namespace) }));
    const open: Quota['open'] = async (worker) =>
      await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    return { target, decision, open };
  };
}

function inNamespace(namespace: string): typeof candidates {
  return candidates.map((candidate) => ({ ...candidate, path: `managed-resources/prod/${namespace}` }));
}

/** A repository with the namespace's files: the one with two quotas, and one with another. */
async function repository(namespace: string, more: Readonly<Record<string, string>> = {}): Promise<GitOps> {
  const own = (text: string): string => text.replaceAll('team-a', namespace);
  return await startGitOps({ [own(PATH)]: own(MANIFEST), [own(OTHER_PATH)]: own(OTHER), ...more });
}

/** The lock of a file looks a quarter of an hour older. */
async function age(path: string, namespace: string): Promise<void> {
  const name = fileLeaseName({ repository: 'acme/gitops', path: path.replace('team-a', namespace) });
  const { coordination } = cluster.admin;
  const lease = await coordination.readNamespacedLease({ namespace: SYSTEM_NAMESPACE, name });
  Object.assign(lease.spec ?? {}, { acquireTime: new V1MicroTime(Date.now() - 15 * 60_000) });
  await coordination.replaceNamespacedLease({ namespace: SYSTEM_NAMESPACE, name, body: lease });
}

async function holderOf(path: string, namespace: string): Promise<string | null | undefined> {
  const name = fileLeaseName({ repository: 'acme/gitops', path: path.replace('team-a', namespace) });
  const { items } = await cluster.admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
  const lease = items.find(({ metadata }) => metadata?.name === name);
  return lease === undefined ? undefined : (lease.spec?.holderIdentity ?? null);
}

describe('the file of a pull request', () => {
  it('is locked when it is opened, and no other one is opened for it meanwhile', async () => {
    const quota = quotas();
    const [first, second] = [await quota('compute'), await quota('compute-large')];
    const { namespace } = first.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    expect(await holderOf(PATH, namespace), 'a decision alone locks nothing').toBeUndefined();
    const opened = await first.open(worker);
    expect(opened).toMatchObject({ kind: 'open' });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${first.decision.id}`);

    const effects = gitops.effects().length;
    const busy = { kind: 'blocked', reason: 'FileBusy', message: expect.stringContaining(`${namespace}/compute`) };
    expect(await second.open(worker)).toEqual(busy);
    expect(await asAttempt(2, () => second.open(worker))).toEqual(busy);
    expect(gitops.effects()).toHaveLength(effects);

    await leaseStore(cluster).release(first.target, first.decision, { rejection: null });
    expect(await second.open(worker)).toMatchObject({ kind: 'open' });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${second.decision.id}`);
  });

  it('is changed by a second one after the longest wait, each with its own value only', async () => {
    const quota = quotas();
    const [first, second] = [await quota('compute'), await quota('compute-large')];
    const { namespace } = first.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks(0) });
    await first.open(worker);
    expect(await second.open(worker)).toMatchObject({ reason: 'FileBusy' });
    const opened = await second.open(worker);
    if (opened.kind !== 'open') throw new Error(JSON.stringify(opened));
    const own = MANIFEST.replaceAll('team-a', namespace);
    expect(await gitops.forge.readFile(opened.pullRequest.branch, PATH.replace('team-a', namespace))).toBe(
      own.replace('requests.cpu: 2}', 'requests.cpu: 3600m}'),
    );
  });

  it.each<[string, (gitops: GitOps, namespace: string) => Promise<unknown>, unknown]>([
    [
      'the quota was found twice',
      async (gitops, namespace) =>
        await gitops.forge.pushCommit({
          files: { [`managed-resources/prod/${namespace}/copy.yaml`]: MANIFEST.replaceAll('team-a', namespace) },
        }),
      { kind: 'blocked', reason: 'FoundTwice' },
    ],
    [
      'the file is gone',
      async (gitops, namespace) =>
        await gitops.forge.pushCommit({ files: { [PATH.replace('team-a', namespace)]: null } }),
      { kind: 'blocked', reason: 'FileNotFound' },
    ],
    [
      'Git holds the values already',
      async (gitops, namespace) => {
        const text = MANIFEST.replaceAll('team-a', namespace).replace("'2'", "'4'");
        return await gitops.forge.pushCommit({ files: { [PATH.replace('team-a', namespace)]: text } });
      },
      { kind: 'alreadyInGit' },
    ],
  ])('is not locked, or no longer, where nothing is opened because %s', async (_, happens, outcome) => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    // An earlier attempt locked it, and died.
    const file = { repository: 'acme/gitops', path: PATH.replace('team-a', namespace) };
    await fileLocks().lock(quota, [file], { hasOpenPullRequest: () => Promise.resolve(false) });
    await happens(gitops, namespace);
    expect(await asAttempt(2, () => quota.open(worker))).toMatchObject(outcome as object);
    expect(await holderOf(PATH, namespace)).toBeUndefined();
  });

  it('is not locked any more where the forge refuses the pull request', async () => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const action = { kind: 'status', status: 403, message: 'Resource not accessible by integration' } as const;
    gitops.forge.fail({ method: 'POST', path: '/pulls', times: 'always', action });
    await expect(quota.open(gitops.worker({ fileLocks: fileLocks(), graphQl: 'off' }))).rejects.toMatchObject({
      type: 'ForgeRejected',
    });
    expect(await holderOf(PATH, namespace)).toBeUndefined();
  });

  it('is not locked while a pause stops the opening in its middle', async () => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const isPaused = () => gitops.effects().length > 1;
    const paused = ApplicationFailure.create({ type: 'Paused', message: 'paused', nonRetryable: true });
    const guard = () => (isPaused() ? Promise.reject(paused) : Promise.resolve());
    await expect(quota.open(gitops.worker({ fileLocks: fileLocks(), guard, graphQl: 'off' }))).rejects.toMatchObject({
      type: 'Paused',
    });
    expect(gitops.effects(), 'branch and commit, and no pull request').toHaveLength(2);
    expect(await holderOf(PATH, namespace)).toBeUndefined();
  });

  it('stays locked where the answer to the opening is lost, because the pull request may be there', async () => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    gitops.forge.fail({ path: '/graphql', body: 'createPullRequest', action: { kind: 'answer-lost' } });
    await expect(quota.open(worker)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${quota.decision.id}`);
    expect(await asAttempt(2, () => quota.open(worker))).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${quota.decision.id}`);
  });

  it('stays locked where an attempt that counted as lost fails after the next one has opened the pull request', async () => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const next = gitops.worker({ fileLocks: fileLocks(), graphQl: 'off' });
    const paused = ApplicationFailure.create({ type: 'Paused', message: 'paused', nonRetryable: true });
    const guard = async (): Promise<void> => {
      if (gitops.effects().length < 2) return;
      expect(await asAttempt(2, () => quota.open(next))).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
      throw paused;
    };
    await expect(quota.open(gitops.worker({ fileLocks: fileLocks(), guard, graphQl: 'off' }))).rejects.toMatchObject({
      type: 'Paused',
    });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${quota.decision.id}`);
  });

  it('is locked again for an open pull request that is found after the garbage collection', async () => {
    const quota = await quotas()('compute');
    const { namespace } = quota.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    await quota.open(worker);
    await leaseStore(cluster).unlockFiles(quota.target, quota.decision);
    expect(await holderOf(PATH, namespace)).toBeUndefined();
    expect(await asAttempt(2, () => quota.open(worker))).toMatchObject({ kind: 'open' });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${quota.decision.id}`);
  });

  it('is not opened by an attempt that was so slow that another decision took over its file', async () => {
    const quota = quotas();
    const [slow, fast] = [await quota('compute'), await quota('compute-large')];
    const { namespace } = slow.target;
    await using gitops = await repository(namespace);
    const file = { repository: 'acme/gitops', path: PATH.replace('team-a', namespace) };
    const locks = fileLocks();
    const takenOver: FileLocks = {
      ...locks,
      lock: async (...input) => {
        const outcome = await locks.lock(...input);
        await locks.unlock(slow);
        await locks.lock(fast, [file], { hasOpenPullRequest: () => Promise.resolve(false) });
        return outcome;
      },
    };
    await expect(slow.open(gitops.worker({ fileLocks: takenOver }))).rejects.toMatchObject({
      type: 'KubernetesUnavailable',
    });
    expect(gitops.effects().filter((effect) => effect === 'POST /pulls')).toEqual([]);
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${fast.decision.id}`);
    expect(await asAttempt(2, () => slow.open(gitops.worker({ fileLocks: locks })))).toMatchObject({
      reason: 'FileBusy',
    });
  });
});

describe('a lock that is older than an opening takes', () => {
  it('counts where its decision took over a pull request of an earlier one, and died before it recorded that', async () => {
    const quota = quotas();
    const [compute, second] = [await quota('compute'), await quota('compute-large')];
    const { namespace } = compute.target;
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    expect(await compute.open(worker)).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    await leaseStore(cluster).release(compute.target, compute.decision, { rejection: null });
    const taking = await quota('compute');
    expect(await taking.open(gitops.worker({ fileLocks: fileLocks() }))).toMatchObject({ pullRequest: { number: 1 } });
    await age(PATH, namespace);

    expect(await second.open(gitops.worker({ fileLocks: fileLocks() }))).toMatchObject({ reason: 'FileBusy' });
    expect(await holderOf(PATH, namespace)).toBe(`headroom/${taking.decision.id}`);
    await gitops.forge.closePullRequest(1, 'alice');
    expect(await second.open(gitops.worker({ fileLocks: fileLocks() }))).toMatchObject({ kind: 'open' });
  });
});

describe('a batched quota whose file another pull request changes', () => {
  it('is left out, and the pull request of the others is opened', async () => {
    const quota = quotas();
    const gpu = await quota('gpu');
    const { namespace } = gpu.target;
    const batchedQuotas = [
      {
        quota: 'gpu',
        quotaUid: 'u',
        approvalRequirement: null,
        candidates: inNamespace(namespace),
        changes: [change('pods', '5', '6')],
      },
    ];
    const compute = await quota('compute', { batchedQuotas });
    await using gitops = await repository(namespace);
    const worker = gitops.worker({ fileLocks: fileLocks() });
    expect(await gpu.open(worker)).toMatchObject({ kind: 'open' });
    const opened = await compute.open(worker);
    expect(opened).toMatchObject({ kind: 'open', leftOut: ['gpu'] });
    if (opened.kind !== 'open') return;
    expect(await worker.github.pullRequests.filesOf(opened.pullRequest.number)).toEqual([
      PATH.replace('team-a', namespace),
    ]);
    expect((await worker.github.pullRequests.get(opened.pullRequest.number)).body).toContain(
      'gpu.yaml is being changed by',
    );
    expect(await holderOf(OTHER_PATH, namespace), 'it is not in the queue').toBe(`headroom/${gpu.decision.id}`);
  });
});

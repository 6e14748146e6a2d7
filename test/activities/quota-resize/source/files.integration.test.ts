import { describe, expect, it } from 'vitest';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';
import {
  asAttempt,
  change,
  decide,
  candidates,
  MANIFEST,
  PATH,
  candidatesByQuota,
  policy,
  requestsFor,
  startGitOps,
  target,
} from '../gitops-fixture.ts';

const GPU_PATH = 'managed-resources/prod/team-a/gpu.yaml';
const GPU =
  'apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpu, namespace: team-a}\nspec:\n  hard:\n    pods: 5 # five\n';
const FILES = { [PATH]: MANIFEST, [GPU_PATH]: GPU };
const both = [...candidatesByQuota, { quota: 'gpu', candidates }];
const batchedQuota = {
  quota: 'gpu',
  quotaUid: 'uid-2',
  approvalRequirement: null,
  candidates,
  changes: [change('pods', '5', '8')],
};

function decideBoth(overrides: Partial<Decision> = {}): Decision {
  return decide(undefined, { batchedQuotas: [batchedQuota], ...overrides });
}

describe('a pull request for two quotas in two files', () => {
  it('is one commit, and takes no request more where both files are looked at together', async () => {
    await using gitops = await startGitOps(FILES);
    const worker = gitops.worker({ baseBranch: 'main' });
    const decision = decideBoth();
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: both });
    // Branch, tree, both files, one that opens, and one that looks at it.
    expect(requestsFor(5, Date.now() - decision.decidedAt)).toContain(gitops.forge.requests);
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, path: PATH } });
    if (outcome.kind !== 'open') return;
    const { branch, headSha } = outcome.pullRequest;
    expect(await gitops.forge.readFile(branch, PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(await gitops.forge.readFile(branch, GPU_PATH)).toBe(GPU.replace('pods: 5', 'pods: 8'));
    const commit = await worker.github.branches.commit(headSha);
    expect(commit.parents).toEqual([await gitops.forge.branchTip('main')]);
    expect(commit.message).toContain(`Headroom-Decision: ${decision.id}\nHeadroom-Target: prod/team-a/compute\n`);
    const pull = await worker.github.pullRequests.get(1);
    expect(pull.title).toBe('Raise quota team-a/compute: requests.cpu 2 → 3600m and 1 more');
    expect(pull.body).toContain('| `gpu` | `pods` | `5` | `5` | **`8`** |');
    const opened = { ...decision, pullRequest: outcome.pullRequest };
    expect(await worker.activities.observePullRequest({ target, decision: opened })).toMatchObject({
      headIsOurs: true,
    });
    expect(await worker.activities.ensureMerged({ target, decision: opened })).toMatchObject({ kind: 'merged' });
    expect(await gitops.forge.readFile('main', GPU_PATH)).toContain('pods: 8');
  });

  for (const [name, request] of [
    ['the branch', { path: '/git/refs' }],
    ['the commit', { path: '/graphql', body: 'createCommitOnBranch' }],
    ['the pull request', { path: '/pulls' }],
  ] as const) {
    it(`comes to one commit and one pull request when the answer to the write of ${name} is lost`, async () => {
      await using gitops = await startGitOps(FILES);
      const decision = decideBoth();
      const ensure = () =>
        gitops
          .worker({ baseBranch: 'main' })
          .activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: both });
      gitops.forge.fail({ method: 'POST', ...request, action: { kind: 'answer-lost' } });
      // Repetitions go step by step.
      await expect(asAttempt(2, ensure)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
      expect(await asAttempt(3, ensure)).toMatchObject({ kind: 'open', pullRequest: { number: 1, path: PATH } });
      expect(await gitops.worker().github.pullRequests.commitsOf(1)).toHaveLength(1);
      expect(gitops.effects()).toHaveLength(3);
    });
  }

  it('is rebuilt on the base as it is, over its own commit', async () => {
    await using gitops = await startGitOps(FILES);
    const worker = gitops.worker();
    const decision = decideBoth();
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: both });
    if (outcome.kind !== 'open') throw new Error(outcome.kind);
    const { pullRequest } = outcome;
    await gitops.forge.pushCommit({ files: { [GPU_PATH]: GPU.replace('five', 'six soon') } });
    const again = { ...decision, pullRequest, changes: [change('requests.cpu', '2', '5')] };
    const rebuild = () =>
      worker.activities.ensurePullRequestRebuilt({
        target,
        decision: again,
        policy,
        candidatesByQuota: both,
        why: 'it grew',
      });
    const first = await rebuild();
    expect(first).toMatchObject({ kind: 'open' });
    expect(await gitops.forge.readFile(pullRequest.branch, PATH)).toBe(MANIFEST.replace("'2'", "'5'"));
    expect(await gitops.forge.readFile(pullRequest.branch, GPU_PATH)).toBe(
      GPU.replace('pods: 5', 'pods: 8').replace('five', 'six soon'),
    );
    expect(await worker.github.pullRequests.commitsOf(1)).toHaveLength(1);
    const effects = gitops.effects().length;
    expect(await rebuild()).toEqual(first);
    expect(gitops.effects()).toHaveLength(effects);
  });

  it('removes a batched quota that can no longer be raised, and says so', async () => {
    await using gitops = await startGitOps(FILES);
    const worker = gitops.worker();
    const decision = decideBoth();
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: both });
    if (outcome.kind !== 'open') throw new Error(outcome.kind);
    const { pullRequest } = outcome;
    await gitops.forge.pushCommit({ files: { [GPU_PATH]: null } });
    const again = { ...decision, pullRequest };
    expect(
      await worker.activities.ensurePullRequestRebuilt({
        target,
        decision: again,
        policy,
        candidatesByQuota: both,
        why: 'moved',
      }),
    ).toMatchObject({ kind: 'open', leftOut: ['gpu'] });
    const { body } = await worker.github.pullRequests.get(1);
    expect(body).toContain('- Quota `gpu`: acme/gitops at main: no file for ResourceQuota team-a/gpu');
    expect(await worker.github.pullRequests.filesOf(1)).toEqual([PATH]);
  });
});

it('two quotas in one file are one commit of one file', async () => {
  const text = `${GPU}---\n${MANIFEST.replaceAll('\r\n', '\n')}`;
  await using gitops = await startGitOps({ [PATH]: text });
  const worker = gitops.worker({ baseBranch: 'main' });
  const decision = decideBoth();
  const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: both });
  if (outcome.kind !== 'open') throw new Error(outcome.kind);
  expect(requestsFor(5, Date.now() - decision.decidedAt)).toContain(gitops.forge.requests);
  expect(await gitops.forge.readFile(outcome.pullRequest.branch, PATH)).toBe(
    text.replace("'2'", "'3600m'").replace('pods: 5', 'pods: 8'),
  );
});

it('a batched quota in another repository, or one without a location, is left out and named', async () => {
  await using gitops = await startGitOps({ [PATH]: MANIFEST }, {}, { platform: { [GPU_PATH]: GPU } });
  const worker = gitops.worker({ repositories: [{ owner: 'acme', repo: 'platform' }] });
  const lost = { ...batchedQuota, quota: 'lost' };
  const decision = decide(undefined, { batchedQuotas: [batchedQuota, lost] });
  const outcome = await worker.activities.ensurePullRequest({
    target,
    decision,
    policy,
    candidatesByQuota: [...both, { quota: 'lost', candidates }],
  });
  expect(outcome).toMatchObject({ kind: 'open', leftOut: ['gpu', 'lost'] });
  const { body, title } = await worker.github.pullRequests.get(1);
  expect(body).toContain('- Quota `gpu`: it is in acme/platform at main');
  expect(body).toContain('no file for ResourceQuota team-a/lost');
  expect(title).toBe('Raise quota team-a/compute: requests.cpu 2 → 3600m');
});

it('keeps the modes of its files', async () => {
  await using gitops = await startGitOps(FILES);
  const { github } = gitops.worker();
  const base = await github.files.base();
  if (base.kind !== 'branch') throw new Error(base.kind);
  const executable = { path: 'run.sh', mode: '100755', blobSha: null, text: '#!/bin/sh\n' };
  const plain = { path: 'new.txt', mode: '100644', blobSha: null, text: 'new\n' };
  await github.branches.create('work', base.sha);
  const first = await github.branches.commitFiles({
    branch: 'work',
    parent: base,
    files: [executable, plain],
    message: 'add',
  });
  if (first.kind !== 'committed') throw new Error(first.message);
  const { treeSha } = await github.branches.commit(first.sha);
  const modes = (await github.files.entriesBelow(treeSha, '')).filter(
    ({ path }) => path === 'run.sh' || path === 'new.txt',
  );
  expect(modes.map(({ mode }) => mode)).toEqual(['100644', '100755']);
  const late = await github.branches.commitFiles({
    branch: 'work',
    parent: base,
    files: [plain, executable],
    message: 'late',
  });
  expect(late).toMatchObject({ kind: 'conflict' });
});

describe('a repository that is too large for one listing', () => {
  const folders = Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [`apps/${index % 4}/app-${index}/web.yaml`, `# ${index}\n`]),
  );

  it('is walked to every folder, and its quota found, raised and merged', async () => {
    await using gitops = await startGitOps({ ...folders, ...FILES }, { treeLimit: { entries: 10 } });
    const { activities, github } = gitops.worker();
    const base = await github.files.base();
    if (base.kind !== 'branch') throw new Error(base.message);
    const whole = await github.files.entriesBelow(base.treeSha, '');
    expect(whole.flatMap(({ type, path }) => (type === 'blob' ? [path] : [])).toSorted()).toEqual(
      [...Object.keys(folders), ...Object.keys(FILES)].toSorted(),
    );
    const scan = [{ from: 'scan', learntFrom: 'a search of the whole repository' }] as const;
    const seen = await activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates: scan });
    expect(seen).toMatchObject({ kind: 'found', path: PATH, limits: { 'requests.cpu': '2' } });
    const decision = decideBoth();
    const everywhere = both.map(({ quota }) => ({ quota, candidates: scan }));
    const outcome = await activities.ensurePullRequest({ target, decision, policy, candidatesByQuota: everywhere });
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    const opened = { ...decision, pullRequest: outcome.pullRequest };
    expect(await activities.ensureMerged({ target, decision: opened })).toMatchObject({ kind: 'merged' });
    expect(await gitops.forge.readFile('main', PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(await gitops.forge.readFile('main', GPU_PATH)).toBe(GPU.replace('pods: 5', 'pods: 8'));
  });

  it('has its quota twice although one listing alone would show it once', async () => {
    await using gitops = await startGitOps(
      { 'a/quota.yaml': MANIFEST, ...folders, 'z/deep/quota.yaml': MANIFEST },
      { treeLimit: { entries: 10 } },
    );
    const { activities } = gitops.worker();
    const scan = [{ from: 'scan', learntFrom: 'a search of the whole repository' }] as const;
    const seen = await activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates: scan });
    expect(seen).toMatchObject({ kind: 'blocked', reason: 'FoundTwice' });
    expect(seen).toHaveProperty('message', expect.stringMatching(/a\/quota\.yaml.*z\/deep\/quota\.yaml/));
  });

  it('is not guessed about where even one folder is', async () => {
    const flat = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`flat/${index}.yaml`, `# ${index}\n`]));
    await using gitops = await startGitOps({ ...flat, ...FILES }, { treeLimit: { entries: 10 } });
    const { activities } = gitops.worker();
    const scan = [{ from: 'scan', learntFrom: 'a search of the whole repository' }] as const;
    await expect(
      activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates: scan }),
    ).rejects.toMatchObject({
      type: 'ForgeRejected',
      nonRetryable: true,
      message: expect.stringContaining('the folder "flat/" of acme/gitops'),
    });
  });
});

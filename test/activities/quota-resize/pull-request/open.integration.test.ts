import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { noRepositories } from '../../../../activities/forge/repositories.ts';
import { createQuotaResizeForgeActivities } from '../../../../activities/quota-resize/forge-activities.ts';
import { pullRequestTexts } from '../../../../domain/quota-resize/pull-request/pull-request-texts.ts';
import {
  PATH,
  MANIFEST,
  asAttempt,
  change,
  decide,
  ensureOpen,
  freeFiles,
  noDecisions,
  open,
  requestsFor,
  startGitOps,
  target,
  unasked,
  annotated,
  candidates,
  candidatesByQuota,
  policy,
  openGate,
} from '../gitops-fixture.ts';
import type { FaultAction } from '../../../kernel/forge/forge.ts';

const WRITES = [
  ['the branch', 'POST', '/git/refs'],
  ['the commit', 'PUT', '/contents/**'],
  ['the pull request', 'POST', '/pulls'],
] as const;
const IN_THREE = ['POST /git/refs', `PUT /contents/${PATH}`, 'POST /pulls'];
/** One request makes all three; open-at-once.integration.test.ts has what becomes of it when it goes wrong. */
const AT_ONCE = ['POST /graphql'];
/** With REST alone every step is a request, as in every repetition. */
const stepByStep = { graphQl: 'off' } as const;

describe('a decision whose text in Git changed since', () => {
  it('is not written before the workflow knows it, and then is', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const source = await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates });
    if (source.kind !== 'found') throw new Error(source.message);
    const before = 'pull-request' as const;
    const approvalRequirement = { reason: 'ApprovalRequired', message: 'ask', before } as const;
    const decision = decide(undefined, { source, approvalRequirement });
    await gitops.forge.pushCommit({ files: { [PATH]: MANIFEST.replace("'2'", "'3'") } });
    const outcome = await ensureOpen(worker, decision);
    if (outcome.kind !== 'relocated') throw new Error(JSON.stringify(outcome));
    expect(outcome.relocation.placement.values['requests.cpu']?.text).toBe('3');
    expect(gitops.effects()).toEqual([]);
    const again = { ...decision, source: { ...source, placement: outcome.relocation.placement } };
    expect(await ensureOpen(worker, again)).toMatchObject({ kind: 'open' });
  });
});

describe('finding the quota in Git', () => {
  it('tells the file, the line and the values, after three requests', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ baseBranch: 'main' });
    const limits = { 'requests.cpu': '3600m', 'limits.memory': '4Gi' };
    const seen = await worker.activities.observeSource({ target, limits, candidates });
    expect(seen).toEqual({
      kind: 'found',
      repository: 'acme/gitops',
      base: 'main',
      baseSha: await gitops.forge.branchTip('main'),
      path: PATH,
      line: 4,
      paths: [PATH],
      limits: { 'requests.cpu': '2', 'limits.memory': '4Gi' },
      how: expect.stringContaining(' by the path template `managed-resources/{{ .Cluster }}/{{ .Namespace }}`'),
      placement: {
        candidate: candidates[0],
        tried: 0,
        values: {
          'requests.cpu': { path: PATH, field: 'spec.hard["requests.cpu"]', text: '2' },
          'limits.memory': { path: PATH, field: 'spec.hard["limits.memory"]', text: '4Gi' },
        },
      },
    });
    expect(gitops.forge.requests).toBe(3);
    await worker.activities.observeSource({ target, limits, candidates });
    expect(gitops.forge.requests, 'only the branch is asked for again').toBe(4);
  });

  it('follows the default branch where none is configured, and sees it move', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const limits = { 'requests.cpu': '3600m' };
    await worker.activities.observeSource({ target, limits, candidates });
    await gitops.forge.pushCommit({ files: { [PATH]: MANIFEST.replace("'2'", "'5'") } });
    const seen = await worker.activities.observeSource({ target, limits, candidates });
    expect(seen).toMatchObject({ kind: 'found', limits: { 'requests.cpu': '5' } });
  });

  it('searches the path of the annotation instead of the template', async () => {
    await using gitops = await startGitOps({ 'elsewhere/deep/q.yml': MANIFEST });
    const worker = gitops.worker();
    const limits = { pods: '20' };
    expect(await worker.activities.observeSource({ target, limits, candidates: annotated('elsewhere') })).toMatchObject(
      {
        kind: 'found',
        path: 'elsewhere/deep/q.yml',
      },
    );
    const missing = await worker.activities.observeSource({ target, limits, candidates });
    expect(missing).toMatchObject({ kind: 'blocked', reason: 'FileNotFound' });
    expect(missing).toHaveProperty(
      'message',
      'acme/gitops at main: no file for ResourceQuota team-a/compute, searched "managed-resources/prod/team-a": there is no YAML file; name its folder or file with the annotation resizer.io/git-path on namespace team-a, or correct GIT_PATH_TEMPLATE',
    );
  });

  it('names every location of a quota that is there twice', async () => {
    const copy = 'managed-resources/prod/team-a/copy.yaml';
    await using gitops = await startGitOps({ [PATH]: MANIFEST, [copy]: MANIFEST });
    const seen = await gitops.worker().activities.observeSource({ target, limits: { pods: '20' }, candidates });
    expect(seen).toMatchObject({ kind: 'blocked', reason: 'FoundTwice' });
    expect(seen).toHaveProperty('message', expect.stringContaining(`${copy}:4, ${PATH}:4`));
  });

  it('says what is not YAML and what has no location', async () => {
    const template = 'kind: ResourceQuota\napiVersion: v1\nmetadata: {name: compute}\nspec: {{ .Values.quota }}\n';
    const folder = 'managed-resources/prod/';
    await using gitops = await startGitOps({
      [`${folder}team-a/q.yaml`]: template,
      [`${folder}team-c/q.yaml`]: MANIFEST.replace('"team-a"', 'team-c'),
    });
    const { activities } = gitops.worker();
    expect(await activities.observeSource({ target, limits: { pods: '20' }, candidates })).toMatchObject({
      reason: 'NotYaml',
    });
    const other = { ...target, namespace: 'team-c' };
    const unplaceable = await activities.observeSource({
      target: other,
      limits: { 'requests.nvidia.com/gpu': '2' },
      candidates: annotated('managed-resources/prod/team-c'),
    });
    expect(unplaceable).toMatchObject({ kind: 'blocked', reason: 'Unplaceable' });
    expect(unplaceable).toHaveProperty(
      'message',
      expect.stringMatching(/team-c\/q\.yaml: .*team-c\/compute.* requests\.nvidia\.com\/gpu/),
    );
  });

  it('says which repository or branch GitHub does not show', async () => {
    await using gitops = await startGitOps();
    const limits = { pods: '20' };
    const repository = await gitops
      .worker({ repo: 'gitopps' })
      .activities.observeSource({ target, limits, candidates });
    expect(repository).toMatchObject({ kind: 'blocked', reason: 'RepositoryNotFound' });
    expect(repository).toHaveProperty('message', expect.stringContaining('acme/gitopps'));
    const branch = await gitops
      .worker({ baseBranch: 'trunk' })
      .activities.observeSource({ target, limits, candidates });
    expect(branch).toMatchObject({ kind: 'blocked', reason: 'RepositoryNotFound' });
    expect(branch).toHaveProperty('message', expect.stringContaining('no branch "trunk"'));
  });

  it('walks a tree that GitHub cuts off', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`aaa/${index % 6}/f${index}.yaml`, `kind: ConfigMap # ${index}\n`]),
    );
    await using gitops = await startGitOps(
      { ...files, [PATH]: MANIFEST, 'managed-resources/prod/team-a/more/x.yaml': 'a: 1\n' },
      { treeLimit: { entries: 10 } },
    );
    const { activities } = gitops.worker();
    const limits = { pods: '20' };
    expect(await activities.observeSource({ target, limits, candidates })).toMatchObject({ kind: 'found', path: PATH });
    expect(await activities.observeSource({ target, limits, candidates: annotated(PATH) })).toMatchObject({
      kind: 'found',
      path: PATH,
    });
    expect(
      await activities.observeSource({ target, limits, candidates: annotated('') }),
      'the whole repository',
    ).toMatchObject({
      kind: 'found',
      path: PATH,
    });
    expect(await activities.observeSource({ target, limits, candidates: annotated('nowhere/at/all') })).toMatchObject({
      reason: 'FileNotFound',
    });
  });

  it('is blocked with that reason where no repository is configured', async () => {
    const activities = createQuotaResizeForgeActivities({
      repositories: noRepositories,
      permits: null,
      guard: () => Promise.resolve(),
      policyGuard: () => Promise.resolve(),
      guardrailOf: () => Promise.resolve(policy.guardrail),
      mergeGate: openGate(() => Promise.reject(new Error('nothing is merged without a repository'))),
      fileLocks: freeFiles,
      ...unasked,
      decisions: noDecisions,
      log: pino({ level: 'silent' }),
      config: {
        timings: { checksPollMin: 1, checksPollMax: 1, checksPollRamp: 1 },
        texts: pullRequestTexts(),
        temporalUi: null,
      },
    });
    expect(await activities.observeSource({ target, limits: {}, candidates })).toMatchObject({
      reason: 'RepositoryNotConfigured',
    });
    await expect(
      activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
    });
  });
});

describe('opening a pull request', () => {
  it('takes four requests from nothing known, and one to look at it, and changes one value and no other byte', async () => {
    await using gitops = await startGitOps();
    const { forge } = gitops;
    const worker = gitops.worker({ baseBranch: 'main' });
    const base = await forge.branchTip('main');
    const decision = decide();
    await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates });
    const outcome = await ensureOpen(worker, decision);

    expect(requestsFor(5, Date.now() - decision.decidedAt)).toContain(forge.requests);
    const branch = `headroom/prod/team-a/compute/${decision.id}`;
    expect(outcome).toEqual({
      kind: 'open',
      pullRequest: {
        number: 1,
        url: `${forge.url}/acme/gitops/pull/1`,
        repository: 'acme/gitops',
        branch,
        base: 'main',
        path: PATH,
        headSha: await forge.branchTip(branch),
        openedAt: expect.any(Number),
        pushedAt: expect.any(Number),
      },
      seen: expect.objectContaining({ state: 'open' }),
    });
    expect(await forge.readFile(branch, PATH)).toBe(MANIFEST.replace("'2'", "'3600m'"));
    expect(gitops.effects()).toEqual(AT_ONCE);
    const commit = await worker.github.branches.commit((await forge.branchTip(branch)) ?? '');
    expect(commit.parents).toEqual([base]);
    expect(commit.message).toContain(`Headroom-Decision: ${decision.id}\nHeadroom-Target: prod/team-a/compute`);
    const pull = await worker.github.pullRequests.get(1);
    expect(pull.title).toBe('Raise quota team-a/compute: requests.cpu 2 → 3600m');
    expect(pull.body).toContain('| `requests.cpu` | `2` | `2` | **`3600m`** |');
  });

  it('has the Lease written with it, and leaves that to whoever asks where it cannot be written', async () => {
    await using gitops = await startGitOps();
    const written: unknown[] = [];
    const ensureLeaseUpdated = (input: unknown) => {
      written.push(input);
      return Promise.resolve({});
    };
    const recording = gitops.worker({ orphans: { ensureLeaseUpdated } });
    const input = { target, policy, candidatesByQuota, records: true, observes: true } as const;
    const decision = decide();
    const outcome = await recording.activities.ensurePullRequest({ ...input, decision });
    expect(outcome).toMatchObject({ kind: 'open', recorded: {}, seen: { state: 'open' } });
    const pullRequest = outcome.kind === 'open' ? outcome.pullRequest : null;
    expect(written).toEqual([{ target, decision: { ...decision, pullRequest }, observes: true }]);
    const failing = gitops.worker();
    const again = await failing.activities.ensurePullRequest({ ...input, decision });
    expect(again).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(again).not.toHaveProperty('recorded');
  });

  it('takes four requests and a look where the default branch has to be found out', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker();
    const started = Date.now();
    await worker.activities.observeSource({ target, limits: { 'requests.cpu': '3600m' }, candidates });
    await open(worker);
    expect(requestsFor(5, Date.now() - started)).toContain(gitops.forge.requests);
    // The second one would take an open one over.
    await gitops.forge.closePullRequest(1, 'alice');
    await open(worker, decide([change('pods', '10', '12')]));
    expect(requestsFor(8, Date.now() - started), 'the second one: what is known is at most some seconds old').toContain(
      gitops.forge.requests,
    );
  });

  it('writes one log line for each write', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ templates: { labels: ['headroom'] } });
    const decision = await open(worker);
    const written = worker.lines.filter(({ write }) => write !== undefined);
    expect(written.map(({ write }) => write)).toEqual(['open at once', 'label']);
    expect(written[0]).toMatchObject({
      target: 'team-a/compute',
      cluster: 'prod',
      decision: decision.id,
      branch: decision.pullRequest.branch,
    });
    expect(JSON.stringify(worker.lines)).not.toContain('first-token');
  });

  it('answers the same when it is called again, and writes nothing', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    const { pullRequest } = await open(gitops.worker(), decision);
    for (const run of [
      () => ensureOpen(gitops.worker(), decision),
      () => asAttempt(2, () => ensureOpen(gitops.worker(), decision)),
      () => ensureOpen(gitops.worker(), { ...decision, pullRequest }),
    ]) {
      expect(await run()).toMatchObject({ kind: 'open', pullRequest });
    }
    expect(gitops.effects()).toEqual(AT_ONCE);
  });

  for (const [name, method, path] of WRITES) {
    const faults: readonly FaultAction[] = [
      { kind: 'answer-lost' },
      { kind: 'connection-reset' },
      { kind: 'status', status: 502 },
    ];
    for (const action of faults) {
      it(`makes one branch, one commit and one pull request when the write of ${name} meets: ${action.kind}`, async () => {
        await using gitops = await startGitOps();
        const decision = decide();
        gitops.forge.fail({ method, path, action });
        await expect(ensureOpen(gitops.worker(stepByStep), decision)).rejects.toMatchObject({
          type: 'ForgeUnavailable',
          nonRetryable: false,
        });
        const outcome = await asAttempt(2, () => ensureOpen(gitops.worker(stepByStep), decision));
        expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1, path: PATH } });
        expect(gitops.effects()).toEqual(IN_THREE);
      });
    }

    it(`finds its own ${name} although a new run knows of no earlier attempt`, async () => {
      await using gitops = await startGitOps();
      const decision = decide();
      gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
      await expect(ensureOpen(gitops.worker(stepByStep), decision)).rejects.toThrow('no answer');
      expect(await ensureOpen(gitops.worker(stepByStep), decision)).toMatchObject({
        kind: 'open',
      });
      expect(gitops.effects()).toEqual(IN_THREE);
    });
  }

  it('gets through although every write loses its answer once', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    for (const [, method, path] of WRITES) gitops.forge.fail({ method, path, action: { kind: 'answer-lost' } });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const run = () => ensureOpen(gitops.worker(stepByStep), decision);
      await expect(asAttempt(attempt, run)).rejects.toMatchObject({ type: 'ForgeUnavailable' });
    }
    const outcome = await asAttempt(4, () => ensureOpen(gitops.worker(stepByStep), decision));
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(gitops.effects()).toEqual(IN_THREE);
  });

  it('makes one pull request when two workers do it at the same time', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    const runs = [1, 2, 3].map(() => ensureOpen(gitops.worker(stepByStep), decision));
    const settled = await Promise.allSettled(runs);
    expect(settled.some(({ status }) => status === 'fulfilled')).toBe(true);
    const last = await asAttempt(2, () => ensureOpen(gitops.worker(stepByStep), decision));
    expect(last).toMatchObject({ kind: 'open', pullRequest: { number: 1 } });
    expect(gitops.effects()).toEqual(IN_THREE);
  });

  it('builds on the base as it is now when the base moved between two attempts', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    gitops.forge.fail({ method: 'POST', path: '/git/refs', action: { kind: 'answer-lost' } });
    await expect(ensureOpen(gitops.worker(stepByStep), decision)).rejects.toThrow('no answer from GitHub');
    const moved = MANIFEST.replace('pods: 10', 'pods: 11');
    await gitops.forge.pushCommit({ files: { [PATH]: moved } });
    const { pullRequest } = await asAttempt(2, () => open(gitops.worker(stepByStep), decision));
    expect(await gitops.forge.readFile(pullRequest.branch, PATH)).toBe(moved.replace("'2'", "'3600m'"));
    expect(await gitops.worker(stepByStep).github.pullRequests.commitsOf(1)).toHaveLength(1);
  });

  it('keeps one commit when the base moved after the commit was made and its answer lost', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    gitops.forge.fail({ method: 'PUT', path: '/contents/**', action: { kind: 'answer-lost' } });
    await expect(ensureOpen(gitops.worker(stepByStep), decision)).rejects.toThrow('no answer from GitHub');
    await gitops.forge.pushCommit({ files: { [PATH]: MANIFEST.replace('pods: 10', 'pods: 11') } });
    const { pullRequest } = await asAttempt(2, () => open(gitops.worker(stepByStep), decision));
    const commits = await gitops.worker(stepByStep).github.pullRequests.commitsOf(1);
    expect(commits.map(({ sha }) => sha)).toEqual([pullRequest.headSha]);
    expect(await gitops.forge.readFile(pullRequest.branch, PATH)).toContain('pods: 11');
  });

  it('is settled when a person closed it, even after the branch was deleted', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    const { pullRequest } = await open(gitops.worker(), decision);
    await gitops.forge.closePullRequest(1, 'mona');
    const again = () => ensureOpen(gitops.worker(), decision);
    expect(await asAttempt(2, again)).toMatchObject({ kind: 'completed', pullRequest });
    expect(await again(), 'known by its branch alone').toMatchObject({ kind: 'completed', pullRequest });
    await gitops.forge.deleteBranch(pullRequest.branch);
    expect(await asAttempt(2, again)).toMatchObject({ kind: 'completed', pullRequest });
    const older = { ...decision, decidedAt: Date.now() - 60_000 };
    expect(await ensureOpen(gitops.worker(), older)).toMatchObject({
      kind: 'completed',
    });
    expect(gitops.effects()).toEqual(AT_ONCE);
  });

  it('opens nothing where Git holds the values already, in whatever unit', async () => {
    await using gitops = await startGitOps();
    const decision = decide([change('requests.cpu', '1', '2000m'), change('limits.memory', '2Gi', '3Gi')]);
    const outcome = await ensureOpen(gitops.worker(), decision);
    expect(outcome).toEqual({
      kind: 'alreadyInGit',
      sha: await gitops.forge.branchTip('main'),
      limits: { 'requests.cpu': '2', 'limits.memory': '4Gi' },
    });
    expect(gitops.forge.writes).toEqual([]);
  });

  it('never writes below what Git holds: it raises only the others', async () => {
    await using gitops = await startGitOps();
    const decision = decide([change('limits.memory', '2Gi', '3Gi'), change('pods', '8', '12')]);
    const { pullRequest } = await open(gitops.worker(), decision);
    expect(await gitops.forge.readFile(pullRequest.branch, PATH)).toBe(MANIFEST.replace('pods: 10', 'pods: 12'));
    const { title, body } = await gitops.worker().github.pullRequests.get(1);
    expect(title).toBe('Raise quota team-a/compute: pods 10 → 12');
    expect(body).toContain('because Git holds enough already:\n\n- `limits.memory` is `4Gi`.\n');
  });

  it('leaves no branch where the file cannot be found or edited', async () => {
    await using gitops = await startGitOps({ 'README.md': '#\n' });
    const outcome = await ensureOpen(gitops.worker(), decide());
    expect(outcome).toMatchObject({ kind: 'blocked', reason: 'FileNotFound' });
    expect(gitops.forge.writes).toEqual([]);
  });

  it('takes its branch away again when Git came to hold the values before the commit', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    gitops.forge.fail({ method: 'POST', path: '/git/refs', action: { kind: 'answer-lost' } });
    await expect(ensureOpen(gitops.worker(stepByStep), decision)).rejects.toThrow('no answer from GitHub');
    await gitops.forge.pushCommit({ files: { [PATH]: MANIFEST.replace("'2'", "'9'") } });
    const outcome = await asAttempt(2, () => ensureOpen(gitops.worker(stepByStep), decision));
    expect(outcome).toMatchObject({ kind: 'alreadyInGit', limits: { 'requests.cpu': '9' } });
    expect(await gitops.forge.branchTip(`headroom/prod/team-a/compute/${decision.id}`)).toBeUndefined();
  });

  it('gives way where somebody else committed to the branch', async () => {
    await using gitops = await startGitOps();
    const decision = decide();
    const branch = `headroom/prod/team-a/compute/${decision.id}`;
    await gitops.forge.pushCommit({ branch, files: { 'other.txt': 'mine' }, author: 'mona' });
    const outcome = await ensureOpen(gitops.worker(), decision);
    expect(outcome).toMatchObject({ kind: 'blocked', reason: 'ForeignCommit' });
    expect(gitops.effects()).toEqual([]);
  });

  it('asks for a pause before it queues for the permit of each write, and again right before the write', async () => {
    await using gitops = await startGitOps();
    const asked: number[] = [];
    const guard = () => {
      asked.push(gitops.forge.writes.length);
      return Promise.resolve();
    };
    await open(gitops.worker({ guard, ...stepByStep }));
    expect(asked).toEqual(gitops.forge.writes.flatMap((_, before) => [before, before]));
    expect(asked.length).toBeGreaterThan(2);
  });

  it('writes nothing while Headroom is paused', async () => {
    await using gitops = await startGitOps();
    const guard = () => Promise.reject(new Error('GloballyPaused'));
    const { activities } = gitops.worker({ guard });
    await expect(
      activities.ensurePullRequest({ target, decision: decide(), policy, candidatesByQuota }),
    ).rejects.toThrow('GloballyPaused');
    expect(gitops.forge.writes).toEqual([]);
  });

  it('makes a legal branch for a quota whose name ends in .lock', async () => {
    await using gitops = await startGitOps({
      [PATH]: MANIFEST,
      'x/q.yaml': MANIFEST.replace('name: compute,', 'name: compute.lock,'),
    });
    const lock = { ...target, quota: 'compute.lock' };
    const outcome = await gitops.worker().activities.ensurePullRequest({
      target: lock,
      decision: decide(),
      policy,
      candidatesByQuota: [{ quota: 'compute.lock', candidates: annotated('x') }],
    });
    expect(outcome).toMatchObject({ kind: 'open' });
  });
});

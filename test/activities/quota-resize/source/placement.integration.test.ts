/** The place in Git that a decision keeps: verified when it is used, and searched for again where it is not there any more. */
import { describe, expect, it } from 'vitest';
import type { QuotaCandidates } from '../../../../activities/quota-resize/interface.ts';
import type { ResourceList } from '../../../../domain/kernel/resource-list.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { type Decision, relocated } from '../../../../domain/quota-resize/model/decision.ts';
import {
  annotated,
  change,
  decide,
  candidates,
  type GitOps,
  MANIFEST,
  PATH,
  policy,
  startGitOps,
  target,
  type Worker,
} from '../gitops-fixture.ts';

const README = { 'README.md': '# nothing here\n' };
const PLATFORM = [{ owner: 'acme', repo: 'platform' }];
const scan: SourceCandidate = { from: 'scan', learntFrom: 'a search of the whole repository' };

/** A decision as `propose` makes it of what it found. */
async function proposed(worker: Worker, where: readonly SourceCandidate[], current?: ResourceList) {
  const seen = await worker.activities.observeSource({
    target,
    limits: { 'requests.cpu': '3600m' },
    candidates: where,
    ...(current === undefined ? {} : { current }),
  });
  if (seen.kind !== 'found') throw new Error(seen.message);
  const { repository, base, how, placement } = seen;
  return decide([change('requests.cpu', '2', '3600m')], { source: { repository, base, how, placement } });
}

function placesBy(where: readonly SourceCandidate[], current?: ResourceList): readonly QuotaCandidates[] {
  return [{ quota: target.quota, candidates: where, ...(current === undefined ? {} : { current }) }];
}

/** The decision is told of the new place first, and is opened there. */
async function openedWhereItIs(worker: Worker, decision: Decision, candidatesByQuota: readonly QuotaCandidates[]) {
  const input = { target, policy, candidatesByQuota };
  const moved = await worker.activities.ensurePullRequest({ ...input, decision });
  if (moved.kind !== 'relocated') throw new Error(JSON.stringify(moved));
  const known = relocated(decision, moved.relocation);
  return await worker.activities.ensurePullRequest({ ...input, decision: known });
}

describe('the placement of a decision', () => {
  it('is read in its repository alone, and not in all that were searched', async () => {
    const requestsOfRebuild = async (isKept: boolean): Promise<number> => {
      await using gitops = await startGitOps(undefined, {}, { platform: README });
      const worker = gitops.worker({ repositories: PLATFORM, baseBranch: 'main' });
      const { source, ...decided } = await proposed(worker, [scan]);
      if (!source) throw new Error('it was not found');
      const { placement: _, ...ofEarlierRelease } = source;
      const decision = { ...decided, source: isKept ? source : ofEarlierRelease };
      const candidatesByQuota = placesBy([scan]);
      const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
      if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
      await gitops.forge.pushCommit({ files: { 'README.md': '# moved\n' } });
      const before = gitops.forge.requests;
      const opened = { ...decision, pullRequest: outcome.pullRequest, merge: null };
      const input = { target, decision: opened, policy, candidatesByQuota, why: 'the base moved' };
      expect(await worker.activities.ensurePullRequestRebuilt(input)).toMatchObject({
        kind: 'open',
        pullRequest: { path: PATH },
      });
      return gitops.forge.requests - before;
    };
    expect(await requestsOfRebuild(true)).toBe((await requestsOfRebuild(false)) - 1);
  });

  it('is searched for again where the file has moved meanwhile', async () => {
    await using gitops = await startGitOps();
    const worker = gitops.worker({ baseBranch: 'main' });
    const decision = await proposed(worker, candidates);
    const elsewhere = PATH.replace('quota.yaml', 'limits.yaml');
    await gitops.forge.pushCommit({ files: { [PATH]: null, [elsewhere]: MANIFEST } });
    const other = gitops.worker({ baseBranch: 'main' });
    const outcome = await openedWhereItIs(other, decision, placesBy(candidates));
    expect(outcome).toMatchObject({ kind: 'open', pullRequest: { path: elsewhere } });
  });

  it('is given up for one that is named since, before what led there', async () => {
    const elsewhere = 'teams/a/quota.yaml';
    await using gitops = await startGitOps({ [PATH]: MANIFEST, [elsewhere]: MANIFEST });
    const worker = gitops.worker({ baseBranch: 'main' });
    const decision = await proposed(worker, candidates);
    const candidatesByQuota = placesBy([...annotated('teams/a'), ...candidates]);
    expect(await openedWhereItIs(worker, decision, candidatesByQuota)).toMatchObject({
      kind: 'open',
      pullRequest: { path: elsewhere },
    });
  });

  it('is not used for a pull request where another repository has the quota as well by now', async () => {
    await using gitops = await startGitOps(undefined, {}, { platform: README });
    const decision = await proposed(gitops.worker({ repositories: PLATFORM, baseBranch: 'main' }), [scan]);
    await gitops.forge.repository('acme/platform').pushCommit({ files: { [PATH]: MANIFEST } });
    const worker = gitops.worker({ repositories: PLATFORM, baseBranch: 'main' });
    const outcome = await worker.activities.ensurePullRequest({
      target,
      decision,
      policy,
      candidatesByQuota: placesBy([scan]),
    });
    expect(outcome).toMatchObject({ kind: 'blocked', reason: 'FoundTwice' });
    expect(gitops.forge.writes).toEqual([]);
  });

  it('is never used where the quota stands twice by now', async () => {
    await using gitops = await startGitOps();
    const decision = await proposed(gitops.worker({ baseBranch: 'main' }), candidates);
    await gitops.forge.pushCommit({ files: { [PATH.replace('quota.yaml', 'again.yaml')]: MANIFEST } });
    const worker = gitops.worker({ baseBranch: 'main' });
    const outcome = await worker.activities.ensurePullRequest({
      target,
      decision,
      policy,
      candidatesByQuota: placesBy(candidates),
    });
    expect(outcome).toMatchObject({ kind: 'blocked', reason: 'FoundTwice' });
  });
});

describe('one of two mappings in a values file', () => {
  const VALUES = 'own:\n  hard:\n    requests.cpu: "2"\nother:\n  hard:\n    requests.cpu: "5"\n';
  const where = annotated('team-a');
  const current = { 'requests.cpu': '2' };
  const raised = VALUES.replace('"2"', '"3600m"');

  it('that the limits in force told apart is opened and rebuilt as it was found', async () => {
    await using gitops = await startGitOps({ 'team-a/values.yaml': VALUES });
    const worker = gitops.worker({ baseBranch: 'main' });
    const decision = await proposed(worker, where, current);
    const candidatesByQuota = placesBy(where, current);
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    expect(await gitops.forge.readFile(outcome.pullRequest.branch, 'team-a/values.yaml')).toBe(raised);

    await gitops.forge.pushCommit({ files: { 'README.md': '# moved\n' } });
    const opened = { ...decision, pullRequest: outcome.pullRequest, merge: null };
    const input = { target, decision: opened, policy, candidatesByQuota, why: 'the base moved' };
    expect(await worker.activities.ensurePullRequestRebuilt(input)).toMatchObject({ kind: 'open' });
    expect(await gitops.forge.readFile(outcome.pullRequest.branch, 'team-a/values.yaml')).toBe(raised);
  });

  it('is told apart by them too where the decision keeps no placement', async () => {
    await using gitops = await startGitOps({ 'team-a/values.yaml': VALUES });
    const worker = gitops.worker({ baseBranch: 'main' });
    const candidatesByQuota = placesBy(where, current);
    const outcome = await worker.activities.ensurePullRequest({
      target,
      decision: decide(),
      policy,
      candidatesByQuota,
    });
    expect(outcome).toMatchObject({ kind: 'open' });
  });
});

describe('one of several values that could be the quota’s', () => {
  const where = annotated('team-a');
  const inForce = { 'requests.cpu': '2' };
  const mapping = (cpu: string) => `hard:\n  requests.cpu: "${cpu}"\n`;
  const layouts = {
    'two mappings of one values file': {
      path: 'team-a/values.yaml',
      files: {
        'team-a/values.yaml': `own:\n  ${mapping('2').replace('\n ', '\n   ')}other:\n  ${mapping('5').replace('\n ', '\n   ')}`,
      },
    },
    'two values files': {
      path: 'team-a/values-small.yaml',
      files: { 'team-a/values-small.yaml': mapping('2'), 'team-a/values-large.yaml': mapping('5') },
    },
  };
  const cases = Object.entries(layouts).map(([layout, given]) => ({ layout, ...given }));

  it('is not chosen from without the limits in force, which is what the placement went by', async () => {
    for (const { files } of Object.values(layouts)) {
      await using gitops = await startGitOps(files);
      const worker = gitops.worker({ baseBranch: 'main' });
      await expect(proposed(worker, where)).rejects.toThrow('may take its limits from');
    }
  });

  async function opensAndRebuilds(gitops: GitOps, decision: Decision, current?: ResourceList) {
    const worker = gitops.worker({ baseBranch: 'main' });
    const candidatesByQuota = placesBy(where, current);
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    const { branch, path } = outcome.pullRequest;
    const raised = (await gitops.forge.readFile(branch, path)) ?? '';
    expect(raised).toContain('requests.cpu: "3600m"');
    // The demand grew, and somebody else changed the base.
    await gitops.forge.pushCommit({ files: { 'README.md': '# moved\n' } });
    const changes = [change('requests.cpu', '2', '4')];
    const grown = { ...decision, changes, pullRequest: outcome.pullRequest, merge: null };
    const input = { target, decision: grown, policy, candidatesByQuota, why: 'the demand grew' };
    const rebuilt = await worker.activities.ensurePullRequestRebuilt(input);
    expect(rebuilt).toMatchObject({ kind: 'open', pullRequest: { path } });
    expect(await gitops.forge.readFile(branch, path)).toBe(raised.replace('3600m', '4'));
    return { path, branch };
  }

  it.each(cases)('of $layout is opened and rebuilt where it was placed', async ({ path, files }) => {
    for (const current of [inForce, undefined]) {
      await using gitops = await startGitOps(files);
      const decision = await proposed(gitops.worker({ baseBranch: 'main' }), where, inForce);
      const changed = await opensAndRebuilds(gitops, decision, current);
      expect(changed.path).toBe(path);
      for (const [other, text] of Object.entries(files)) {
        if (other !== path) expect(await gitops.forge.readFile(changed.branch, other)).toBe(text);
      }
    }
  });

  it.each(cases)(
    'of $layout is still that one where other limits are in force, but not proved',
    async ({ path, files }) => {
      await using gitops = await startGitOps(files);
      const worker = gitops.worker({ baseBranch: 'main' });
      const decision = await proposed(worker, where, inForce);
      const changed = { 'requests.cpu': '3' };
      const candidatesByQuota = placesBy(where, changed);
      const moved = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
      if (moved.kind !== 'relocated') throw new Error(JSON.stringify(moved));
      expect(moved.relocation.placement.notProved).toContain(`requests.cpu is 2 at ${path}`);
      expect((await opensAndRebuilds(gitops, relocated(decision, moved.relocation), changed)).path).toBe(path);
    },
  );

  it('is told apart for each quota of a batch by its own limits', async () => {
    const [path, first, second] = ['team-a/values.yaml', mapping('2'), mapping('5')];
    const indented = (text: string) => text.replaceAll(/^/gm, '  ').trimEnd();
    await using gitops = await startGitOps({ [path]: `a:\n${indented(first)}\nb:\n${indented(second)}\n` });
    const worker = gitops.worker({ baseBranch: 'main' });
    const own = await proposed(worker, where, inForce);
    const current = { 'requests.cpu': '5' };
    const changes = [change('requests.cpu', '5', '6')];
    const batchedQuotas = [
      { quota: 'large', quotaUid: 'uid-2', approvalRequirement: null, candidates: where, changes },
    ];
    const decision = { ...own, batchedQuotas };
    const candidatesByQuota = [...placesBy(where, inForce), { quota: 'large', candidates: where, current }];
    const outcome = await worker.activities.ensurePullRequest({ target, decision, policy, candidatesByQuota });
    if (outcome.kind !== 'open') throw new Error(JSON.stringify(outcome));
    const expected = `a:\n${indented(mapping('3600m'))}\nb:\n${indented(mapping('6'))}\n`;
    expect(await gitops.forge.readFile(outcome.pullRequest.branch, path)).toBe(expected);
    await gitops.forge.pushCommit({ files: { 'README.md': '# moved\n' } });
    const opened = { ...decision, pullRequest: outcome.pullRequest, merge: null };
    const input = { target, decision: opened, policy, candidatesByQuota, why: 'the base moved' };
    expect(await worker.activities.ensurePullRequestRebuilt(input)).toMatchObject({ kind: 'open' });
    expect(await gitops.forge.readFile(outcome.pullRequest.branch, path)).toBe(expected);
  });
});

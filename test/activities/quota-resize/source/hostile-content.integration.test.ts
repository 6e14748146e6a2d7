/** Repositories with files that nobody can be expected to read: the worker refuses them by their names and reads the others. */
import { describe, expect, it } from 'vitest';
import { ContentReader } from '../../../../activities/quota-resize/source/content/content-reader.ts';
import type { ThreadOutcome } from '../../../../activities/quota-resize/source/content/content-thread.ts';
import { GitTrees } from '../../../../activities/quota-resize/source/git-tree.ts';
import { findQuotaFile } from '../../../../activities/quota-resize/source/quota-file.ts';
import type { ResourceList } from '../../../../domain/kernel/resource-list.ts';
import type { SourceCandidate } from '../../../../domain/quota-resize/git/locate/candidate/source-candidate.ts';
import { BILLION_MERGES } from '../../../layouts/hostile.ts';
import { candidates, PATH, startGitOps, target, type Worker } from '../gitops-fixture.ts';

const quota = (namespace: string): string =>
  `apiVersion: v1\nkind: ResourceQuota\nmetadata:\n  name: compute\n  namespace: ${namespace}\nspec:\n  hard:\n    pods: 2\n`;
const filler = (megabytes: number): string => '# filler\n'.repeat((megabytes * 1_000_000) / 9);
const anywhere: readonly SourceCandidate[] = [{ from: 'scan', learntFrom: 'a search of all repositories' }];

async function observe(
  { activities }: Worker,
  where: readonly SourceCandidate[] = candidates,
  limits: ResourceList = { pods: '4' },
) {
  return await activities.observeSource({ target, limits, candidates: where });
}

describe('a repository', () => {
  it('with a file of more than 1 MB blocks the quota that should be in it by its name, and does not fetch it', async () => {
    await using gitops = await startGitOps({ [PATH]: `${quota('team-a')}${filler(1.1)}` });
    const worker = gitops.worker({ baseBranch: 'main' });
    expect(await observe(worker)).toMatchObject({
      kind: 'blocked',
      reason: 'ContentTooCostly',
      message: expect.stringMatching(
        /managed-resources\/prod\/team-a\/quota\.yaml.* has 1\.2 MB, more than the 1 MB that are read of a file/,
      ),
    });
    expect(gitops.forge.requests, 'branch and tree').toBe(2);
  });

  it('with large files of other namespaces has the quota found, and they are named', async () => {
    const others = Object.fromEntries(
      Array.from({ length: 4 }, (_, index) => [`teams/b/file-${index}.yaml`, `${quota('team-b')}${filler(0.01)}`]),
    );
    await using gitops = await startGitOps({ ...others, 'teams/a/quota.yaml': quota('team-a') });
    const worker = gitops.worker({ baseBranch: 'main', limits: { fileBytes: 20_000, lookupBytes: 35_000 } });
    expect(await observe(worker, anywhere)).toMatchObject({
      kind: 'found',
      path: 'teams/a/quota.yaml',
      how: expect.stringMatching(/Not read: teams\/b\/file-3\.yaml is left out of the 35 kB that one lookup reads/),
    });
  });

  it('with a larger limit in the settings has the larger file read', async () => {
    await using gitops = await startGitOps({ [PATH]: `${quota('team-a')}${filler(1.1)}` });
    const worker = gitops.worker({ baseBranch: 'main', limits: { fileBytes: 2_000_000, lookupBytes: 20_000_000 } });
    expect(await observe(worker)).toMatchObject({ kind: 'found', path: PATH });
  });

  it('with a symbolic link in the place of the quota refuses it by its name', async () => {
    await using gitops = await startGitOps(
      { 'elsewhere/quota.yaml': quota('team-a') },
      { links: { [PATH]: '../../../elsewhere/quota.yaml' } },
    );
    expect(await observe(gitops.worker({ baseBranch: 'main' }))).toMatchObject({
      kind: 'blocked',
      reason: 'Unplaceable',
      message: expect.stringContaining(`${PATH}:1: is a symbolic link, which is not followed`),
    });
  });
});

/** A reader with little time, which notes how each question ended. */
class NotingReader extends ContentReader {
  readonly ended: string[] = [];

  override async ask(...asked: Parameters<ContentReader['ask']>): Promise<ThreadOutcome> {
    const outcome = await super.ask(...asked);
    this.ended.push(outcome.kind === 'answer' ? outcome.answer.kind : `${outcome.kind} ${outcome.path}`);
    return outcome;
  }
}

describe('a file that takes too much to read', () => {
  const HOSTILE = 'teams/b/quota.yaml';
  const lookup = async (worker: Worker, reader: ContentReader) =>
    await findQuotaFile(
      worker.repositories,
      target,
      { pods: '4' },
      { candidates: anywhere, trees: new GitTrees(reader) },
    );

  it('costs the lookup of another namespace its time once; it is named, and not read again at any path', async () => {
    await using gitops = await startGitOps({ 'teams/a/quota.yaml': quota('team-a'), [HOSTILE]: BILLION_MERGES });
    const worker = gitops.worker({ baseBranch: 'main' });
    const reader = new NotingReader({ cpuMs: 300 });
    expect(await lookup(worker, reader)).toMatchObject({
      kind: 'found',
      how: expect.stringContaining(`Not read: ${HOSTILE} takes more than 0.3 s of CPU time to read`),
      edits: [{ path: 'teams/a/quota.yaml' }],
    });
    expect(reader.ended.filter((kind) => kind.startsWith('tooMuch'))).toEqual([`tooMuch ${HOSTILE}`]);
    await gitops.forge.pushCommit({ files: { 'teams/c/copy.yaml': BILLION_MERGES } });
    reader.ended.length = 0;
    expect(await lookup(worker, reader)).toMatchObject({
      kind: 'found',
      how: expect.stringMatching(/Not read: teams\/b\/quota\.yaml takes .*; teams\/c\/copy\.yaml takes /),
    });
    expect(reader.ended.filter((kind) => kind.startsWith('tooMuch'))).toEqual([]);
  });

  it('blocks its own quota by its name, until the file is another one', async () => {
    await using gitops = await startGitOps({ [PATH]: BILLION_MERGES.replace('team-b', 'team-a') });
    const worker = gitops.worker({ baseBranch: 'main' });
    const reader = new NotingReader({ cpuMs: 300 });
    expect(await lookup(worker, reader)).toMatchObject({
      kind: 'blocked',
      reason: 'ContentTooCostly',
      message: expect.stringContaining(`${PATH}:1: takes more than 0.3 s of CPU time to read`),
    });
    await gitops.forge.pushCommit({ files: { [PATH]: quota('team-a') } });
    expect(await lookup(worker, reader)).toMatchObject({ kind: 'found', path: PATH });
  });
});

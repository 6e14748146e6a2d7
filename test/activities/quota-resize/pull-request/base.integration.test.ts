import { expect, it } from 'vitest';
import { startGitOps } from '../gitops-fixture.ts';

it('of two answers about the base branch, the one that was asked for later stays, whichever comes first', async () => {
  await using gitops = await startGitOps();
  const { github } = gitops.worker({ baseBranch: 'main' });
  const hold = gitops.forge.hold({ method: 'GET', path: '/branches/main', when: 'after' });
  const early = github.files.base();
  // Where it ends without being held, it says why.
  await Promise.race([hold.held, early]);
  const tip = await gitops.forge.pushCommit({ files: { 'later.txt': 'later\n' } });
  const late = await github.files.base();
  expect(late).toMatchObject({ kind: 'branch', sha: tip });
  hold.release();
  expect(await early).toMatchObject({ kind: 'branch', sha: expect.not.stringContaining(tip) as string });
  // From what is known.
  expect(await github.files.base(Number.POSITIVE_INFINITY)).toEqual(late);
});

import { expect, it } from 'vitest';
import { openPullRequest, startFreshForge } from './fresh-forge.ts';

it('a repository of 25,000 files is listed in one answer and changed in one file', async () => {
  const files: Record<string, string> = {};
  for (let n = 0; n < 25_000; n += 1)
    files[`managed-resources/cluster-${n % 20}/ns-${n}/quota.yaml`] = `cpu: ${n % 7}\n`;
  const fresh = await startFreshForge(files);
  const { client, at, forge } = fresh;
  const start = performance.now();
  const tree = await client.git.getTree({ ...at, tree_sha: 'main', recursive: '1' });
  const firstMs = performance.now() - start;
  expect(tree.data.truncated).toBe(false);
  expect(tree.data.tree.filter(({ type }) => type === 'blob')).toHaveLength(25_000);
  // Generous for a machine on which others take most of the time; one process for each file would take a minute alone.
  expect(firstMs).toBeLessThan(30_000);
  const path = 'managed-resources/cluster-7/ns-4707/quota.yaml';
  const { number } = await openPullRequest(fresh, { branch: 'one', path, content: 'cpu: 99\n' });
  await client.pulls.merge({ ...at, pull_number: number, merge_method: 'squash' });
  expect(await forge.readFile('main', path)).toBe('cpu: 99\n');
  expect(await forge.readFile('main', 'managed-resources/cluster-8/ns-4708/quota.yaml')).toBe(`cpu: ${4708 % 7}\n`);
  await fresh.stop();
});

it('a tree above the limit says that it is truncated', async () => {
  const fresh = await startFreshForge({ 'a/1': '', 'a/2': '', 'b/1': '' }, { treeLimit: { entries: 3 } });
  const tree = await fresh.client.git.getTree({ ...fresh.at, tree_sha: 'main', recursive: 'true' });
  expect(tree.data.truncated).toBe(true);
  expect(tree.data.tree.map(({ path }) => path)).toEqual(['a', 'a/1', 'a/2']);
  await fresh.stop();
});

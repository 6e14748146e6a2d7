import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../stack/eventually.ts';
import { type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';

const NUMBERS = Array.from({ length: 20 }, (_, index) => `line-${index + 1}: 1\n`).join('');

describe('a pull request', () => {
  let fresh: FreshForge;
  beforeEach(async () => {
    fresh = await startFreshForge({
      'team-a/quota.yaml': NUMBERS,
      'team-b/quota.yaml': 'cpu: 1\n',
      'README.md': '# GitOps\n',
    });
  });
  afterEach(() => fresh.stop());

  it('is opened, found by its head, and merged by squash into one commit on the base', async () => {
    const { client, at, forge } = fresh;
    const before = await forge.branchTip('main');
    const { number, headSha } = await openPullRequest(fresh, {
      branch: 'headroom/d1',
      path: 'team-b/quota.yaml',
      content: 'cpu: 2\n',
      title: 'Raise cpu of team-b',
    });
    const found = await client.pulls.list({ ...at, head: 'acme:headroom/d1', state: 'all' });
    expect(found.data.map((pull) => pull.number)).toEqual([number]);
    const files = await client.pulls.listFiles({ ...at, pull_number: number });
    expect(files.data).toMatchObject([
      { filename: 'team-b/quota.yaml', status: 'modified', patch: '@@ -1 +1 @@\n-cpu: 1\n+cpu: 2' },
    ]);
    const commits = await client.pulls.listCommits({ ...at, pull_number: number });
    expect(commits.data.map((commit) => commit.sha)).toEqual([headSha]);

    const merged = await client.pulls.merge({ ...at, pull_number: number, sha: headSha, merge_method: 'squash' });
    expect(await forge.branchTip('main')).toBe(merged.data.sha);
    expect(await forge.readFile('main', 'team-b/quota.yaml')).toBe('cpu: 2\n');
    const commit = await client.git.getCommit({ ...at, commit_sha: merged.data.sha });
    expect(commit.data.parents.map((parent) => parent.sha)).toEqual([before]);
    expect(commit.data.message).toBe('Raise cpu of team-b (#1)');
    const after = await client.pulls.get({ ...at, pull_number: number });
    expect(after.data).toMatchObject({
      state: 'closed',
      merged: true,
      merged_by: { login: 'headroom-bot' },
      merge_commit_sha: merged.data.sha,
      commits: 1,
      additions: 1,
      deletions: 1,
      changed_files: 1,
    });
    expect(after.data.merged_at).not.toBeNull();
    const byCommit = await client.repos.listPullRequestsAssociatedWithCommit({ ...at, commit_sha: merged.data.sha });
    expect(byCommit.data.map((pull) => pull.number)).toEqual([number]);
  });

  it('that was branched before another one merged does not undo it', async () => {
    const { client, at, forge } = fresh;
    const first = await openPullRequest(fresh, {
      branch: 'one',
      path: 'team-a/quota.yaml',
      content: NUMBERS.replace('line-2: 1', 'line-2: 2'),
    });
    const second = await openPullRequest(fresh, {
      branch: 'two',
      path: 'team-a/quota.yaml',
      content: NUMBERS.replace('line-18: 1', 'line-18: 2'),
    });
    await client.pulls.merge({ ...at, pull_number: first.number, merge_method: 'squash' });
    await client.pulls.merge({ ...at, pull_number: second.number, merge_method: 'squash' });
    expect(await forge.readFile('main', 'team-a/quota.yaml')).toBe(
      NUMBERS.replace('line-2: 1', 'line-2: 2').replace('line-18: 1', 'line-18: 2'),
    );
  });

  it('is merged with a merge commit or by rebase where that is asked for', async () => {
    const { client, at, forge } = fresh;
    const first = await openPullRequest(fresh, { branch: 'one', path: 'one.yaml', content: '1\n' });
    const second = await openPullRequest(fresh, { branch: 'two', path: 'two.yaml', content: '2\n' });
    await forge.pushCommit({ branch: 'two', files: { 'three.yaml': '3\n' }, message: 'Three' });
    const merge = await client.pulls.merge({ ...at, pull_number: first.number, merge_method: 'merge' });
    const mergeCommit = await client.git.getCommit({ ...at, commit_sha: merge.data.sha });
    expect(mergeCommit.data.parents.map(({ sha }) => sha)).toContain(first.headSha);
    expect(mergeCommit.data.message).toBe('Merge pull request #1 from acme/one\n\nChange one.yaml');
    const rebase = await client.pulls.merge({ ...at, pull_number: second.number, merge_method: 'rebase' });
    const history = await client.repos.listCommits({ ...at, sha: 'main', per_page: 3 });
    expect(history.data.map(({ commit }) => commit.message)).toEqual([
      'Three',
      'Change two.yaml',
      mergeCommit.data.message,
    ]);
    expect(history.data[0]?.sha).toBe(rebase.data.sha);
    expect(await forge.readFile('main', 'one.yaml')).toBe('1\n');
    expect(await forge.readFile('main', 'three.yaml')).toBe('3\n');
  });

  it('in conflict is dirty, and its merge is refused with 405', async () => {
    const { client, at, forge } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'team-b/quota.yaml', content: 'cpu: 2\n' });
    await forge.pushCommit({ files: { 'team-b/quota.yaml': 'cpu: 3\n' } });
    await eventually('it is known not to merge', async () => {
      return (await client.pulls.get({ ...at, pull_number: number })).data.mergeable === false;
    });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.mergeable_state).toBe('dirty');
    expect(await refusal(client.pulls.merge({ ...at, pull_number: number }))).toMatchObject({
      status: 405,
      message: 'Pull Request is not mergeable',
    });
    expect(await forge.readFile('main', 'team-b/quota.yaml')).toBe('cpu: 3\n');
  });

  it('whose head has moved is refused with 409 for the old head and merged with the new one', async () => {
    const { client, at, forge } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    const pushed = await forge.pushCommit({ branch: 'one', files: { 'b.yaml': '2\n' }, author: 'alice' });
    expect(await refusal(client.pulls.merge({ ...at, pull_number: number, sha: headSha }))).toMatchObject({
      status: 409,
      message: 'Head branch was modified. Review and try the merge again.',
    });
    const seen = await client.pulls.get({ ...at, pull_number: number });
    expect(seen.data.head.sha).toBe(pushed);
    const commits = await client.pulls.listCommits({ ...at, pull_number: number });
    expect(commits.data.map(({ author }) => author && 'login' in author && author.login)).toEqual([
      'headroom-bot',
      'alice',
    ]);
    await client.pulls.merge({ ...at, pull_number: number, sha: pushed });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.merged).toBe(true);
  });

  it('has mergeable null first and then its answer, again after the base moved', async () => {
    // Nobody waits for so long: it stays unknown until somebody tries to merge, which computes it at once.
    const slow = await startFreshForge({ 'README.md': '# GitOps\n' }, { mergeableDelayMs: 3_600_000 });
    const { client, at, forge } = slow;
    const { number } = await openPullRequest(slow, { branch: 'one', path: 'a.yaml', content: '1\n' });
    const get = async () => (await client.pulls.get({ ...at, pull_number: number })).data;
    const tried = async () => {
      await forge.setDraft(number, true);
      expect(await refusal(client.pulls.merge({ ...at, pull_number: number }))).toMatchObject({ status: 405 });
      await forge.setDraft(number, false);
    };
    expect(await get()).toMatchObject({ mergeable: null, mergeable_state: 'unknown' });
    await tried();
    expect(await get()).toMatchObject({ mergeable: true, mergeable_state: 'clean' });
    await forge.pushCommit({ files: { 'other.yaml': '1\n' } });
    expect(await get()).toMatchObject({ mergeable: null, mergeable_state: 'unknown' });
    await tried();
    expect(await get()).toMatchObject({ mergeable: true, mergeable_state: 'clean' });
    await slow.stop();
  });

  it('has its answer after a while by itself, again after the base moved', async () => {
    const { client, at, forge } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    const existing = async () =>
      await eventually('it is known whether it merges', async () => {
        const seen = (await client.pulls.get({ ...at, pull_number: number })).data;
        return seen.mergeable !== null && seen;
      });
    expect(await existing()).toMatchObject({ mergeable: true, mergeable_state: 'clean' });
    await forge.pushCommit({ files: { 'other.yaml': '1\n' } });
    expect(await existing()).toMatchObject({ mergeable: true, mergeable_state: 'clean' });
  });

  it('is closed, reopened, renamed and commented on by people', async () => {
    const { client, at, forge } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    await forge.closePullRequest(number, 'alice');
    expect((await client.pulls.get({ ...at, pull_number: number })).data).toMatchObject({
      state: 'closed',
      merged: false,
    });
    expect((await client.pulls.list({ ...at })).data).toEqual([]);
    await client.pulls.update({ ...at, pull_number: number, state: 'open', title: 'Another title' });
    expect((await client.pulls.get({ ...at, pull_number: number })).data).toMatchObject({
      state: 'open',
      title: 'Another title',
    });
    await client.issues.createComment({ ...at, issue_number: number, body: 'From the client' });
    await forge.comment(number, 'alice', 'From Alice');
    const comments = await client.issues.listComments({ ...at, issue_number: number });
    expect(comments.data.map(({ body, user }) => [user?.login, body])).toEqual([
      ['headroom-bot', 'From the client'],
      ['alice', 'From Alice'],
    ]);
    const labels = await client.issues.addLabels({ ...at, issue_number: number, labels: ['capacity', 'headroom'] });
    expect(labels.data.map(({ name }) => name)).toEqual(['capacity', 'headroom']);
    await client.issues.removeLabel({ ...at, issue_number: number, name: 'capacity' });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.labels.map(({ name }) => name)).toEqual([
      'headroom',
    ]);
  });

  it('is closed when its branch is deleted', async () => {
    const { client, at } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    await client.git.deleteRef({ ...at, ref: 'heads/one' });
    expect((await client.pulls.get({ ...at, pull_number: number })).data).toMatchObject({
      state: 'closed',
      merged: false,
    });
  });

  it('counts as merged when somebody pushes its commits to the base', async () => {
    const { client, at } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    await client.git.updateRef({ ...at, ref: 'heads/main', sha: headSha });
    await eventually('it is merged', async () => {
      return (await client.pulls.get({ ...at, pull_number: number })).data.merged;
    });
  });

  it('is brought up to date with its base', async () => {
    const { client, at, forge } = fresh;
    const { number, headSha } = await openPullRequest(fresh, { branch: 'one', path: 'a.yaml', content: '1\n' });
    const base = await forge.pushCommit({ files: { 'other.yaml': '1\n' } });
    expect(
      await refusal(client.pulls.updateBranch({ ...at, pull_number: number, expected_head_sha: base })),
    ).toMatchObject({ status: 422, message: "expected head sha didn't match current head ref." });
    await client.pulls.updateBranch({ ...at, pull_number: number, expected_head_sha: headSha });
    const compared = await client.repos.compareCommitsWithBasehead({ ...at, basehead: 'main...one' });
    expect(compared.data).toMatchObject({ status: 'ahead', behind_by: 0, ahead_by: 2 });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.changed_files).toBe(1);
  });

  it('is written as tree, commit and reference in one piece as well as by the contents endpoint', async () => {
    const { client, at, forge } = fresh;
    const main = await client.repos.getBranch({ ...at, branch: 'main' });
    const blob = await client.git.createBlob({ ...at, content: 'cpu: 4\n', encoding: 'utf-8' });
    const tree = await client.git.createTree({
      ...at,
      base_tree: main.data.commit.commit.tree.sha,
      tree: [
        { path: 'team-b/quota.yaml', mode: '100644', type: 'blob', sha: blob.data.sha },
        { path: 'team-c/quota.yaml', mode: '100644', type: 'blob', content: 'cpu: 1\n' },
        { path: 'README.md', mode: '100644', type: 'blob', sha: null },
      ],
    });
    const commit = await client.git.createCommit({
      ...at,
      message: 'Three at once',
      tree: tree.data.sha,
      parents: [main.data.commit.sha],
    });
    await client.git.createRef({ ...at, ref: 'refs/heads/three', sha: commit.data.sha });
    const all = await client.git.getTree({ ...at, tree_sha: commit.data.sha, recursive: '1' });
    expect(all.data.tree.filter(({ type }) => type === 'blob').map(({ path }) => path)).toEqual([
      'team-a/quota.yaml',
      'team-b/quota.yaml',
      'team-c/quota.yaml',
    ]);
    expect(await forge.readFile('three', 'team-b/quota.yaml')).toBe('cpu: 4\n');
    const read = await client.git.getBlob({ ...at, file_sha: blob.data.sha });
    expect(Buffer.from(read.data.content, 'base64').toString()).toBe('cpu: 4\n');
  });

  it('gives its diff as text where that is asked for', async () => {
    const { client, at } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'one', path: 'team-b/quota.yaml', content: 'cpu: 2\n' });
    const diff = await client.pulls.get({ ...at, pull_number: number, mediaType: { format: 'diff' } });
    expect(diff.data).toContain('diff --git a/team-b/quota.yaml b/team-b/quota.yaml');
    expect(diff.data).toContain('+cpu: 2');
  });

  it('has a page for people, with everything escaped', async () => {
    const { client, at, forge } = fresh;
    const { number } = await openPullRequest(fresh, {
      branch: 'one',
      path: 'team-b/quota.yaml',
      content: 'cpu: "<script>alert(1)</script>"\n',
      title: 'Raise <b>cpu</b>',
    });
    const { data } = await client.pulls.get({ ...at, pull_number: number });
    const response = await fetch(data.html_url);
    const html = await response.text();
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(html).toContain('Raise &lt;b&gt;cpu&lt;/b&gt;');
    expect(html).toContain('<span class="add">+cpu: &quot;&lt;script&gt;');
    expect(html).not.toContain('<script>');
    expect(await (await fetch(data.diff_url)).text()).toContain('diff --git a/team-b/quota.yaml');
    expect(await (await fetch(`${forge.url}/acme/gitops/pulls`)).text()).toContain('/acme/gitops/pull/1');
  });
});

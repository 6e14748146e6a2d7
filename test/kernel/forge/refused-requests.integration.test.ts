import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64, type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';

describe('a request that GitHub refuses', () => {
  let fresh: FreshForge;
  let main: string;
  let blob: string;
  beforeAll(async () => {
    fresh = await startFreshForge({ 'quota.yaml': 'cpu: 1\n', 'folder/a.yaml': '1\n' });
    const { client, at, forge } = fresh;
    main = (await forge.branchTip('main')) ?? '';
    const file = await client.repos.getContent({ ...at, path: 'quota.yaml' });
    blob = Array.isArray(file.data) ? '' : file.data.sha;
    await client.git.createRef({ ...at, ref: 'refs/heads/empty', sha: main });
    await openPullRequest(fresh, { branch: 'taken', path: 'quota.yaml', content: 'cpu: 2\n' });
  });
  afterAll(() => fresh.stop());

  it('to make a reference that exists is a 422', async () => {
    const { client, at } = fresh;
    const again = client.git.createRef({ ...at, ref: 'refs/heads/empty', sha: main });
    expect(await refusal(again)).toMatchObject({ status: 422, message: 'Reference already exists' });
  });

  it('to make or move a reference to an unknown object is a 422', async () => {
    const { client, at } = fresh;
    const unknown = 'ab'.repeat(20);
    const made = client.git.createRef({ ...at, ref: 'refs/heads/x', sha: unknown });
    expect(await refusal(made)).toMatchObject({ status: 422, message: 'Object does not exist' });
    const moved = client.git.updateRef({ ...at, ref: 'heads/empty', sha: unknown });
    expect(await refusal(moved)).toMatchObject({ status: 422, message: 'Object does not exist' });
  });

  it('to move a reference backwards is a 422 unless it is forced', async () => {
    const { client, at, forge } = fresh;
    const tip = await forge.pushCommit({ branch: 'back', files: { 'x.yaml': '1\n' } });
    const backwards = client.git.updateRef({ ...at, ref: 'heads/back', sha: main });
    expect(await refusal(backwards)).toMatchObject({ status: 422, message: 'Update is not a fast forward' });
    expect(await forge.branchTip('back')).toBe(tip);
    await client.git.updateRef({ ...at, ref: 'heads/back', sha: main, force: true });
    expect(await forge.branchTip('back')).toBe(main);
  });

  it('to delete or move a reference that is not there is a 422, to read it a 404', async () => {
    const { client, at } = fresh;
    const gone = { ...at, ref: 'heads/never' };
    expect(await refusal(client.git.deleteRef(gone))).toMatchObject({
      status: 422,
      message: 'Reference does not exist',
    });
    expect(await refusal(client.git.updateRef({ ...gone, sha: main }))).toMatchObject({
      status: 422,
      message: 'Reference does not exist',
    });
    expect(await refusal(client.git.getRef(gone))).toMatchObject({ status: 404, message: 'Not Found' });
    expect((await client.git.listMatchingRefs({ ...at, ref: 'heads/emp' })).data.map(({ ref }) => ref)).toEqual([
      'refs/heads/empty',
    ]);
  });

  it('to open a second pull request for a branch is a 422 that says so', async () => {
    const { client, at } = fresh;
    const again = client.pulls.create({ ...at, head: 'taken', base: 'main', title: 'Again' });
    expect(await refusal(again)).toMatchObject({
      status: 422,
      message: 'Validation Failed',
      errors: [{ code: 'custom', message: 'A pull request already exists for acme:taken.' }],
    });
  });

  it('to open a pull request without commits, without head or without base is a 422', async () => {
    const { client, at } = fresh;
    const open = (head: string, base: string) => refusal(client.pulls.create({ ...at, head, base, title: 'T' }));
    expect(await open('empty', 'main')).toMatchObject({
      status: 422,
      errors: [{ message: 'No commits between main and empty' }],
    });
    expect(await open('never', 'main')).toMatchObject({ status: 422, errors: [{ field: 'head', code: 'invalid' }] });
    expect(await open('taken', 'never')).toMatchObject({ status: 422, errors: [{ field: 'base', code: 'invalid' }] });
  });

  it('to reopen a merged pull request is a 422', async () => {
    const { client, at, forge } = fresh;
    const { number } = await openPullRequest(fresh, { branch: 'once', path: 'once.yaml', content: '1\n' });
    await forge.mergePullRequest(number, 'alice');
    const reopened = client.pulls.update({ ...at, pull_number: number, state: 'open' });
    expect((await refusal(reopened)).errors).toMatchObject([
      { field: 'state', message: 'state cannot be changed. The pull request cannot be reopened.' },
    ]);
    expect(await refusal(client.pulls.merge({ ...at, pull_number: number }))).toMatchObject({ status: 405 });
    expect((await client.pulls.get({ ...at, pull_number: number })).data.merged_by?.login).toBe('alice');
  });

  it('to write a file without its SHA is a 422, with another SHA a 409', async () => {
    const { client, at } = fresh;
    const write = (sha?: string) =>
      refusal(
        client.repos.createOrUpdateFileContents({
          ...at,
          path: 'quota.yaml',
          branch: 'empty',
          message: 'Write',
          content: base64('cpu: 9\n'),
          ...(sha === undefined ? {} : { sha }),
        }),
      );
    expect(await write()).toMatchObject({ status: 422, message: 'Invalid request.\n\n"sha" wasn\'t supplied.' });
    expect(await write(main)).toMatchObject({ status: 409, message: `quota.yaml does not match ${main}` });
    expect(blob).not.toBe('');
  });

  it('to write to a branch that is not there is a 404', async () => {
    const { client, at } = fresh;
    const write = client.repos.createOrUpdateFileContents({
      ...at,
      path: 'x',
      branch: 'never',
      message: 'm',
      content: '',
    });
    expect(await refusal(write)).toMatchObject({ status: 404, message: 'Branch never not found' });
  });

  it('for what is not there is a 404 with GitHub’s body', async () => {
    const { client, at, forge } = fresh;
    for (const ask of [
      () => client.repos.getContent({ ...at, path: 'no/such.yaml' }),
      () => client.repos.getBranch({ ...at, branch: 'never' }),
      () => client.pulls.get({ ...at, pull_number: 4711 }),
      () => client.git.getBlob({ ...at, file_sha: 'ab'.repeat(20) }),
      () => client.repos.get({ owner: 'acme', repo: 'other' }),
      () => client.repos.getContent({ ...at, path: 'quota.yaml', ref: 'never' }),
    ]) {
      expect((await refusal(ask())).status).toBe(404);
    }
    const response = await fetch(`${forge.url}/repos/acme/gitops/git/ref/heads/never`);
    expect(await response.json()).toEqual({
      message: 'Not Found',
      documentation_url: 'https://docs.github.com/rest/git/refs#get-a-reference',
      status: '404',
    });
  });

  it('for a commit that is not there is a 422', async () => {
    const { client, at } = fresh;
    const request = client.checks.listForRef({ ...at, ref: 'never' });
    expect(await refusal(request)).toMatchObject({ status: 422, message: 'No commit found for SHA: never' });
  });

  it('gives folders as lists, with the prefix of GitHub Enterprise too', async () => {
    const { forge } = fresh;
    const response = await fetch(`${forge.url}/api/v3/repos/acme/gitops/contents/folder?ref=main`);
    expect(await response.json()).toMatchObject([{ type: 'file', name: 'a.yaml', path: 'folder/a.yaml', size: 2 }]);
  });
});

describe('an empty repository', () => {
  it('answers 409 for its git data, and takes its first file', async () => {
    const fresh = await startFreshForge({});
    const { client, at } = fresh;
    expect(await refusal(client.git.getRef({ ...at, ref: 'heads/main' }))).toMatchObject({
      status: 409,
      message: 'Git Repository is empty.',
    });
    await client.repos.createOrUpdateFileContents({ ...at, path: 'a.yaml', message: 'First', content: base64('1\n') });
    expect(await fresh.forge.readFile('main', 'a.yaml')).toBe('1\n');
    await fresh.stop();
  });
});

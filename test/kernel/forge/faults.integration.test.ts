import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type FreshForge, openPullRequest, refusal, startFreshForge } from './fresh-forge.ts';
import type { Hold } from './http/faults.ts';
import { untilHeld } from './until-held.ts';

describe('a fault', () => {
  let fresh: FreshForge;
  let main: string;
  beforeEach(async () => {
    fresh = await startFreshForge({ 'a.yaml': '1\n' });
    main = (await fresh.forge.branchTip('main')) ?? '';
  });
  afterEach(() => fresh.stop());
  const createBranch = (name: string): Promise<unknown> =>
    fresh.client.git.createRef({ ...fresh.at, ref: `refs/heads/${name}`, sha: main });

  it('that loses the answer leaves the write done, and the next attempt finds it', async () => {
    const { forge, client, at } = fresh;
    await createBranch('one');
    await forge.pushCommit({ branch: 'one', files: { 'a.yaml': '2\n' } });
    const fault = forge.fail({ method: 'POST', path: '/pulls', action: { kind: 'answer-lost' } });
    const open = (): Promise<unknown> => client.pulls.create({ ...at, head: 'one', base: 'main', title: 'T' });
    await expect(open()).rejects.toThrow(/fetch failed|ECONNRESET/);
    expect(fault.hits).toBe(1);
    expect(await refusal(open())).toMatchObject({ status: 422 });
    expect((await client.pulls.list({ ...at, head: 'acme:one' })).data).toHaveLength(1);
    expect(forge.writes.at(-2)).toMatchObject({
      path: '/repos/acme/gitops/pulls',
      status: 201,
      effect: true,
      fault: 'answer-lost',
      branch: 'one',
    });
  });

  it('that resets the connection or answers 500 leaves nothing done', async () => {
    const { forge } = fresh;
    forge.fail({ method: 'POST', path: '**/git/refs', action: { kind: 'connection-reset' } });
    forge.fail({ method: 'POST', path: '**/git/refs', nth: 2, times: 2, action: { kind: 'status', status: 502 } });
    await expect(createBranch('one')).rejects.toThrow(/fetch failed|ECONNRESET/);
    expect(await refusal(createBranch('one'))).toMatchObject({ status: 502 });
    expect(await refusal(createBranch('one'))).toMatchObject({ status: 502 });
    expect(await forge.branchTip('one')).toBeUndefined();
    expect(forge.writes.map(({ effect }) => effect)).toEqual([false, false]);
    await createBranch('one');
    expect(await forge.branchTip('one')).toBe(main);
  });

  it('is a rate limit or a revoked token, with the headers that clients go by', async () => {
    const { forge, client, at } = fresh;
    forge.fail({ path: '/git/ref/heads/main', action: { kind: 'secondary-rate-limit', retryAfterSeconds: 7 } });
    forge.fail({
      path: '/git/ref/heads/main',
      nth: 2,
      action: { kind: 'primary-rate-limit', status: 429, resetInSeconds: 9 },
    });
    forge.fail({ path: '/git/ref/heads/main', nth: 3, action: { kind: 'bad-credentials' } });
    const get = () => client.git.getRef({ ...at, ref: 'heads/main' }).catch((cause: unknown) => cause);
    expect(await get()).toMatchObject({ status: 403, response: { headers: { 'retry-after': '7' } } });
    const limited = await get();
    expect(limited).toMatchObject({ status: 429, response: { headers: { 'x-ratelimit-remaining': '0' } } });
    expect(await get()).toMatchObject({ status: 401, message: expect.stringContaining('Bad credentials') });
    expect(await get()).toMatchObject({ status: 200 });
  });

  it('slows an answer down without changing it', async () => {
    const { forge, client, at } = fresh;
    forge.fail({ action: { kind: 'slow', ms: 80 } });
    const start = performance.now();
    expect((await client.repos.get(at)).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(79);
  });

  // A client of its own process, so that it can be killed as a worker is.
  const clientProcess = (branch: string): ChildProcess => {
    const client = spawn(
      process.execPath,
      [
        '-e',
        `fetch('${fresh.forge.url}/repos/acme/gitops/git/refs', { method: 'POST', body: JSON.stringify({ ref: 'refs/heads/${branch}', sha: '${main}' }) })`,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    onTestFinished(() => {
      client.kill('SIGKILL');
    });
    return client;
  };

  /** Kills a client over its request. @throws Error when it ends before the request is held */
  const killedAt = async (hold: Hold, client: ChildProcess): Promise<void> => {
    const exited = once(client, 'exit');
    const early = exited.then(() => {
      throw new Error('the client ended before its request was held');
    });
    await Promise.race([untilHeld(hold, 'the request of the client is held'), early]);
    client.kill('SIGKILL');
    await exited;
  };

  it('holds a write before its effect, and a client that is killed there has changed nothing', async () => {
    const { forge } = fresh;
    const hold = forge.hold({ method: 'POST', path: '/git/refs', when: 'before' });
    await killedAt(hold, clientProcess('never'));
    // The end of the connection comes with the end of the process and takes a few turns to be noticed: a whole request
    // that is made after it is answered after it.
    await createBranch('before');
    hold.release();
    // Writes take turns, so what was let go is through once this one is.
    await createBranch('after');
    expect(await forge.branchTip('never')).toBeUndefined();
    expect(forge.writes.map(({ branch }) => branch)).toEqual(['before', 'after']);
  });

  it('holds a write after its effect, and a client that is killed there has changed it', async () => {
    const { forge } = fresh;
    const hold = forge.hold({ method: 'POST', path: '/git/refs', when: 'after' });
    await killedAt(hold, clientProcess('done'));
    hold.release();
    expect(await forge.branchTip('done')).toBe(main);
    expect(await refusal(createBranch('done'))).toMatchObject({ status: 422, message: 'Reference already exists' });
  });

  it('is set and released over HTTP as well', async () => {
    const { forge } = fresh;
    const post = (path: string, body: unknown = {}) =>
      fetch(`${forge.url}/_forge/${path}`, { method: 'POST', body: JSON.stringify(body) });
    await post('faults', { method: 'POST', path: '/git/refs', action: { kind: 'status', status: 500 } });
    expect(await refusal(createBranch('one'))).toMatchObject({ status: 500 });
    const { id } = (await (await post('holds', { method: 'POST', path: '/git/refs', when: 'after' })).json()) as {
      id: string;
    };
    const made = createBranch('one');
    expect(await (await fetch(`${forge.url}/_forge/holds/${id}`)).json()).toMatchObject({ method: 'POST' });
    expect(await forge.branchTip('one')).toBe(main);
    await post(`holds/${id}/release`);
    await made;
    const writes = (await (await fetch(`${forge.url}/_forge/writes`)).json()) as unknown[];
    expect(writes).toHaveLength(2);
    await post('commits', { branch: 'one', files: { 'b.yaml': '1\n' } });
    const file = await fetch(`${forge.url}/_forge/file?ref=one&path=b.yaml`);
    expect(await file.json()).toEqual({ content: '1\n' });
  });
});

// Every merge makes git compute the others anew: five seconds on an idle machine, and twenty where others want the cores.
describe('a hundred clients at once', { timeout: 240_000 }, () => {
  it('get a pull request each, merged, with every change on the base', async () => {
    const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`ns-${n}/quota.yaml`, 'cpu: 1\n']));
    const fresh = await startFreshForge(files, { checks: 'pass', checkDelayMs: 20 });
    const { client, at, forge } = fresh;
    await Promise.all(
      Object.keys(files).map(async (path, n) => {
        const { number, headSha } = await openPullRequest(fresh, {
          branch: `headroom/d${n}`,
          path,
          content: 'cpu: 2\n',
        });
        const ready = async () => (await client.pulls.get({ ...at, pull_number: number })).data.mergeable;
        await expect.poll(ready, { timeout: 180_000, interval: 250 }).toBe(true);
        await client.pulls.merge({ ...at, pull_number: number, sha: headSha, merge_method: 'squash' });
      }),
    );
    const merged = await client.paginate(client.pulls.list, { ...at, state: 'closed', per_page: 100 });
    expect(merged.filter(({ merged_at }) => merged_at !== null)).toHaveLength(100);
    const contents = await Promise.all(Object.keys(files).map((path) => forge.readFile('main', path)));
    expect(new Set(contents)).toEqual(new Set(['cpu: 2\n']));
    expect(forge.writes.filter(({ effect }) => effect)).toHaveLength(400);
    await fresh.stop();
  });
});

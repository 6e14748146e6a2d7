import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaResizeId } from '../../domain/kernel/target.ts';
import type { Fault, FaultAction, FaultRule } from '../kernel/forge/http/faults.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { isRaised, namespaceFiles, press, quickTimings, statusOf, targetOf } from './pressed-namespaces.ts';

const RECORDED = 'undisturbed';

let stack: Stack;
let worker: SupervisedProcess;
let tokenFile: string;
/** `POST /repos/{owner}/{repo}/pulls` and all others that an episode uses. */
let endpoints: readonly string[];

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles([RECORDED, 'trouble-1', 'trouble-2', 'outage', 'slow', 'secondary', 'primary', 'token']),
    forge: { tokens: { 'rotated-token': 'headroom-bot' } },
    // Without it the default branch is asked for, once by a process, which then knows it.
    env: { ...quickTimings, HEADROOM_REQUEST_TIMEOUT: '2s', GITHUB_BASE_BRANCH: 'main' },
    workers: 0,
  });
  tokenFile = join(stack.dir, 'github-token');
  await writeFile(tokenFile, stack.env.worker['GITHUB_TOKEN'] ?? '');
  worker = await nextWorker();
  await press(stack, RECORDED);
  await resized(RECORDED);
  endpoints = [...stack.forge.endpoints];
});

afterAll(async () => {
  await stack?.stop();
});

async function nextWorker(): Promise<SupervisedProcess> {
  return await stack.startWorker({ GITHUB_TOKEN: '', GITHUB_TOKEN_FILE: tokenFile });
}

async function resized(namespace: string): Promise<void> {
  await eventually(`${namespace} is resized and cools down`, async () => {
    const seen = await statusOf(stack, namespace);
    return seen?.reason === 'CoolingDown' && (await isRaised(stack, namespace));
  });
}

/** What was done to the repository for a namespace, in words. */
function doneFor(namespace: string): readonly string[] {
  return stack.forge.writes
    .filter(({ branch, effect }) => effect && branch?.includes(`/${namespace}/`))
    .map(({ method, path }) => `${method} ${path.replace(/^\/repos\/acme\/gitops\//, '').replace(/\/.*/, '')}`);
}

const ONE_OF_EACH = ['POST git', 'PUT contents', 'POST pulls', 'PUT pulls', 'DELETE git'];

/** Makes requests to an endpoint go wrong. */
function failing(endpoint: string, action: FaultAction, which: Partial<Pick<FaultRule, 'nth' | 'times'>> = {}): Fault {
  const [method = '', template = ''] = endpoint.split(' ');
  const path = template
    .replaceAll(/[.]/g, '\\.')
    .replace(/\{(?:path|ref|basehead)\}$/, '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+');
  return stack.forge.fail({ method, path: new RegExp(`^${path}$`), ...which, action });
}

/** The activities that an episode waits for, as the Temporal UI shows them. */
async function pendingOf(namespace: string) {
  const { raw } = await stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace))).describe();
  return raw.pendingActivities ?? [];
}

async function attemptsOf(namespace: string): Promise<number> {
  return Math.max(0, ...(await pendingOf(namespace)).map((activity) => activity.attempt ?? 0));
}

async function saysWhatItWaitsFor(namespace: string, words: RegExp): Promise<void> {
  await eventually(`the episode of ${namespace} says ${words}`, async () =>
    (await pendingOf(namespace)).some((activity) => words.test(activity.lastFailure?.message ?? '')),
  );
}

describe('GitHub in trouble', () => {
  it('is asked by an episode for more than a dozen kinds of things', () => {
    expect(endpoints.length).toBeGreaterThan(12);
    expect(doneFor(RECORDED)).toEqual(ONE_OF_EACH);
  });

  it('at every endpoint in turn, by a server error and by the loss of an answer, doubles nothing', async () => {
    const faults = endpoints.flatMap((endpoint) => {
      const loss: FaultAction = { kind: endpoint.startsWith('GET') ? 'connection-reset' : 'answer-lost' };
      return [
        { endpoint, fault: failing(endpoint, { kind: 'status', status: 502 }, { nth: 1 }) },
        { endpoint, fault: failing(endpoint, loss, { nth: 2 }) },
      ];
    });
    // Two at once, each of which meets about half of the faults: one alone would wait longer and longer between its retries.
    const pressed = ['trouble-1', 'trouble-2'];
    await Promise.all(pressed.map(async (namespace) => await press(stack, namespace)));
    for (const namespace of pressed) {
      await resized(namespace);
      expect(doneFor(namespace)).toEqual(ONE_OF_EACH);
    }
    expect(faults.filter(({ fault }) => fault.hits !== 1).map(({ endpoint }) => endpoint)).toEqual([]);
  });

  it('by an outage is waited for, and the episode says so', async () => {
    await worker.kill();
    worker = await nextWorker();
    const faults = endpoints.map((endpoint) => failing(endpoint, { kind: 'status', status: 503 }, { times: 'always' }));
    await press(stack, 'outage');
    await saysWhatItWaitsFor(
      'outage',
      /GitHub answered 503 to GET \/repos\/acme\/gitops\/branches\/main: Server Error/,
    );
    for (const fault of faults) fault.remove();
    await resized('outage');
    expect(doneFor('outage')).toEqual(ONE_OF_EACH);
  });

  it('by an answer that takes longer than the time limit is looked for before it is asked for again', async () => {
    failing('POST /repos/{owner}/{repo}/pulls', { kind: 'slow', ms: 3_000 });
    await press(stack, 'slow');
    await saysWhatItWaitsFor('slow', /no answer from GitHub to POST \/repos\/acme\/gitops\/pulls/);
    await resized('slow');
    expect(doneFor('slow')).toEqual(ONE_OF_EACH);
  });

  it('by its secondary limit is left alone for as long as it asked', async () => {
    const limit = failing('PUT /repos/{owner}/{repo}/contents/{path}', {
      kind: 'secondary-rate-limit',
      retryAfterSeconds: 3,
    });
    await press(stack, 'secondary');
    await saysWhatItWaitsFor('secondary', /GitHub limits the requests for acme\/gitops.*asking again in 3 s/);
    const asked = stack.forge.requests;
    await resized('secondary');
    expect(limit.hits).toBe(1);
    expect(stack.forge.requests).toBeGreaterThan(asked);
    expect(doneFor('secondary')).toEqual(ONE_OF_EACH);
  });

  it('by its primary limit is left alone until the limit is reset', async () => {
    const limit = failing('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
      kind: 'primary-rate-limit',
      resetInSeconds: 2,
    });
    await press(stack, 'primary');
    await saysWhatItWaitsFor('primary', /GitHub limits the requests for acme\/gitops.*asking again in \d s/);
    await resized('primary');
    expect(limit.hits).toBe(1);
    expect(doneFor('primary')).toEqual(ONE_OF_EACH);
  });

  it('by a refused token is sent nothing more until another token is in its file', async () => {
    await writeFile(tokenFile, 'revoked-token\n');
    await press(stack, 'token');
    await saysWhatItWaitsFor('token', /GitHub refuses the token for acme\/gitops \(401: Bad credentials.*valid one/);
    const asked = stack.forge.requests;
    const attempts = await attemptsOf('token');
    await eventually('the activity has looked again', async () => (await attemptsOf('token')) > attempts);
    expect(stack.forge.requests).toBe(asked);
    await writeFile(tokenFile, 'rotated-token\n');
    await resized('token');
    expect(doneFor('token')).toEqual(ONE_OF_EACH);
  });
});

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { commandSignals } from '../../workflows/quota-resize/messages.ts';
import { untilHeld } from '../kernel/forge/until-held.ts';
import type { Fault, FaultAction, FaultRule } from '../kernel/forge/http/faults.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { ONE_OF_EACH, writtenFor } from './decision-writes.ts';
import { namespaceFiles, press, quickTimings, statusOf, targetOf, untilResized } from './pressed-namespaces.ts';
import { openingOf } from '../kernel/forge/opening.ts';

const RECORDED = 'undisturbed';
/** So many at once share the faults of all endpoints: each waits longer and longer between its own retries. */
const TROUBLED = ['trouble-1', 'trouble-2', 'trouble-3', 'trouble-4', 'trouble-5', 'trouble-6'];
/** The same with GraphQL, whose requests are fewer. */
const QUERIED = ['queried-1', 'queried-2', 'queried-3'];
const SECONDARY = ['secondary', 'beside-secondary'] as const;
const PRIMARY = ['primary', 'beside-primary'] as const;
const LIMITED = [...SECONDARY, ...PRIMARY];
/** Seconds of a limit: in these the second quota comes, and comes to ask GitHub, also on a machine that serves others. */
const LIMITED_SECONDS = 12;
/** Milliseconds. One that meets nine faults in one step rests for two and a half minutes between its attempts. */
const RESIZED_MS = 180_000;

let stack: Stack;
let worker: SupervisedProcess;
let tokenFile: string;
/** `POST /repos/{owner}/{repo}/pulls` and all others that an episode uses which asks by REST alone, as repetitions do. */
let endpoints: readonly string[];

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles([RECORDED, ...TROUBLED, ...QUERIED, 'outage', 'slow', ...LIMITED, 'token', 'paused']),
    forge: { tokens: { 'rotated-token': 'headroom-bot' } },
    // Without it the default branch is asked for, once by a process, which then knows it.
    env: { ...quickTimings, GITHUB_BASE_BRANCH: 'main' },
    workers: 0,
  });
  tokenFile = join(stack.dir, 'github-token');
  await writeFile(tokenFile, stack.env.worker['GITHUB_TOKEN'] ?? '');
  worker = await nextWorker({ 'github.graphQl': 'off' });
  await press(stack, RECORDED);
  await resized(RECORDED);
  // A branch is moved only where an attempt was repeated, which happens here once in a while and in the other episodes not.
  // The account is asked for once by a process, which then knows it.
  endpoints = [...stack.forge.endpoints].filter(
    (endpoint) => !endpoint.startsWith('PATCH') && endpoint !== 'GET /user',
  );
  // The servers, and a whole episode.
}, RESIZED_MS + 180_000);

afterAll(async () => {
  await stack?.stop();
});

async function nextWorker(env: Readonly<Record<string, string>> = {}): Promise<SupervisedProcess> {
  return await stack.startWorker({ GITHUB_TOKEN: '', GITHUB_TOKEN_FILE: tokenFile, ...env });
}

async function resized(namespace: string): Promise<void> {
  await untilResized(stack, namespace, RESIZED_MS);
}

/** Makes requests to an endpoint go wrong. */
function failing(endpoint: string, action: FaultAction, which: Partial<Pick<FaultRule, 'nth' | 'times'>> = {}): Fault {
  const [method = '', template = '', field] = endpoint.split(' ');
  const path = template
    .replaceAll(/[.]/g, '\\.')
    // Commits are asked for by their hash. With a slash theirs would be the path of their checks, too, and of two faults for
    // one request only the first takes place.
    .replace(/(?<!\/commits\/)\{(?:path|ref|basehead)\}$/, '.+')
    .replaceAll(/\{\w+\}/g, '[^/]+');
  // Of GraphQL's fields the first one with its arguments.
  const body = field === undefined ? {} : { body: `${field}(` };
  return stack.forge.fail({ method, path: new RegExp(`^${path}$`), ...body, ...which, action });
}

/** The activities that an episode waits for, as the Temporal UI shows them. */
async function pendingOf(namespace: string) {
  const { raw } = await stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace))).describe();
  return raw.pendingActivities ?? [];
}

async function attemptsOf(namespace: string): Promise<number> {
  return Math.max(0, ...(await pendingOf(namespace)).map((activity) => activity.attempt ?? 0));
}

/** What attempts have failed with: those that are pending, and, as the history tells, those that were followed by another. */
async function failuresOf(namespace: string): Promise<readonly string[]> {
  const [pending, { events }] = await Promise.all([
    pendingOf(namespace),
    stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace))).fetchHistory(),
  ]);
  const followed = (events ?? []).map((event) => event.activityTaskStartedEventAttributes?.lastFailure?.message);
  return [...pending.map(({ lastFailure }) => lastFailure?.message), ...followed].map((message) => message ?? '');
}

/** It is waited for a second or two: whoever looks later finds it in the history. */
async function saysWhatItWaitsFor(namespace: string, words: RegExp): Promise<void> {
  await eventually(
    `the episode of ${namespace} says ${words}`,
    async () => (await failuresOf(namespace)).some((message) => words.test(message)),
    RESIZED_MS,
  );
}

/**
 * Two quotas under pressure, of which the first one meets the limit: once the worker knows of it, nobody asks GitHub anything for
 * so long, the second one fails without asking, and the request that was limited is the next that its activity sends.
 */
async function areResizedAround(
  limit: Fault,
  [first, second]: readonly [string, string],
  forMs: number,
): Promise<void> {
  const { method = '' } = limit.rule;
  await press(stack, first);
  await saysWhatItWaitsFor(
    first,
    new RegExp(`^GitHub limits the requests for acme/gitops \\(${method} .*asking again in \\d+ s$`),
  );
  const known = stack.forge.requestTimes.length;
  await press(stack, second);
  // Words that name no request: none was sent.
  await saysWhatItWaitsFor(second, /^GitHub limits the requests for acme\/gitops[^(]*asking again in \d+ s$/);
  for (const namespace of [first, second]) await resized(namespace);
  expect(limit.hits).toBe(1);
  const [at = 0] = limit.hitTimes;
  const meanwhile = stack.forge.requestTimes.slice(known).filter((asked) => asked < at + forMs);
  expect(meanwhile.map((asked) => asked - at)).toEqual([]);
  for (const namespace of [first, second]) expect(await writtenFor(stack, namespace)).toEqual(ONE_OF_EACH);
}

// A worker that starts, what its episode says, and its end: each of these waits has its own end, and says what did not come.
describe('GitHub in trouble', { timeout: 2 * RESIZED_MS + 180_000 }, () => {
  it('is asked by an episode for more than a dozen kinds of things', async () => {
    expect(endpoints.length).toBeGreaterThan(12);
    expect(await writtenFor(stack, RECORDED)).toEqual(ONE_OF_EACH);
  });

  it('at every endpoint in turn, by a server error and by the loss of an answer, doubles nothing', async () => {
    const faults = endpoints.flatMap((endpoint) => {
      const loss: FaultAction = { kind: endpoint.startsWith('GET') ? 'connection-reset' : 'answer-lost' };
      return [
        { endpoint, fault: failing(endpoint, { kind: 'status', status: 502 }, { nth: 1 }) },
        { endpoint, fault: failing(endpoint, loss, { nth: 2 }) },
      ];
    });
    await Promise.all(TROUBLED.map(async (namespace) => await press(stack, namespace)));
    for (const namespace of TROUBLED) {
      await resized(namespace);
      expect(await writtenFor(stack, namespace)).toEqual(ONE_OF_EACH);
    }
    expect(faults.filter(({ fault }) => fault.hits !== 1).map(({ endpoint }) => endpoint)).toEqual([]);
  });

  it('at its queries and the one request that opens, by the same, doubles nothing', async () => {
    await worker.stop();
    worker = await nextWorker();
    const faults = ['POST /graphql repository', 'POST /graphql createRef'].flatMap((endpoint) => [
      failing(endpoint, { kind: 'status', status: 502 }, { nth: 1 }),
      failing(endpoint, { kind: 'answer-lost' }, { nth: 2 }),
    ]);
    await Promise.all(QUERIED.map(async (namespace) => await press(stack, namespace)));
    for (const namespace of QUERIED) {
      await resized(namespace);
      expect(await writtenFor(stack, namespace)).toEqual(ONE_OF_EACH);
    }
    expect(faults.map(({ hits }) => hits)).toEqual([1, 1, 1, 1]);
  });

  it('by an outage is waited for, and the episode says so', async () => {
    const faults = [...endpoints, 'POST /graphql'].map((endpoint) =>
      failing(endpoint, { kind: 'status', status: 503 }, { times: 'always' }),
    );
    await press(stack, 'outage');
    await saysWhatItWaitsFor('outage', /GitHub answered 503 to POST \/graphql: Server Error/);
    for (const fault of faults) fault.remove();
    await resized('outage');
    expect(await writtenFor(stack, 'outage')).toEqual(ONE_OF_EACH);
  });

  it('by its secondary limit is left alone for as long as it asked', async () => {
    const limit = failing('POST /graphql createRef', {
      kind: 'secondary-rate-limit',
      retryAfterSeconds: LIMITED_SECONDS,
    });
    await areResizedAround(limit, SECONDARY, LIMITED_SECONDS * 1_000);
  });

  it('by its primary limit is left alone until the limit is reset', async () => {
    const limit = failing('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
      kind: 'primary-rate-limit',
      resetInSeconds: LIMITED_SECONDS,
    });
    // The reset is a whole second: it may be up to one earlier.
    await areResizedAround(limit, PRIMARY, (LIMITED_SECONDS - 1) * 1_000);
  });

  it('that breaks the request of an activity which a pause has asked to end, ends no episode', async () => {
    const episode = stack.client.workflow.getHandle(quotaResizeId(targetOf('paused')));
    const hold = stack.forge.hold({ ...openingOf('paused'), when: 'before' });
    await press(stack, 'paused');
    await untilHeld(hold, 'the opening is held', RESIZED_MS);
    await episode.signal(commandSignals.pause, { by: 'carol' });
    // An attempt hears of it with its next heartbeat, in three seconds at most; this one fails before.
    await eventually('the activity is asked to end', async () => {
      const { events } = await episode.fetchHistory();
      return events?.some((event) => event.activityTaskCancelRequestedEventAttributes);
    });
    hold.abandon();
    await eventually('it is paused', async () => (await statusOf(stack, 'paused'))?.reason === 'Paused', RESIZED_MS);
    await episode.signal(commandSignals.resume, { by: 'carol' });
    await resized('paused');
    expect(await writtenFor(stack, 'paused')).toEqual(ONE_OF_EACH);
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
    expect(await writtenFor(stack, 'token')).toEqual(ONE_OF_EACH);
  });

  it('by an answer that takes longer than the time limit is looked for before it is asked for again', async () => {
    await worker.stop();
    // For this one only: a machine that is busy may take as long for any answer.
    worker = await nextWorker({ 'timings.requestTimeout': '2s' });
    failing('POST /graphql createRef', { kind: 'slow', ms: 3_000 });
    await press(stack, 'slow');
    await saysWhatItWaitsFor('slow', /no answer from GitHub to POST \/graphql/);
    await resized('slow');
    expect(await writtenFor(stack, 'slow')).toEqual(ONE_OF_EACH);
  });
});

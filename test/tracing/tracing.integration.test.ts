/** Worker and starter with a receiver of traces: from a refused pod to the merge. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { runProgram } from '../starter/run-program.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from './otlp-receiver.ts';

const TOKEN = 'a-token-of-the-collector';
const SEVERAL_EPISODES = { timeout: 4 * EPISODE_MS } as const;

let stack: Stack;
let receiver: OtlpReceiver;
let worker: SupervisedProcess;
let starter: SupervisedProcess;
/** The environment with which a process traces. */
let traced: Readonly<Record<string, string>>;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  traced = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${TOKEN}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    // A process that is killed loses what it has not sent.
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'none' },
    env: { ...quickAutoMerge, LOG_LEVEL: 'debug', 'timings.checksPollMax': '1s' },
    workers: 0,
    starters: 0,
  });
  await stack.forge.protectBranch('main', { requiredChecks: ['ci'] });
  [worker, starter] = await Promise.all([stack.startWorker(traced), stack.startStarter(traced)]);
});
afterAll(async () => {
  await stack?.stop();
  await receiver?.stop();
});

async function passes(quota: WatchedQuota): Promise<void> {
  const { head } = await quota.pullRequest();
  await stack.forge.setStatus({ sha: head.sha, context: 'ci', state: 'success' });
}

function ofQuota({ workflowId }: WatchedQuota): readonly ReceivedSpan[] {
  return receiver.spans.filter(({ attributes }) => attributes['temporalWorkflowId'] === workflowId);
}

const isActivity = ({ name }: ReceivedSpan): boolean => name.startsWith('RunActivity:');
const isWorkflow = ({ name }: ReceivedSpan): boolean => name === 'RunWorkflow:quotaResize';

/** The trace with the span of a merge of this quota, once the workflow has told of the whole episode. */
async function traceOfMerge(quota: WatchedQuota, except: readonly string[] = []): Promise<readonly ReceivedSpan[]> {
  const merged = await eventually(
    'the merge is in a trace',
    () =>
      ofQuota(quota).find(
        ({ name, traceId, status }) => /Merge/.test(name) && status === 1 && !except.includes(traceId),
      ),
    EPISODE_MS,
  );
  const whole = () => receiver.spans.filter(({ traceId }) => traceId === merged.traceId);
  await eventually('the workflow has told of the episode', () =>
    whole().some((span) => isWorkflow(span) && span.spanId === merged.parentSpanId),
  );
  return whole();
}

/** One span of a request at the top, and each other one below one that is there. */
function expectOneTree(spans: readonly ReceivedSpan[], { target }: WatchedQuota): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  const [root, ...others] = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
  expect(others).toEqual([]);
  expect(root).toMatchObject({
    service: 'headroom-starter',
    attributes: {
      'headroom.cluster': target.cluster,
      'headroom.namespace': target.namespace,
      'headroom.quota': target.quota,
    },
  });
  const parentOf = ({ parentSpanId }: ReceivedSpan): ReceivedSpan | undefined => byId.get(parentSpanId ?? '');
  expect(spans.filter((span) => span !== root && parentOf(span) === undefined)).toEqual([]);
  for (const span of spans.filter(isWorkflow)) {
    expect(parentOf(span)).toMatchObject({ service: 'headroom-starter', parentSpanId: root?.spanId });
  }
  for (const span of spans.filter(isActivity)) {
    expect(span.service).toBe('headroom-worker');
    expect(parentOf(span)).toSatisfy(isWorkflow);
  }
  const writes = spans.filter(({ attributes }) => attributes['url.template'] !== undefined);
  expect(writes.length).toBeGreaterThan(0);
  for (const span of writes) expect(parentOf(span)).toSatisfy(isActivity);
}

/** The ids of the activities that a run had done, from its history. */
async function doneActivities(quota: WatchedQuota): Promise<readonly string[]> {
  const { events } = await stack.client.workflow.getHandle(quota.workflowId).fetchHistory();
  const scheduled = new Map(
    events?.map((event) => [String(event.eventId), event.activityTaskScheduledEventAttributes?.activityId]),
  );
  return (events ?? []).flatMap(({ activityTaskCompletedEventAttributes: done }) => {
    const id = done ? scheduled.get(String(done.scheduledEventId)) : null;
    return id ? [id] : [];
  });
}

async function log({ logFile }: SupervisedProcess): Promise<string> {
  return await readFile(logFile, 'utf8');
}

describe('an episode is one trace', SEVERAL_EPISODES, () => {
  let quota: WatchedQuota;
  let first: readonly ReceivedSpan[];

  it('from the refused pod over starter, workflow and activities to the merge, although the worker was killed meanwhile', async () => {
    quota = await givenQuota(stack, { namespace: 'one-trace', hard: { pods: '4' } });
    await quota.deploy('web', 6, { cpu: '10m' });
    await quota.reaches('AwaitingChecks');
    const merge = stack.forge.hold({ method: 'PUT', path: /\/merge$/, when: 'after' });
    await passes(quota);
    await merge.held;
    // All before the merge is with the receiver.
    await eventually('the activities of before are traced', async () => {
      const told = new Set(ofQuota(quota).map(({ attributes }) => attributes['temporalActivityId']));
      return (await doneActivities(quota)).every((id) => told.has(id));
    });
    await worker.kill();
    merge.abandon();
    worker = await stack.startWorker(traced);
    await quota.reaches('CoolingDown');
    first = await traceOfMerge(quota);
    expectOneTree(first, quota);

    const done = await doneActivities(quota);
    const succeeded = ofQuota(quota).filter((span) => isActivity(span) && span.status === 1);
    // What comes after the rest is not a part of the episode any more.
    const merged = first.findLast(({ name, status }) => /Merge/.test(name) && status === 1);
    const before = succeeded.filter(({ from }) => from <= (merged?.to ?? 0));
    expect(new Set(before.map(({ traceId }) => traceId))).toEqual(new Set([first[0]?.traceId]));
    const ids = succeeded.map(({ attributes }) => String(attributes['temporalActivityId']));
    expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
    expect(done).toEqual(expect.arrayContaining(ids));
    const names = new Set(first.map(({ name }) => name));
    for (const name of [
      'RunActivity:observeQuota',
      'RunActivity:ensurePullRequest',
      'SignalWithStartWorkflow:quotaResize',
    ]) {
      expect(names).toContain(name);
    }
  });

  it('of its own where a further refusal joins the workflow of before', async () => {
    const runId = await quota.runId();
    await quota.scale('web', 9);
    await eventually('a request of the cooldown is traced', () => {
      return ofQuota(quota).some((span) => isActivity(span) && span.traceId !== first[0]?.traceId);
    });
    await quota.command('skipCooldown', { by: 'alice' });
    await quota.reaches('AwaitingChecks');
    const number = await eventually('there is a second pull request', () => quota.pullRequests()[1]);
    const { head } = await quota.shown(number);
    await stack.forge.setStatus({ sha: head.sha, context: 'ci', state: 'success' });
    await quota.reaches('CoolingDown');
    expect(await quota.runId()).toBe(runId);
    const second = await traceOfMerge(quota, [first[0]?.traceId ?? '']);
    expectOneTree(second, quota);
    expect(second.some(({ name }) => name === 'RunActivity:ensurePullRequest')).toBe(true);
  });

  it('of its own where a person asks for it while the workflow rests', async () => {
    const { namespace, quota: name } = quota.target;
    const env = { ...stack.env.starter, ...traced };
    expect(await runProgram('headroom', ['reconcile-now', `${namespace}/${name}`], env)).toMatchObject({ code: 0 });
    const root = receiver.spans.find((span) => span.name === 'Command:reconcileNow');
    expect(root).toMatchObject({
      service: 'headroom-cli',
      status: 1,
      attributes: { 'headroom.cluster': stack.cluster },
    });
    await eventually('the workflow goes on in the trace of the command', () => {
      return ofQuota(quota).some((span) => isActivity(span) && span.traceId === root?.traceId);
    });
    expect(ofQuota(quota)).toContainEqual(
      expect.objectContaining({ name: expect.stringMatching(/Update:reconcileNow$/), parentSpanId: root?.spanId }),
    );
  });

  it('and has no credential in it, nor has the log that of the receiver', async () => {
    const { requests } = receiver;
    expect(requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'content-type': 'application/json',
    });
    const bodies = requests.map(({ body }) => body).join('\n');
    expect(bodies).toContain('deployment.environment');
    for (const secret of [TOKEN, stack.env.worker['GITHUB_TOKEN'] ?? '']) expect(bodies).not.toContain(secret);
    // Neither what a workflow or an activity is given, nor what it returns.
    for (const payload of ['resourceVersion', 'managed-resources/']) expect(bodies).not.toContain(payload);
    for (const started of stack.processes) expect(await log(started)).not.toContain(TOKEN);
  });
});

it('an episode goes on where tracing is switched off, and on again, while it waits', SEVERAL_EPISODES, async () => {
  const quota = await givenQuota(stack, { namespace: 'on-and-off', hard: { pods: '4' } });
  await quota.deploy('web', 6, { cpu: '10m' });
  await quota.reaches('AwaitingChecks');
  for (const env of [{}, traced]) {
    await worker.stop();
    worker = await stack.startWorker(env);
    await quota.command('pause', { by: 'alice' });
    await quota.reaches('Paused');
    await quota.command('resume', { by: 'alice' });
    await quota.reaches('AwaitingChecks');
  }
  await passes(quota);
  await quota.reaches('CoolingDown');
  expectOneTree(await traceOfMerge(quota), quota);
  for (const started of stack.processes) expect(await log(started)).not.toMatch(/nondetermin/i);
});

describe('a receiver', SEVERAL_EPISODES, () => {
  /** Milliseconds from the Deployment to the merged limits in the cluster. */
  async function episode(namespace: string): Promise<number> {
    const quota = await givenQuota(stack, { namespace, hard: { pods: '4' } });
    const from = performance.now();
    await quota.deploy('web', 6, { cpu: '10m' });
    await passes(quota);
    await quota.reaches('CoolingDown');
    return performance.now() - from;
  }

  async function restart(env: Readonly<Record<string, string>>): Promise<void> {
    await Promise.all([worker.stop(), starter.stop()]);
    [worker, starter] = await Promise.all([stack.startWorker(env), stack.startStarter(env)]);
  }

  it.each([
    ['refuses everything', 'refuse'],
    ['never answers', 'hang'],
    ['is not there', null],
  ] as const)('that %s holds nobody up, and is told of once', async (_what, mood) => {
    receiver.mood = 'accept';
    const plain = await episode(`with-a-receiver-${mood ?? 'away'}`);
    receiver.mood = mood ?? 'accept';
    const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    await restart({ ...traced, OTEL_EXPORTER_OTLP_TIMEOUT: '2000', ...(mood === null ? away : {}) });
    const without = await episode(`without-a-receiver-${mood ?? 'away'}`);
    // One request that is waited for would be two seconds more, and there are dozens.
    expect(without).toBeLessThan(plain * 1.5 + 2_000);
    // Its own limit is shorter than that of the exporter, 10 s.
    const began = performance.now();
    const env = { ...stack.env.starter, ...traced, ...(mood === null ? away : {}) };
    expect(await runProgram('headroom', ['gc', '--now'], env)).toMatchObject({ code: 0, stderr: '' });
    expect(performance.now() - began).toBeLessThan(10_000);
    await eventually('both have told of it', async () =>
      (await Promise.all([worker, starter].map(log))).every((text) => text.includes('traces cannot be sent')),
    );
    for (const started of [worker, starter]) {
      expect((await log(started)).split('"traces cannot be sent').length - 1).toBe(1);
      const from = performance.now();
      expect(await started.stop()).toEqual({ code: 0, signal: null });
      expect(performance.now() - from).toBeLessThan(10_000);
    }
    receiver.mood = 'accept';
    [worker, starter] = await Promise.all([stack.startWorker(traced), stack.startStarter(traced)]);
  });
});

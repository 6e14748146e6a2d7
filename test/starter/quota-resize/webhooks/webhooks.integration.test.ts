/** GitHub's webhooks from the forge through the starter to the workflow whose pull request they mean. */
import { readFile } from 'node:fs/promises';
import { type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { quotaResizeId } from '../../../../domain/quota-resize/target.ts';
import { taskQueue } from '../../../../domain/kernel/target.ts';
import { quotaLeaseLabels, withMemory } from '../../../../domain/quota-resize/model/lease.ts';
import type { Delivery } from '../../../kernel/forge/webhooks/delivery.ts';
import type { SupervisedProcess } from '../../../kernel/servers/supervised-process.ts';
import { eventually } from '../../../kernel/stack/eventually.ts';
import { flood } from './flood.ts';
import { type Stack, startStack, SYSTEM_NAMESPACE } from '../../../kernel/stack/stack.ts';

const SECRETS = ['the-old-secret-of-the-hook', 'the-new-secret-of-the-hook'] as const;
const PULL_TOKEN = 'forge-token-of-this-run';

let stack: Stack;
let starter: SupervisedProcess;
let url: string;

beforeAll(async () => {
  stack = await startStack({ cluster: 'prod', files: { 'README.md': '# acme/gitops\n' }, workers: 0, starters: 0 });
  starter = await stack.startStarter({
    GITHUB_WEBHOOKS: 'true',
    GITHUB_WEBHOOK_SECRET: SECRETS.join(','),
    LOG_LEVEL: 'debug',
  });
  [, url = ''] = /"url":"([^"]+)","msg":"the starter takes/.exec(await readFile(starter.logFile, 'utf8')) ?? [];
  await stack.forge.addHook({ url, secret: SECRETS[0] });
});
afterAll(async () => await stack?.stop());

/** A pull request on the forge, and the Lease that makes it a quota's. */
async function pullRequestOf(
  quota: string,
): Promise<{ target: QuotaTarget; number: number; branch: string; sha: string }> {
  const target: QuotaTarget = { cluster: 'prod', namespace: 'team-a', quota };
  const branch = `headroom/${quota}`;
  const sha = await stack.forge.pushCommit({ branch, files: { [`${quota}.yaml`]: 'a: 1\n' } });
  const answer = await fetch(`${stack.forge.url}/repos/acme/gitops/pulls`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PULL_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title: quota, head: branch, base: 'main' }),
  });
  expect(answer.status).toBe(201);
  const { number, html_url: page } = (await answer.json()) as { number: number; html_url: string };
  const pullRequest = {
    number,
    url: page,
    repository: 'acme/gitops',
    branch,
    base: 'main',
    path: `${quota}.yaml`,
    headSha: sha,
    openedAt: Date.now(),
    pushedAt: Date.now(),
  };
  const decision = {
    id: '0000abcd',
    quotaUid: 'uid',
    decidedAt: Date.now(),
    changes: [],
    evidence: [],
    demandByMessage: false,
    approvalRequirement: null,
    pullRequest,
    merge: null,
  };
  const annotations = withMemory({}, target, {
    lastModified: null,
    lastRecommendation: null,
    rejections: [],
    raises: [],
    decision,
  });
  // Nobody is hinted of how it came: what is delivered late would be for the workflow that runs by then.
  await stack.forge.deliveriesSettled();
  const before = await existing();
  await stack.coordination.createNamespacedLease({
    namespace: SYSTEM_NAMESPACE,
    body: {
      metadata: { name: `state-team-a-${quota}`, labels: { ...quotaLeaseLabels }, annotations: { ...annotations } },
      spec: { holderIdentity: `headroom/${decision.id}` },
    },
  });
  await eventually('the starter knows the pull request', async () => (await existing()) > before);
  return { target, number, branch, sha };
}

/** The workflow of a quota. No worker runs here, so what it is sent stays in its history. */
async function runningWorkflow(target: QuotaTarget): Promise<WorkflowHandle> {
  return await stack.client.workflow.start('quotaResize', {
    workflowId: quotaResizeId(target),
    taskQueue: taskQueue(target.cluster),
    args: [{ target }],
  });
}

/** The causes of the signals `pullRequestChanged` so far. */
async function causes(handle: WorkflowHandle): Promise<readonly string[]> {
  const { events = [] } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => {
    const signal = event.workflowExecutionSignaledEventAttributes;
    if (signal?.signalName !== 'pullRequestChanged') return [];
    const data = signal.input?.payloads?.[0]?.data;
    return [(JSON.parse(Buffer.from(data ?? []).toString()) as { cause: string }).cause];
  });
}

/** The sum of a metric's series that have this label in them. */
async function metric(name: string, label = ''): Promise<number> {
  const [, metrics] = /"metrics":"([^"]+)"/.exec(await readFile(starter.logFile, 'utf8')) ?? [];
  const text = await (await fetch(`${metrics}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) && line.includes(label))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** How many pull requests the starter knows. */
const existing = async (): Promise<number> => await metric('headroom_starter_webhook_pull_requests');

/** Whatever was delivered last of an event. */
function lastOf(event: string): Delivery {
  const delivery = stack.forge.deliveries().findLast((candidate) => candidate.event === event);
  if (delivery === undefined) throw new Error(`the forge has sent no ${event}`);
  return delivery;
}

describe('what happens to a pull request at GitHub', () => {
  it('wakes its running workflow: a check, a review, a comment, a push to the base and a close', async () => {
    const { target, number, sha } = await pullRequestOf('compute');
    const handle = await runningWorkflow(target);
    // Hints of one moment are coalesced, so each is awaited before the next.
    const signals = async (cause: string) =>
      await eventually(`the workflow hears of ${cause}`, async () =>
        (await causes(handle)).includes(`GitHub: ${cause}`),
      );
    await stack.forge.setCheckRun({ sha, name: 'build', status: 'completed', conclusion: 'success' });
    await signals('check_run');
    await stack.forge.setStatus({ sha, context: 'ci', state: 'success' });
    await signals('status');
    await stack.forge.approveReview(number, 'mona');
    await signals('pull_request_review');
    await stack.forge.comment(number, 'mona', 'Looks right.');
    await signals('issue_comment');
    await stack.forge.pushCommit({ files: { other: 'file' } });
    await signals('push');
    await stack.forge.closePullRequest(number, 'mona');
    await signals('pull_request');
    await stack.forge.deliveriesSettled();
    expect(stack.forge.deliveries().map(({ statusCode }) => statusCode)).not.toContain(500);
  });

  it('starts no workflow, and is not for that of another pull request', async () => {
    const idle = await pullRequestOf('idle');
    const other = await pullRequestOf('other');
    const handle = await runningWorkflow(other.target);
    await stack.forge.comment(idle.number, 'mona', 'Anybody there?');
    await stack.forge.comment(other.number, 'mona', 'And here?');
    await eventually('the other one hears', async () => (await causes(handle)).length > 0);
    expect(await causes(handle)).toEqual(['GitHub: issue_comment']);
    await expect(stack.client.workflow.getHandle(quotaResizeId(idle.target)).describe()).rejects.toThrow(
      WorkflowNotFoundError,
    );
  });

  it('has an effect once, however often GitHub sends it', async () => {
    const { target, number } = await pullRequestOf('replayed');
    const handle = await runningWorkflow(target);
    await stack.forge.comment(number, 'mona', 'Once.');
    await eventually('it hears', async () => (await causes(handle)).length === 1);
    await stack.forge.deliveriesSettled();
    const first = lastOf('issue_comment');
    expect(first).toMatchObject({ statusCode: 202 });
    expect(await stack.forge.redeliver(first.id)).toMatchObject({ statusCode: 409 });
    expect(await metric('headroom_starter_webhook_deliveries_total', 'outcome="replayed"')).toBe(1);
    expect(await causes(handle)).toHaveLength(1);
  });

  it('is believed with the old and the new secret, and with no other', async () => {
    const { number } = await pullRequestOf('secrets');
    const statusWith = async (secret: string) => {
      const id = await stack.forge.addHook({ url, secret, events: ['issue_comment'] });
      await stack.forge.comment(number, 'mona', `Signed with ${secret.length} characters.`);
      await stack.forge.deliveriesSettled();
      const status = stack.forge.deliveries(id).findLast(({ event }) => event === 'issue_comment')?.statusCode;
      await stack.forge.removeHook(id);
      return status;
    };
    expect(await statusWith(SECRETS[1])).toBe(202);
    expect(await statusWith('somebody-elses-secret')).toBe(401);
  });
});

describe('the starter', () => {
  it('refuses 200 connections that send 5 MB each, and takes webhooks afterwards', async () => {
    const { statuses } = await flood({
      url,
      pid: starter.pid,
      connections: 200,
      bytes: 5e6,
      secret: 'another',
    });
    expect(statuses).not.toHaveProperty('202');
    // It notices that the connections are over a moment after this side does.
    const status = await eventually('there is a connection again', async () => {
      const answer = await fetch(url, { method: 'POST', signal: AbortSignal.timeout(10_000) });
      return answer.status;
    });
    expect(status).toBe(401);
  });

  it('is ready with its webhooks, and has no secret in its log', async () => {
    const log = await readFile(starter.logFile, 'utf8');
    const [, health] = /"health":"([^"]+)"/.exec(log) ?? [];
    const report = (await (await fetch(`${health}/readyz`)).json()) as { conditions: Record<string, unknown> };
    expect(report.conditions).toMatchObject({ webhooks: { ready: true }, 'watch leases': { ready: true } });
    expect(log).toContain('a webhook delivery was received');
    for (const secret of SECRETS) expect(log).not.toContain(secret);
  });
});

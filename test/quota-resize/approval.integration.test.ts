/** Approvals before and after the pull request, freezes and merge windows, on real servers. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { reconcileCompletely } from './reconcile.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { restsIn } from './resting.ts';

let stack: Stack;
let auditDir: string;

beforeAll(async () => {
  auditDir = await mkdtemp(join(tmpdir(), 'headroom-audit-'));
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: {
      ...quickAutoMerge,
      HEADROOM_AUDIT_LOG: join(auditDir, 'audit.log'),
      HEADROOM_GUARDRAILS: JSON.stringify([{ name: 'impatient', leastReminder: '1s', leastApprovalTimeout: '1s' }]),
    },
  });
});
afterAll(async () => {
  await stack?.stop();
  await rm(auditDir, { recursive: true, force: true });
});

type AuditLine = Readonly<Record<string, unknown>> & { readonly audit: string };

/** HTTP's words for those of the API server's log. */
const METHODS: Readonly<Record<string, string>> = { update: 'PUT', patch: 'PATCH', delete: 'DELETE' };

/** The lines of the audit log about an episode. */
async function auditOf({ workflowId }: WatchedQuota): Promise<readonly AuditLine[]> {
  const lines = (await readFile(join(auditDir, 'audit.log'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as AuditLine).filter((line) => line['workflowId'] === workflowId);
}

/** Eight of ten pods, under this policy. */
async function pressed(namespace: string, annotations: Record<string, string>): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, annotations });
  await quota.deploy('web', 8, { cpu: '10m' });
  return quota;
}

describe.concurrent('an approval before the pull request', SEVERAL_PHASES, () => {
  const annotations = { 'resizer.io/approval': 'before-pull-request' };

  it('is waited for with nothing on GitHub, and its giver, reason and moment are everywhere', async () => {
    const quota = await pressed('asked-first', annotations);
    const waiting = await restsIn(quota, 'AwaitingApproval', 'ApprovalRequired');
    expect(waiting.detail).toMatch(/^pods 10 → 12 has waited for an approval since 20.*Send approve or reject$/);
    expect(quota.pullRequests()).toEqual([]);
    expect(await quota.branches()).toEqual([]);
    expect((await quota.lease())?.holder).toMatch(/^headroom\//);
    expect(await quota.events('QuotaResizeApprovalNeeded')).toEqual([expect.stringContaining('pods 10 → 12')]);

    expect(await quota.command('approve', { by: 'alice', reason: 'black friday' })).toContain(
      'approved by "alice" (a claimed name)',
    );
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    const [number = 0] = quota.pullRequests();
    expect(quota.pullRequests()).toHaveLength(1);
    expect(await quota.comments(number)).toEqual([
      expect.stringMatching(/^Approved in Headroom: approved by "alice" \(a claimed name\) at 20.*: black friday\./),
    ]);
    expect((await quota.events('QuotaResizeApproved'))[0]).toMatch(
      /approved by "alice" \(a claimed name\) at 20.*: black friday/,
    );
    expect(await quota.details()).toContain('approved by "alice" (a claimed name)');
  });

  it('is in the audit log, with the decision and every write', async () => {
    const quota = await pressed('audited', annotations);
    await restsIn(quota, 'AwaitingApproval', 'ApprovalRequired');
    await quota.command('approve', { by: 'alice', reason: 'black friday' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    const lines = await auditOf(quota);
    const of = (kind: string) => lines.filter(({ audit }) => audit === kind);
    expect(new Set(of('decision').map(({ decision }) => decision)).size).toBe(1);
    const [decided] = of('decision');
    const decision = decided?.['decision'];
    expect(decided).toMatchObject({
      target: 'audited/compute',
      cluster: 'test',
      changes: [expect.objectContaining({ resource: 'pods', from: '10', to: '12' })],
      approvalRequirement: expect.objectContaining({ reason: 'ApprovalRequired' }),
    });
    expect(of('command')).toEqual([
      expect.objectContaining({ command: 'approve', outcome: 'accepted', claimedBy: 'alice' }),
    ]);
    const [number] = quota.pullRequests();
    expect(of('approval')).toEqual([
      expect.objectContaining({ decision, claimedBy: 'alice', reason: 'black friday', number, limits: { pods: '12' } }),
    ]);
    expect(of('approval')[0]).not.toHaveProperty('verifiedBy');
    expect(of('status').map(({ phase }) => phase)).toEqual(
      expect.arrayContaining(['AwaitingApproval', 'Merging', 'CoolingDown']),
    );
    const writes = of('write');
    const forge = writes.filter(({ service }) => service === 'GitHub');
    expect(forge.filter(({ write }) => write === 'merge')).toEqual([
      expect.objectContaining({ decision, repository: 'acme/gitops', number, outcome: 'merged' }),
    ]);
    // Whatever the API server has of the worker's writes to this Lease is here as well.
    const ofLease = (path: unknown) => /\/leases\/[^?]*audited/.test(String(path));
    const logged = writes
      .filter(({ path }) => ofLease(path))
      .map(({ method, path }) => `${String(method)} ${String(path)}`);
    expect(logged.length).toBeGreaterThan(2);
    await eventually('the log of the API server has the same', async () => {
      const served = (await stack.controlPlane.auditEvents())
        .filter(
          ({ user, verb, requestURI }) => user.username.includes('worker') && verb !== 'get' && ofLease(requestURI),
        )
        .map(({ verb, requestURI }) => `${METHODS[verb] ?? verb} ${requestURI}`);
      return isDeepStrictEqual(served.toSorted(), logged.toSorted());
    });
  });

  it('that is rejected opens nothing, and the values are not asked for again', async () => {
    const quota = await pressed('refused-first', annotations);
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    await quota.command('reject', { by: 'bob', reason: 'no budget' });
    const refused = await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(refused.detail).toContain('was rejected by bob');
    expect(quota.pullRequests()).toEqual([]);
    expect(await quota.events('QuotaResizeRejected')).toEqual(['Normal: pods 10 → 12: rejected by bob: no budget.']);
    expect((await quota.lease())?.holder).toBeNull();
  });

  it('outlives a terminated run', async () => {
    const quota = await pressed('asked-again', annotations);
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    const run = await quota.runId();
    await quota.terminate();
    await quota.scale('web', 9);
    await eventually('a new run looks', async () => (await quota.runId()) !== run);
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    expect(quota.pullRequests()).toEqual([]);
    await quota.command('approve', { by: 'alice' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toHaveLength(1);
  });
});

describe.concurrent('an approval before the merge', SEVERAL_PHASES, () => {
  it('is waited for with the pull request open, and no answer in time is a no', async () => {
    const quota = await pressed('timed-out', {
      'resizer.io/approval': 'before-merge',
      'resizer.io/approval-reminder': '1s',
    });
    const { number } = await quota.pullRequest();
    await eventually(
      'people are reminded',
      async () => (await quota.events('QuotaResizeApprovalOverdue')).length > 0,
      EPISODE_MS,
    );
    expect(await quota.shown(number)).toMatchObject({ state: 'open' });
    await quota.annotate({ 'resizer.io/approval-timeout': '1s' });
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
    expect((await quota.comments(number)).at(-1)).toContain('nobody has approved it since');
    expect(quota.pullRequests()).toEqual([number]);
  });
});

describe.concurrent('a merge', SEVERAL_PHASES, () => {
  it('waits for the end of a freeze, says so on the pull request, and follows when the freeze is lifted', async () => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const quota = await pressed('frozen', { 'resizer.io/freeze-until': until });
    const held = await quota.reaches('AwaitingMerge', 'Frozen');
    expect(held.detail).toContain('resizer.io/freeze-until');
    const { number } = await quota.pullRequest();
    const comments = await eventually('it is said', async () => {
      const comments = await quota.comments(number);
      return comments.length > 0 && (await quota.events('QuotaResizeHeld')).length > 0 && comments;
    });
    expect(comments).toEqual([expect.stringContaining('Ready, and not merged by Headroom for now')]);

    await quota.annotate({ 'resizer.io/freeze-until': null });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(await quota.comments(number)).toHaveLength(1);
  });

  it('waits for its window', async () => {
    // Open for one minute a year, and not now.
    const month = ((new Date().getUTCMonth() + 6) % 12) + 1;
    const quota = await pressed('windowed', { 'resizer.io/merge-windows': `0 3 1 ${month} * for 1m in Europe/Berlin` });
    const held = await quota.reaches('AwaitingMerge', 'OutsideMergeWindow');
    expect(held.detail).toContain('resizer.io/merge-windows');
    await eventually('it waits for the opening', async () => (await quota.status()).until !== undefined);
    await quota.annotate({ 'resizer.io/merge-windows': '* * * * * for 2m in Europe/Berlin' });
    await quota.reaches('CoolingDown', 'CoolingDown');
  });
});

/** Whether the merge is under way, or waits for its next attempt. */
async function isBeingMerged({ workflowId }: WatchedQuota): Promise<boolean> {
  const { raw } = await stack.client.workflow.getHandle(workflowId).describe();
  return (raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === 'ensureMerged');
}

describe.concurrent('a write that has to wait', SEVERAL_PHASES, () => {
  it('is not made any more when somebody has said no', async () => {
    const quota = await pressed('late-merge', { 'resizer.io/auto-merge': 'false' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await quota.pullRequest();
    // GitHub keeps the merge waiting, as a limit would.
    const limited = stack.forge.fail({
      method: 'PUT',
      path: `**/pulls/${number}/merge`,
      times: 'always',
      action: { kind: 'status', status: 503 },
    });
    await quota.annotate({ 'resizer.io/auto-merge': null });
    await eventually('a merge is tried', () => limited.hits > 0);
    await quota.command('reject', { by: 'alice', reason: 'not now' });
    await eventually('nobody is about to try it again', async () => !(await isBeingMerged(quota)));
    limited.remove();
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
  });

  it('is not made any more when a freeze has begun meanwhile', async () => {
    const quota = await pressed('late-freeze', { 'resizer.io/auto-merge': 'false' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await quota.pullRequest();
    const limited = stack.forge.fail({
      method: 'PUT',
      path: `**/pulls/${number}/merge`,
      times: 'always',
      action: { kind: 'status', status: 503 },
    });
    await quota.annotate({ 'resizer.io/auto-merge': null });
    await eventually('a merge is tried', () => limited.hits > 0);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    await quota.annotate({ 'resizer.io/freeze-until': until });
    await quota.reaches('AwaitingMerge', 'Frozen');
    limited.remove();
    await reconcileCompletely(quota);
    expect(await quota.shown(number)).toMatchObject({ state: 'open', merged: false });
  });
});

describe.concurrent('a maximum', SEVERAL_PHASES, () => {
  it('caps a raise, and at the maximum people are told and nothing is opened', async () => {
    const quota = await pressed('at-maximum', { 'resizer.io/pods-max': '10' });
    // A threshold at the maximum is as people want it; what is refused is news.
    await quota.scale('web', 12);
    await quota.reaches('Blocked', 'AtMaximum');
    const event = await eventually('people are told', async () => {
      const events = await quota.events('AtMaximum');
      return events.length > 0 && events;
    });
    expect(event[0]).toContain('resizer.io/pods-max');
    expect(quota.pullRequests()).toEqual([]);
    await quota.annotate({ 'resizer.io/pods-max': '11' });
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '11' });
  });
});

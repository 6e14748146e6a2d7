/** What an operator does in the Temporal UI, done by a real browser in the real UI. */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { deniedWhileOptedOut } from '../quota-resize/denied.ts';
import { restsIn } from '../quota-resize/resting.ts';
import { PATIENCE_MS, picture } from './browser.ts';
import { sendSignal, shown, TemporalUi } from './temporal-ui.ts';

/** A test has several pages, one after the other, and an episode before them. */
const timeout = 8 * PATIENCE_MS;

let stack: Stack;
let ui: TemporalUi;

beforeAll(async () => {
  [stack, ui] = await Promise.all([
    startStack({
      files: { 'README.md': '# acme/gitops\n' },
      forge: { checks: 'pass', checkDelayMs: 50 },
      env: {
        HEADROOM_MODE: 'propose',
        ENABLE_AUTO_MERGE: 'true',
        'timings.demandSettle': '300ms',
        'timings.checksPollMin': '200ms',
        'timings.syncPoll': '200ms',
      },
    }),
    TemporalUi.start(),
  ]);
});
afterAll(async () => {
  await ui?.stop();
  await stack?.stop();
});

/** The tab with the summary, the instructions and the current details. */
async function openMetadata(quota: WatchedQuota): Promise<Page> {
  const path = `${encodeURIComponent(quota.workflowId)}/${await quota.runId()}`;
  return await ui.open(stack.temporal, `/workflows/${path}/user-metadata`);
}

describe('an operator in the Temporal UI', { timeout }, () => {
  it('reads what an episode waits for, approves it with a signal, and sees it merged in their name', async () => {
    const quota = await givenQuota(stack, { namespace: 'approval', hard: { 'requests.cpu': '2' } });
    await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 12, { cpu: '500m' }));
    // Only while it rests does something in the history say what it waits for.
    await restsIn(quota, 'AwaitingApproval', 'MaxStepExceeded', 90_000);
    const { number } = await quota.pullRequest();

    const page = await openMetadata(quota);
    await shown(page, 'AwaitingApproval');
    await shown(
      page,
      /has waited for an approval since 20[^ ]* \([^)]+ ago\): requests\.cpu from 2 to 7600m is more than 2 × the limit/,
    );
    await shown(page, 'approve the open pull request for its values and its head as they are now');
    const address = `${stack.forge.url}/acme/gitops/pull/${number}`;
    await shown(page, (frame) => frame.locator(`a[href="${address}"]`, { hasText: `#${number}` }));
    await picture(page, '1-awaiting-approval');

    await sendSignal(page, 'approve', { by: 'alice' }, '2');

    const cooling = await quota.reaches('CoolingDown');
    expect(cooling.lastCommand).toMatch(
      new RegExp(`approve: approved by "alice" \\(a claimed name\\): pull request #${number} at [0-9a-f]{12}`),
    );
    expect(await quota.shown(number)).toMatchObject({ merged: true });
    expect(await quota.inGit()).toContain('requests.cpu: "7600m"');
    const { events = [] } = await stack.client.workflow.getHandle(quota.workflowId).fetchHistory();
    const signals = events?.map((event) => event.workflowExecutionSignaledEventAttributes) ?? [];
    const approval = signals.find((signal) => signal?.signalName === 'approve');
    const payload = Buffer.from(approval?.input?.payloads?.[0]?.data ?? []).toString();
    expect(JSON.parse(payload)).toEqual({ by: 'alice' });

    const after = await openMetadata(quota);
    await shown(after, 'CoolingDown');
    await shown(after, /approved by "alice" \(a claimed name\) at/);
    await shown(after, /merged .* by headroom-bot/);
    await picture(after, '3-cooling-down');
    const history = await ui.open(
      stack.temporal,
      `/workflows/${encodeURIComponent(quota.workflowId)}/${await quota.runId()}/history`,
    );
    await shown(history, /AwaitingApproval \(MaxStepExceeded\)/);
    await picture(history, '4-history');
  });

  it('is told in the details why a signal did nothing', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'nothing',
      hard: { pods: '10' },
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    await quota.signal('approve', { by: 'alice' });
    const page = await openMetadata(quota);
    await shown(page, /last command: .* approve: pull request #\d+ needs no approval: its steps are within the policy/);
    await picture(page, '5-signal-refused');
  });

  it('finds the episodes in a phase by the search attributes', async () => {
    const quota = await givenQuota(stack, {
      namespace: 'found',
      hard: { pods: '10' },
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingMerge');
    const query = `HeadroomPhase = "AwaitingMerge" AND HeadroomTarget = "${quota.target.namespace}/compute"`;
    // A page lists what there is when it is opened, and the server lists a moment later than it knows.
    await eventually('the server lists it', async () => {
      for await (const { workflowId } of stack.client.workflow.list({ query })) return workflowId === quota.workflowId;
      return false;
    });
    const page = await ui.open(stack.temporal, `/workflows?query=${encodeURIComponent(query)}`);
    await shown(page, quota.workflowId);
    await picture(page, '6-found');
  });
});

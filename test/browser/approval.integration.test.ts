/** What an operator does in the Temporal UI, done by a real browser in the real UI. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Frame, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { findChromium } from '../../tools/browser/chromium.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { deniedWhileOptedOut } from '../quota-resize/denied.ts';
import { restsIn } from '../quota-resize/resting.ts';

const SCREENSHOTS = fileURLToPath(new URL('../../.headroom/screenshots/', import.meta.url));

/** For a browser that starts, or paints a page of the UI, while others have the cores: twice what Playwright waits by itself. */
const PATIENCE_MS = 60_000;
/**
 * A page that was opened while nobody answered for an episode may stay without what it asked for: it is opened again. The
 * first time after this long, and then after twice as long each time, as it may just as well be slow.
 */
const STALE_MS = 20_000;
/** A test has several pages, one after the other, and an episode before them. */
const timeout = 8 * PATIENCE_MS;

let stack: Stack;
let browser: Browser;
/** One for all pages: what the UI loads, and what its scripts compile to, is there for the next page. */
let context: BrowserContext;

beforeAll(async () => {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error('there is no browser for this test: run `npm run browser`, or set HEADROOM_CHROMIUM to a Chromium');
  }
  [stack, browser] = await Promise.all([
    startStack({
      files: { 'README.md': '# acme/gitops\n' },
      forge: { checks: 'pass', checkDelayMs: 50 },
      env: {
        HEADROOM_MODE: 'propose',
        ENABLE_AUTO_MERGE: 'true',
        HEADROOM_DEMAND_SETTLE: '300ms',
        HEADROOM_CHECKS_POLL_MIN: '200ms',
        HEADROOM_SYNC_POLL: '200ms',
      },
    }),
    chromium.launch({
      executablePath,
      timeout: PATIENCE_MS,
      args: [
        '--headless',
        // The browser only visits servers of this test, and containers have no user namespaces for its sandbox.
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    }),
    mkdir(SCREENSHOTS, { recursive: true }),
  ]);
  context = await browser.newContext({ viewport: { width: 1400, height: 1100 } });
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** A page of the Temporal UI; a picture of how it was left is taken in any case. */
async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(async () => await page.close());
  await page.goto(`${stack.temporal.uiUrl}/namespaces/${stack.temporal.namespace}${path}`);
  return page;
}

async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** The tab with the summary, the instructions and the current details. */
async function openMetadata(quota: WatchedQuota): Promise<Page> {
  const path = `${encodeURIComponent(quota.workflowId)}/${await quota.runId()}`;
  return await open(`/workflows/${path}/user-metadata`);
}

/** Waits until a text (or whatever is looked for) is visible, in the page or in one of the frames that Markdown is put into. */
async function shown(page: Page, what: string | RegExp | ((frame: Frame) => Locator)): Promise<void> {
  let openedAt = Date.now();
  let stale = STALE_MS;
  const isShown = async () => {
    for (const frame of page.frames()) {
      const found = typeof what === 'function' ? what(frame) : frame.getByText(what);
      if (await found.first().isVisible()) return true;
    }
    if (Date.now() > openedAt + stale) {
      await page.reload();
      openedAt = Date.now();
      stale *= 2;
    }
    return false;
  };
  const shown = typeof what === 'function' ? 'the element' : String(what);
  await eventually(`the page shows ${shown}`, isShown, 2 * PATIENCE_MS);
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

    await page.getByRole('button', { name: 'More Actions' }).first().click();
    await page.getByRole('menuitem', { name: 'Send a Signal' }).first().click();
    const dialog = page.getByTestId('signal-confirmation-modal').filter({ visible: true });
    await dialog.getByTestId('signal-select-button').click();
    await picture(page, '2-signals');
    await dialog.getByRole('option', { name: 'approve' }).click();
    await dialog.locator('.cm-content').click();
    await page.keyboard.type('{"by":"alice"}');
    await picture(page, '3-approve');
    await dialog.getByRole('button', { name: 'Submit' }).click();

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
    await picture(after, '4-cooling-down');
    const history = await open(`/workflows/${encodeURIComponent(quota.workflowId)}/${await quota.runId()}/history`);
    await shown(history, /AwaitingApproval \(MaxStepExceeded\)/);
    await picture(history, '5-history');
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
    await picture(page, '6-signal-refused');
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
    const page = await open(`/workflows?query=${encodeURIComponent(query)}`);
    await shown(page, quota.workflowId);
    await picture(page, '7-found');
  });
});

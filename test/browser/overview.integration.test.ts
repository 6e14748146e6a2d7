/** The overview page of a real starter in a real browser, without JavaScript. */
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { deniedWhileOptedOut } from '../quota-resize/denied.ts';
import { restsIn } from '../quota-resize/resting.ts';
import { launchBrowser, PATIENCE_MS, picture, widestEnd } from './browser.ts';

const timeout = 8 * PATIENCE_MS;

let stack: Stack;
let browser: Browser;
let url: string;
let quota: WatchedQuota;

beforeAll(async () => {
  [stack, browser] = await Promise.all([
    startStack({
      files: { 'README.md': '# acme/gitops\n' },
      forge: { checks: 'pass', checkDelayMs: 50 },
      env: {
        HEADROOM_MODE: 'propose',
        ENABLE_AUTO_MERGE: 'true',
        TEMPORAL_UI_URL: 'https://temporal.example.com',
        'timings.demandSettle': '300ms',
        'timings.checksPollMin': '200ms',
        'timings.syncPoll': '200ms',
      },
    }),
    launchBrowser(),
  ]);
  const starter = stack.processes.find(({ name }) => name === 'starter');
  const log = await readFile(starter?.logFile ?? '', 'utf8');
  [, url = ''] = /"url":"([^"]+)","msg":"the starter serves the overview"/.exec(log) ?? [];
  quota = await givenQuota(stack, { namespace: 'shop', hard: { 'requests.cpu': '2' } });
  await givenQuota(stack, { namespace: 'quiet', hard: { pods: '10' } });
  await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 12, { cpu: '500m' }));
  await restsIn(quota, 'AwaitingApproval', 'MaxStepExceeded', 90_000);
}, timeout);
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** A page until the end of the test. */
async function open(path = '/', options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, javaScriptEnabled: false, ...options });
  page.setDefaultTimeout(PATIENCE_MS);
  onTestFinished(async () => await page.close());
  await page.goto(`${url}${path}`);
  return page;
}

describe('an operator on the overview page', { timeout }, () => {
  it('reads what waits for a person, with the way to the pull request, to the workflow and the command that acts', async () => {
    const page = await open();
    const row = page.getByRole('table').first().getByRole('row', { name: 'quota shop/compute' });
    expect(await row.textContent()).toMatch(/a person.*ago.*requests\.cpu from 2 to 7600m is more than 2 × the limit/s);
    const { number, head } = await quota.pullRequest();
    expect(await row.getByRole('code').textContent()).toBe(
      `kubectl headroom approve shop/compute --head ${head.sha.slice(0, 12)} --reason WHY`,
    );
    const link = row.getByRole('link', { name: `Pull request #${number}` });
    expect(await link.getAttribute('href')).toBe(`${stack.forge.url}/acme/gitops/pull/${number}`);
    expect(await row.getByRole('link', { name: 'Workflow' }).getAttribute('href')).toBe(
      `https://temporal.example.com/namespaces/${stack.temporal.namespace}/workflows/${encodeURIComponent(quota.workflowId)}`,
    );
    await picture(page, 'overview-1-waiting');
  });

  it('reads what only the workflow says: that it is blocked', async () => {
    const lost = await givenQuota(stack, { namespace: 'lost', hard: { pods: '2' }, file: null });
    await lost.deploy('web', 4, { cpu: '10m' });
    await lost.reaches('Blocked', 'FileNotFound');
    const shown = await eventually('the page has what Temporal lists', async () => {
      const page = await open();
      const row = page.getByRole('row', { name: 'quota lost/compute' });
      return (await row.count()) === 1 ? await row.textContent() : undefined;
    });
    expect(shown).toMatch(
      /a person.*not known.*It is Blocked, until what blocks it is mended.*kubectl headroom status lost\/compute/s,
    );
  });

  it('finds the quotas by fullness, and those of one namespace', async () => {
    const page = await open();
    const quotas = page.getByRole('table').last();
    const names = await quotas.getByRole('rowheader').allTextContents();
    expect(names.indexOf('shop/compute')).toBeLessThan(names.indexOf('quiet/compute'));
    await page.getByLabel('Only the namespace').fill('quiet');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL('**/?namespace=quiet');
    expect(await page.getByRole('table').getByRole('rowheader').allTextContents()).toEqual(['quiet/compute']);
    await page.getByRole('link', { name: 'Show all namespaces' }).click();
    expect(await page.getByRole('rowheader', { name: 'shop/compute' }).count()).toBeGreaterThan(1);
  });

  it.each(['light', 'dark'] as const)(
    'reads it on a phone, in the %s colours: nothing is wider than the screen',
    async (colorScheme) => {
      const page = await open('/', { viewport: { width: 360, height: 780 }, colorScheme });
      expect(await widestEnd(page)).toBeLessThanOrEqual(360);
      await picture(page, `overview-2-phone-${colorScheme}`);
    },
  );

  it('has it read out: every table by its caption, every cell by its row and its column', async () => {
    for (const width of [1280, 360]) {
      const page = await open('/', { viewport: { width, height: 900 } });
      const spoken = await page.locator('body').ariaSnapshot();
      expect(spoken).toContain('heading "Headroom in ');
      expect(spoken).toMatch(/- table "\d+ of \d+ wait for a person\./);
      expect(spoken).toMatch(/rowheader "quota shop\/compute"/);
      expect(spoken).toContain('columnheader "Waits for"');
      expect(spoken).toContain('navigation "Tables"');
      expect(spoken).toContain('textbox "Only the namespace"');
      // The bars repeat the numbers.
      expect(spoken).not.toContain('meter');
    }
  });

  it('sees it change by itself once the approval is given', async () => {
    const page = await open();
    await quota.signal('approve', { by: 'alice' });
    await quota.reaches('CoolingDown');
    // Longer than the 30 seconds after which the page is loaded again.
    await eventually(
      'the page no longer has it among what waits',
      async () => (await page.getByRole('rowheader', { name: 'quota shop/compute' }).count()) === 0,
      PATIENCE_MS,
    );
    await picture(page, 'overview-3-approved');
  });
});

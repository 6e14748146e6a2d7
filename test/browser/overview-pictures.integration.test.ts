/** The overview with every table, on a wide screen and on a phone, in both colour schemes: the pictures of docs/overview.md. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { ListeningServer } from '../../platform/health/health.ts';
import { serveOverview } from '../../starter/overview/server.ts';
import { everything } from '../starter/overview/everything.ts';
import { launchBrowser, PATIENCE_MS, picture, widestEnd } from './browser.ts';

let browser: Browser;
let server: ListeningServer;

beforeAll(async () => {
  server = await serveOverview({ ...everything, address: { host: '127.0.0.1', port: 0 } });
  browser = await launchBrowser();
}, PATIENCE_MS);
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

async function open(width: number, height: number, colorScheme: 'light' | 'dark') {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, javaScriptEnabled: false });
  onTestFinished(async () => await page.close());
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  await page.goto(server.url);
  return { page, messages };
}

const SCREENS = [
  ['wide', 1100, 640],
  ['phone', 360, 640],
] as const;

describe('the overview with every table', { timeout: 2 * PATIENCE_MS }, () => {
  it.each(SCREENS.flatMap((screen) => (['light', 'dark'] as const).map((scheme) => [...screen, scheme] as const)))(
    'is shown on a %s screen (%d × %d) in %s colours: nothing is cut off, and the policy of its content holds nothing back',
    async (name, width, height, scheme) => {
      const { page, messages } = await open(width, height, scheme);
      expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
        'What waits',
        'Quotas',
        'Schedules',
        'Caches',
        'Node groups',
        'Nodes and what holds them',
      ]);
      expect(await widestEnd(page)).toBeLessThanOrEqual(width);
      expect(messages).toEqual([]);
      await picture(page, `overview-${name}-${scheme}`);
    },
  );

  it('is reached and left with the keyboard alone', async () => {
    const { page } = await open(1280, 900, 'light');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('To the tables');
    await page.keyboard.press('Enter');
    expect(new URL(page.url()).hash).toBe('#main');
  });
});

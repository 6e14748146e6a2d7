/** A real browser. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';
import { findChromium } from '../../tools/browser/chromium.ts';

const SCREENSHOTS = fileURLToPath(new URL('../../.headroom/screenshots/', import.meta.url));

/** For a browser that starts, or paints a page, while others have the cores: twice what Playwright waits by itself. */
export const PATIENCE_MS = 60_000;

export async function launchBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error('there is no browser for this test: run `npm run browser`, or set HEADROOM_CHROMIUM to a Chromium');
  }
  await mkdir(SCREENSHOTS, { recursive: true });
  return await chromium.launch({
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
  });
}

export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Where the content that reaches furthest to the right ends, in pixels; what is moved off the screen does not count. */
export async function widestEnd(page: Page): Promise<number> {
  return await page.evaluate<number>(
    `Math.max(...[...document.querySelectorAll('main *, header *')].map((element) => {
      const { left, right } = element.getBoundingClientRect();
      return left < 0 ? 0 : right;
    }))`,
  );
}

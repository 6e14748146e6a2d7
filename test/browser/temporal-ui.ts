/** The Temporal UI in a real browser. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium, type Frame, type Locator, type Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { findChromium } from '../../tools/browser/chromium.ts';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';

const SCREENSHOTS = fileURLToPath(new URL('../../.headroom/screenshots/', import.meta.url));

/** For a browser that starts, or paints a page of the UI, while others have the cores: twice what Playwright waits by itself. */
export const PATIENCE_MS = 60_000;
/**
 * A page that was opened while nobody answered for an episode may stay without what it asked for: it is opened again. The
 * first time after this long, and then after twice as long each time, as it may just as well be slow.
 */
const STALE_MS = 20_000;

export class TemporalUi {
  readonly #browser: Browser;
  /** One for all pages: what the UI loads, and what its scripts compile to, is there for the next page. */
  readonly #context: BrowserContext;

  private constructor(browser: Browser, context: BrowserContext) {
    this.#browser = browser;
    this.#context = context;
  }

  static async start(): Promise<TemporalUi> {
    const executablePath = findChromium();
    if (executablePath === undefined) {
      throw new Error(
        'there is no browser for this test: run `npm run browser`, or set HEADROOM_CHROMIUM to a Chromium',
      );
    }
    await mkdir(SCREENSHOTS, { recursive: true });
    const browser = await chromium.launch({
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
    return new TemporalUi(browser, await browser.newContext({ viewport: { width: 1400, height: 1100 } }));
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }

  /** A page, until the end of the test. */
  async open({ uiUrl, namespace }: Pick<TemporalServer, 'uiUrl' | 'namespace'>, path: string): Promise<Page> {
    const page = await this.#context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    onTestFinished(async () => await page.close());
    await page.goto(`${uiUrl}/namespaces/${namespace}${path}`);
    return page;
  }
}

export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) });
}

/** Waits until a text (or whatever is looked for) is visible, in the page or in one of the frames that Markdown is put into. */
export async function shown(page: Page, what: string | RegExp | ((frame: Frame) => Locator)): Promise<void> {
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

/** Sends a signal from the page of a workflow, as a person does: it is chosen, and its input typed. */
export async function sendSignal(page: Page, signal: string, input: object, pictures: string): Promise<void> {
  await page.getByRole('button', { name: 'More Actions' }).first().click();
  await page.getByRole('menuitem', { name: 'Send a Signal' }).first().click();
  const dialog = page.getByTestId('signal-confirmation-modal').filter({ visible: true });
  await dialog.getByTestId('signal-select-button').click();
  await picture(page, `${pictures}-signals`);
  await dialog.getByRole('option', { name: signal }).click();
  await dialog.locator('.cm-content').click();
  await page.keyboard.type(JSON.stringify(input));
  await picture(page, `${pictures}-${signal}`);
  await dialog.getByRole('button', { name: 'Submit' }).click();
}

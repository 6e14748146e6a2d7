/** The Temporal UI in a real browser. */
import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { launchBrowser, PATIENCE_MS, picture } from './browser.ts';

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
    const browser = await launchBrowser();
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

import { describe, expect, it } from 'vitest';
import { html, linkTarget } from '../../../starter/overview/html.ts';
import { overviewPage, type PageView, ROWS_A_PAGE } from '../../../starter/overview/page.ts';
import type { OverviewRow, Waiting } from '../../../starter/overview/part.ts';
import { colours, style } from '../../../starter/overview/style.ts';
import { NOW } from './quotas.ts';

const waiting: Waiting = {
  what: 'quota team-a/compute',
  whom: 'GitHub',
  isForPeople: false,
  since: NOW - 3_600_000,
  why: 'Checks let it be merged.',
  links: [{ text: 'Pull request #7', url: 'https://github.example.com/acme/gitops/pull/7' }],
  workflow: 'quota-resize/c1/team-a/compute',
  command: 'kubectl headroom status team-a/compute',
};

function page(other: Partial<PageView> = {}): string {
  const view = {
    cluster: 'c1',
    now: NOW,
    nonce: 'n',
    parts: [],
    workflowUrl: (id: string) => `https://temporal.example.com/${id}`,
    troubles: [],
    namespace: null,
    refreshes: true,
    pages: {},
  };
  return overviewPage({ ...view, ...other });
}

function tableOf(total: number, row: (index: number) => OverviewRow) {
  const rows = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => row(from + index));
  return { id: 'things', title: 'Things', columns: ['Thing', 'State'], empty: 'There is no thing.', total, rows };
}

const plain = (index: number): OverviewRow => ({
  cells: [{ text: `thing-${index}` }, { text: 'fine' }],
  links: [],
  workflow: null,
  command: null,
});

describe('what others wrote', () => {
  const hostile = "\"><script>alert(1)</script><a href='x'>&amp; \u202e";

  it('is text wherever it stands', () => {
    const row: OverviewRow = {
      cells: [
        { text: hostile, detail: hostile },
        { text: hostile, tone: 'bad', percent: Number.NaN },
      ],
      links: [{ text: hostile, url: hostile }],
      workflow: hostile,
      command: hostile,
    };
    const table = { ...tableOf(1, () => row), id: 'x', title: hostile, columns: [hostile, hostile], summary: hostile };
    const text = page({
      cluster: hostile,
      namespace: hostile,
      troubles: [hostile],
      parts: [
        { waiting: [{ ...waiting, what: hostile, whom: hostile, why: hostile, command: hostile }], tables: [table] },
      ],
    });
    expect(text).not.toContain('<script');
    expect(text).not.toContain("href='x'");
    expect(text).not.toContain('\u202e');
    expect(text).toContain(
      '&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;a href=&#39;x&#39;&gt;&amp;amp; [U+202E]',
    );
  });

  it('is cut where it is long, so that nobody makes the page too large for others', () => {
    const long = 'x'.repeat(1_000_000);
    const row = {
      ...plain(0),
      cells: [
        { text: long, detail: long },
        { text: long, at: NOW },
      ],
    };
    const text = page({
      parts: [{ waiting: [{ ...waiting, what: long, why: long, command: long }], tables: [tableOf(1, () => row)] }],
    });
    expect(text.length).toBeLessThan(20_000);
    expect(text).toContain('xxx…');
  });

  it.each([
    ['javascript:alert(1)', null],
    ['JAVASCRIPT:alert(1)', null],
    [' \tjava\nscript:alert(1)', null],
    ['data:text/html,x', null],
    ['//github.example.com/x', null],
    ['https://user:password@github.example.com/x', null],
    ['', null],
    ['https://github.example.com/"x', 'https://github.example.com/%22x'],
    ['http://localhost:8080/a', 'http://localhost:8080/a'],
  ])('leads nowhere but to http and https: %j', (url, target) => {
    expect(linkTarget(url)).toBe(target);
    const text = page({ parts: [{ waiting: [{ ...waiting, links: [{ text: 'there', url }] }], tables: [] }] });
    expect(text.includes('>there</a>')).toBe(target !== null);
    expect(text).toContain('there');
  });

  it.each([
    'approve team-a/x; rm -rf /',
    'approve $(id)',
    'approve `id`',
    'approve a\nb',
    'approve a  b',
    'approve >x',
    'approve "a"',
  ])('is in no command that people copy into a shell: %j', (command) => {
    expect(page({ parts: [{ waiting: [{ ...waiting, command }], tables: [] }] })).not.toContain('<code>');
  });

  it('is escaped once, and pieces of HTML are not escaped again', () => {
    expect(
      html`<p title="${'a"b'}">${html`<b>${'<'}</b>`}${null}${[html`<i></i>`, html`<u></u>`]}${7}</p>`.toString(),
    ).toBe('<p title="a&quot;b"><b>&lt;</b><i></i><u></u>7</p>');
  });
});

describe('the page', () => {
  it('has first what waits for people, and of these first what waits longest', () => {
    const rows = [
      { ...waiting, what: 'a' },
      { ...waiting, what: 'b', isForPeople: true, since: NOW - 1_000 },
      { ...waiting, what: 'c', isForPeople: true, since: NOW - 9_000 },
      { ...waiting, what: 'd', since: null },
    ];
    const text = page({
      parts: [
        { waiting: rows.slice(0, 2), tables: [] },
        { waiting: rows.slice(2), tables: [] },
      ],
    });
    const names = [...text.matchAll(/role="rowheader">(\w)</g)].map(([, name]) => name);
    expect(names).toEqual(['c', 'b', 'a', 'd']);
    expect(text).toContain('2 of 4 wait for a person.');
    expect(text).toContain('not known');
  });

  it('says since when and for whom, with the links and the command that acts', () => {
    const text = page({ parts: [{ waiting: [waiting], tables: [] }] });
    expect(text).toContain(
      '60 min ago<small><time datetime="2026-11-28T11:00:00Z">2026-11-28T11:00:00Z</time></small>',
    );
    expect(text).toContain(
      '<a href="https://github.example.com/acme/gitops/pull/7" rel="noreferrer">Pull request #7</a>',
    );
    expect(text).toContain(
      '<code><span>kubectl</span> <span>headroom</span> <span>status</span> <span>team-a/compute</span></code>',
    );
    expect(text).toContain(
      '<a href="https://temporal.example.com/quota-resize/c1/team-a/compute" rel="noreferrer">Workflow</a>',
    );
    expect(page({ parts: [{ waiting: [waiting], tables: [] }], workflowUrl: () => null })).not.toContain('Workflow');
  });

  it('makes the rows of one page, and leads to the others with what is chosen', () => {
    const made: number[] = [];
    const table = tableOf(2 * ROWS_A_PAGE + 1, (index) => {
      made.push(index);
      return plain(index);
    });
    const text = page({ parts: [{ waiting: [], tables: [table] }], pages: { things: 2 }, refreshes: false });
    expect(made).toEqual(Array.from({ length: ROWS_A_PAGE }, (_, index) => ROWS_A_PAGE + index));
    expect(text).toContain(`${ROWS_A_PAGE + 1} to ${2 * ROWS_A_PAGE} of ${2 * ROWS_A_PAGE + 1}.`);
    expect(text).toContain('href="/?refresh=off#things" rel="prev">Page 1<');
    expect(text).toContain('href="/?refresh=off&amp;things=3#things" rel="next">Page 3<');
    expect(text).toContain('Page 2 of 3');
  });

  it('has the last page for a number that is too large, and a sentence for a table without rows', () => {
    const last = page({ parts: [{ waiting: [], tables: [tableOf(ROWS_A_PAGE + 1, plain)] }], pages: { things: 99 } });
    expect(last).toContain('Page 2 of 2');
    const empty = page({ parts: [{ waiting: [], tables: [tableOf(0, plain)] }] });
    expect(empty).toContain('There is no thing.');
    expect(empty).toContain('Nothing waits.');
  });

  it('is in the order that a screen reader follows, with names for everything', () => {
    const text = page({ parts: [{ waiting: [waiting], tables: [tableOf(1, plain)] }] });
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(text).toContain('<th scope="col" role="columnheader">Thing</th>');
    expect(text).toContain('<th scope="row" role="rowheader">thing-0</th>');
    expect(text).toContain('<section aria-labelledby="things">');
    expect(text).toContain('<label for="namespace">');
    expect(text.match(/<h1>/g)).toHaveLength(1);
    expect(text.match(/<table /g)).toHaveLength(text.match(/<caption>/g)?.length ?? 0);
  });
});

describe('the style sheet', () => {
  it('has nothing that HTML would escape', () => {
    expect(style).not.toMatch(/[&<>"']/);
  });

  // https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
  const channel = (value: number): number => (value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const luminance = (colour: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
      channel(Number.parseInt(colour.slice(at, at + 2), 16) / 255),
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (a: string, b: string): number => {
    const [light = 0, dark = 0] = [luminance(a), luminance(b)].toSorted((x, y) => y - x);
    return (light + 0.05) / (dark + 0.05);
  };

  it.each(['light', 'dark'] as const)('has a contrast of 4.5 at least for every text in the %s scheme', (scheme) => {
    const { paper, band, line: _, ...texts } = colours[scheme];
    for (const [name, colour] of Object.entries(texts)) {
      for (const ground of [paper, band])
        expect({ name, ground, contrast: contrast(colour, ground) >= 4.5 }).toEqual({ name, ground, contrast: true });
    }
  });
});

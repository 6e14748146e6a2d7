/** The overview page, from what the controllers say about themselves. */
import { truncate } from '../../domain/kernel/sentence.ts';
import { type EpochMs, formatInstant, formatSpan, fromNow } from '../../domain/kernel/time.ts';
import { type Html, html, linkTarget } from './html.ts';
import type { OverviewCell, OverviewLink, OverviewPart, OverviewRow, OverviewTable, Waiting } from './part.ts';
import { style } from './style.ts';

/** Seconds after which a browser asks again. */
export const REFRESH_SECONDS = 30;
/** Rows of one table on a page. */
export const ROWS_A_PAGE = 50;
/** Characters of one text: an object of somebody's may have a megabyte. */
const LONGEST_TEXT = 1_000;

export interface PageView {
  readonly cluster: string;
  readonly now: EpochMs;
  readonly nonce: string;
  readonly parts: readonly OverviewPart[];
  /** The address of a workflow in Temporal's UI; null where that is not configured. */
  readonly workflowUrl: (workflowId: string) => string | null;
  /** Sentences about watches that are not current. */
  readonly troubles: readonly string[];
  readonly namespace: string | null;
  readonly refreshes: boolean;
  /** By the id of a table, the first being 1. */
  readonly pages: Readonly<Record<string, number>>;
}

/** The whole document. */
export function overviewPage(view: PageView): string {
  const { cluster, now, nonce, parts, troubles, namespace, refreshes } = view;
  const tables = [waitingTable(parts), ...parts.flatMap((part) => part.tables)];
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Headroom in ${cluster}</title>
<style nonce="${nonce}">${style}</style>
</head>
<body>
<a class="skip" href="#main">To the tables</a>
<header>
<h1>Headroom in ${cluster}</h1>
<p>As of ${time(now)}. ${refreshText(view)}</p>
<form method="get" role="search">
<label for="namespace">Only the namespace</label>
<input id="namespace" name="namespace" value="${namespace ?? ''}" autocomplete="off" spellcheck="false">
${refreshes ? null : html`<input type="hidden" name="refresh" value="off">`}
<button>Show</button>
${namespace === null ? null : html`<a href="${address(view, { namespace: null })}">Show all namespaces</a>`}
</form>
<nav aria-label="Tables"><ul>
${tables.map(({ id, title, total }) => html`<li><a href="#${id}">${title} (${total})</a></li>\n`)}</ul></nav>
</header>
<main id="main">
${troubles.map((trouble) => html`<p class="bad" role="status">${trouble}</p>\n`)}
${tables.map((table) => section(table, view))}</main>
</body>
</html>
`.toString();
}

function refreshText(view: PageView): Html {
  return view.refreshes
    ? html`It is loaded again every ${REFRESH_SECONDS} seconds: <a href="${address(view, { refreshes: false })}">stop that</a>.`
    : html`It stays as it is: <a href="${address(view, { refreshes: true })}">load it again every ${REFRESH_SECONDS} seconds</a>.`;
}

type Place = Pick<PageView, 'namespace' | 'refreshes' | 'pages'>;

/** The page's address with something else of it. */
function address({ namespace, refreshes, pages }: Place, other: Partial<Place>): string {
  const place = { namespace, refreshes, pages, ...other };
  const query = new URLSearchParams();
  if (place.namespace !== null) query.set('namespace', place.namespace);
  if (!place.refreshes) query.set('refresh', 'off');
  // Of another namespace there are other pages.
  if (other.namespace === undefined) {
    for (const [id, page] of Object.entries(place.pages)) if (page > 1) query.set(id, String(page));
  }
  return query.size === 0 ? '/' : `/?${query.toString()}`;
}

/** What waits, of all controllers: first what waits for people, and of these first what waits longest. */
function waitingTable(parts: readonly OverviewPart[]): OverviewTable {
  const waiting = parts
    .flatMap((part) => part.waiting)
    .toSorted(
      (a, b) =>
        Number(b.isForPeople) - Number(a.isForPeople) ||
        (a.since ?? Number.POSITIVE_INFINITY) - (b.since ?? Number.POSITIVE_INFINITY) ||
        (a.what < b.what ? -1 : 1),
    );
  const people = waiting.filter(({ isForPeople }) => isForPeople).length;
  return {
    id: 'waiting',
    title: 'What waits',
    columns: ['What', 'Waits for', 'Since', 'Until'],
    empty: 'Nothing waits.',
    ...(people === 0 ? {} : { summary: `${people} of ${waiting.length} wait for a person.` }),
    total: waiting.length,
    rows: (from, to) => waiting.slice(from, to).map(waitingRow),
  };
}

function waitingRow({ what, whom, isForPeople, since, why, ...ways }: Waiting): OverviewRow {
  return {
    cells: [
      { text: what },
      { text: whom, ...(isForPeople ? { tone: 'bad' as const } : {}) },
      since === null ? { text: 'not known' } : { text: '', at: since },
      { text: why },
    ],
    ...ways,
  };
}

function section(table: OverviewTable, view: PageView): Html {
  const { id, title, columns, empty, summary, total } = table;
  const heading = html`<h2 id="${id}">${title}</h2>\n`;
  if (total === 0) return html`<section aria-labelledby="${id}">\n${heading}<p>${empty}</p>\n</section>\n`;
  const pages = Math.ceil(total / ROWS_A_PAGE);
  const page = Math.min(view.pages[id] ?? 1, pages);
  const from = (page - 1) * ROWS_A_PAGE;
  const to = Math.min(from + ROWS_A_PAGE, total);
  const shown = pages === 1 ? `${total} in all.` : `${from + 1} to ${to} of ${total}.`;
  const all = [...columns, 'Links and command'];
  return html`<section aria-labelledby="${id}">
${heading}<table role="table">
<caption>${[summary, shown].filter((text) => text !== undefined).join(' ')}</caption>
<thead role="rowgroup"><tr role="row">${all.map((name) => html`<th scope="col" role="columnheader">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${table.rows(from, to).map((row) => tableRow(row, all, view))}</tbody>
</table>
${pages === 1 ? null : pageLinks(table, page, pages, view)}</section>
`;
}

function pageLinks({ id, title }: OverviewTable, page: number, pages: number, view: PageView): Html {
  const to = (other: number): string => `${address(view, { pages: { ...view.pages, [id]: other } })}#${id}`;
  return html`<nav class="pages" aria-label="Pages of ${title}">
${page > 1 ? html`<a href="${to(page - 1)}" rel="prev">Page ${page - 1}</a> ` : null}<span aria-current="page">Page ${page} of ${pages}</span>${page < pages ? html` <a href="${to(page + 1)}" rel="next">Page ${page + 1}</a>` : null}
</nav>
`;
}

function tableRow(row: OverviewRow, columns: readonly string[], { now, workflowUrl }: PageView): Html {
  const [name, ...others] = row.cells;
  return html`<tr role="row"><th scope="row" role="rowheader">${name === undefined ? null : content(name, now)}</th>${others.map(
    (cell, index) => html`<td role="cell" data-column="${columns[index + 1] ?? ''}">${content(cell, now)}</td>`,
  )}${ways(row, columns.at(-1) ?? '', workflowUrl)}</tr>
`;
}

/** People copy it into a shell, and a part of it may be what somebody else wrote into an object. */
const COMMAND = /^[A-Za-z0-9._:/=-]+(?: [A-Za-z0-9._:/=-]+)*$/;

function ways(
  { links, workflow, command }: Pick<OverviewRow, 'links' | 'workflow' | 'command'>,
  column: string,
  workflowUrl: PageView['workflowUrl'],
): Html {
  const url = workflow === null ? null : workflowUrl(workflow);
  const all = url === null ? links : [...links, { text: 'Workflow', url }];
  const isWords = command !== null && command.length <= LONGEST_TEXT && COMMAND.test(command);
  const shown = isWords ? command : null;
  if (all.length === 0 && shown === null) return html`<td role="cell"></td>`;
  return html`<td role="cell" data-column="${column}"><div class="ways">${all.map(link)}${
    shown === null
      ? null
      : html`<code>${shown.split(' ').map((word, index) => html`${index === 0 ? '' : ' '}<span>${word}</span>`)}</code>`
  }</div></td>`;
}

function link({ text, url }: OverviewLink): Html {
  const target = linkTarget(url);
  return target === null ? html`<span>${text}</span>` : html`<a href="${target}" rel="noreferrer">${text}</a>`;
}

function content({ text: whole, detail, percent, at, tone }: OverviewCell, now: EpochMs): Html {
  const text = truncate(whole, LONGEST_TEXT);
  const shown = at === undefined ? html`${text}` : html`${text === '' ? '' : `${text} `}${moment(at, now)}`;
  return html`${tone === undefined ? shown : html`<span class="${tone}">${shown}</span>`}${
    percent === undefined ? null : meter(percent)
  }${detail === undefined ? null : html`<small>${truncate(detail, LONGEST_TEXT)}</small>`}`;
}

/** The number stands beside it, so it is not read out twice. */
function meter(percent: number): Html {
  const value = Math.max(0, Math.min(100, percent));
  return html` <meter aria-hidden="true" min="0" max="100" low="80" high="99.99" optimum="0" value="${value}"></meter>`;
}

function time(at: EpochMs): Html {
  const instant = formatInstant(at);
  return html`<time datetime="${instant}">${instant}</time>`;
}

function moment(at: EpochMs, now: EpochMs): Html {
  const away = Math.abs(at - now) < 1000 ? `${formatSpan(0)} ago` : fromNow(at, now);
  return html`${away}<small>${time(at)}</small>`;
}

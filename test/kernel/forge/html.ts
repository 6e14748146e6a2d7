import type { ForgeContext } from './context.ts';
import { mergeableState } from './merge-rules.ts';
import type { PullRequest } from './model.ts';

const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --soft: light-dark(#f6f8fa, #161b22); }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; margin-bottom: .3rem; } h1 small { font-weight: 400; opacity: .6; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; } td, th { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left; }
.state { border-radius: 1rem; color: #fff; padding: .2rem .8rem; }
.open { background: #1a7f37; } .merged { background: #8250df; } .closed { background: #cf222e; } .draft { background: #59636e; }
.text { white-space: pre-wrap; border: 1px solid var(--line); border-radius: .4rem; padding: 1rem; }
.file { border: 1px solid var(--line); border-radius: .4rem; margin: 1rem 0; overflow-x: auto; }
.file > header { background: var(--soft); padding: .5rem .8rem; border-bottom: 1px solid var(--line); }
.file pre { margin: 0; } .file span { display: block; padding: 0 .8rem; min-height: 1.5em; }
.add { background: light-dark(#dafbe1, #12341f); } .del { background: light-dark(#ffebe9, #45171b); } .hunk { opacity: .6; background: var(--soft); }
`;

interface Page {
  readonly contentType: string;
  readonly text: string;
}

const html = (text: string): Page => ({ contentType: 'text/html; charset=utf-8', text });

/** A page for people, or a pull request's diff as text: undefined when the path is none of the forge's pages. */
export async function page(forge: ForgeContext, path: string): Promise<Page | undefined> {
  const own = `/${forge.owner}/${forge.repo}`;
  if (path === '/' || path === own || path === `${own}/pulls`) return html(await list(forge));
  const [, number, diff] = path.startsWith(own)
    ? (/^\/pull\/(\d+)(\.diff|\.patch)?$/.exec(path.slice(own.length)) ?? [])
    : [];
  const pull = forge.store.state.pulls.find((candidate) => String(candidate.number) === number);
  if (!pull) return undefined;
  await forge.pulls.refresh(pull);
  if (diff === undefined) return html(await pullRequest(forge, pull));
  const text = await forge.git.diffText(pull.mergeBaseSha, pull.headSha);
  return { contentType: 'text/plain; charset=utf-8', text };
}

async function list(forge: ForgeContext): Promise<string> {
  await Promise.all(forge.store.state.pulls.map((pull) => forge.pulls.refresh(pull)));
  const rows = [...forge.store.state.pulls].reverse().map((pull) => {
    const link = `<a href="/${e(forge.owner)}/${e(forge.repo)}/pull/${pull.number}">${e(pull.title)}</a>`;
    return `<tr><td>#${pull.number}</td><td>${link}</td><td>${badge(pull)}</td><td>${e(pull.user)}</td><td>${pull.updatedAt}</td></tr>`;
  });
  const table =
    rows.length > 0
      ? `<table><tr><th></th><th>Title</th><th>State</th><th>By</th><th>Updated</th></tr>${rows.join('')}</table>`
      : '<p>There are no pull requests yet.</p>';
  return document(
    `${forge.owner}/${forge.repo}`,
    `<h1>Pull requests of ${e(forge.owner)}/${e(forge.repo)}</h1>${table}`,
  );
}

async function pullRequest(forge: ForgeContext, pull: PullRequest): Promise<string> {
  const mergeable = await forge.pulls.mergeable(pull);
  const state = mergeableState(await forge.pulls.facts(pull, mergeable));
  const [files, shas] = await Promise.all([forge.pulls.files(pull), forge.pulls.commits(pull)]);
  const commits = await Promise.all(shas.map((sha) => forge.git.commit(sha)));
  const checks = [
    ...forge.checks.latestRuns(pull.headSha).map((run) => [run.name, run.conclusion ?? run.status, run.startedAt]),
    ...forge.checks.latestStatuses(pull.headSha).map((status) => [status.context, status.state, status.createdAt]),
  ];
  const reviews = forge.store.state.reviews.filter((review) => review.pull === pull.number);
  const comments = forge.store.state.comments.filter((comment) => comment.issue === pull.number);
  const end =
    pull.mergedAt === null
      ? pull.state === 'open'
        ? `Merging: <b>${state}</b>.`
        : `Closed by ${e(pull.closedBy ?? 'unknown')} on ${pull.closedAt}.`
      : `Merged by ${e(pull.mergedBy ?? 'unknown')} on ${pull.mergedAt} as <code>${pull.mergeCommitSha?.slice(0, 10)}</code>.`;
  const parts = [
    `<p><a href="/${e(forge.owner)}/${e(forge.repo)}/pulls">${e(forge.owner)}/${e(forge.repo)}</a></p>`,
    `<h1>${e(pull.title)} <small>#${pull.number}</small></h1>`,
    `<p>${badge(pull)} ${e(pull.user)} wants to merge <code>${e(pull.headRef)}</code> into <code>${e(pull.baseRef)}</code>, opened ${pull.createdAt}. ${end}</p>`,
    `<div class="text">${e(pull.body ?? 'No description.')}</div>`,
    section('Checks', ['Name', 'Result', 'Since'], checks),
    section(
      'Reviews',
      ['By', 'Verdict', 'When'],
      reviews.map((review) => [review.user, review.state, review.submittedAt]),
    ),
    section(
      'Comments',
      ['By', 'Text', 'When'],
      comments.map((comment) => [comment.user, comment.body, comment.createdAt]),
    ),
    section(
      'Commits',
      ['SHA', 'Message', 'By', 'When'],
      commits.map((commit) => [
        commit.sha.slice(0, 10),
        commit.message.split('\n')[0] ?? '',
        commit.author.name,
        commit.author.date,
      ]),
    ),
    `<h2>Changes: ${files.length} ${files.length === 1 ? 'file' : 'files'}</h2>`,
    ...files.map((file) => {
      const lines = (file.patch ?? '').split('\n').map((line) => `<span class="${lineKind(line)}">${e(line)}</span>`);
      return `<div class="file"><header><code>${e(file.path)}</code> ${file.status}, +${file.additions} −${file.deletions}</header><pre>${lines.join('')}</pre></div>`;
    }),
  ];
  return document(`${pull.title} · #${pull.number}`, parts.join('\n'));
}

function section(title: string, columns: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const head = columns.map((column) => `<th>${column}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${e(cell)}</td>`).join('')}</tr>`).join('');
  return `<h2>${title}</h2><table><tr>${head}</tr>${body}</table>`;
}

function badge(pull: PullRequest): string {
  const state = pull.mergedAt ? 'merged' : pull.state === 'open' && pull.draft ? 'draft' : pull.state;
  return `<span class="state ${state}">${state}</span>`;
}

function lineKind(line: string): string {
  if (line.startsWith('@@')) return 'hunk';
  return line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : '';
}

function document(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${e(title)}</title><style>${STYLE}</style><body>${body}</body></html>`;
}

/** Text as it may stand in HTML, in an attribute too. */
function e(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

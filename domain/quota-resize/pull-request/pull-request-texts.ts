/**
 * The texts and names that Headroom writes to a repository: branch, commit, pull request and comments. Reviewers read
 * them, and Headroom recognizes its own work by them.
 */
import { oneLine, truncate, visibleText } from '../../kernel/sentence.ts';
import { type QuotaTarget, targetName } from '../../kernel/target.ts';
import type { LimitChange } from '../model/decision.ts';
import { escapeMarkdown } from './markdown.ts';
import { type BodyFacts, bodyContext, type QuotaChanges } from './body.ts';
import { bodySamples, sampleChange } from './body-samples.ts';
import { builtInTemplates } from './built-in-templates.ts';
import { compileTemplate, type Samples, TemplateError, type TextTemplate } from './compile-template.ts';

/** GitHub rejects a longer title. */
const TITLE_LENGTH = 256;
/** GitHub rejects a body above 65,536 characters. */
const BODY_LENGTH = 60_000;
/** GitHub rejects a longer label. */
const LABEL_LENGTH = 50;
/** Git stores a loose ref in a file named after the last part plus `.lock`, and file names are limited to 255 bytes. */
const MAX_PART = 80;

/** The data of a title, a commit message and labels. */
export interface ChangeFacts {
  readonly target: QuotaTarget;
  readonly decisionId: string;
  /** `owner/name`. */
  readonly repository: string;
  /** The decision's own quota first, then its batched quotas. */
  readonly quotas: readonly QuotaChanges[];
}

/** The names available to titles, commit messages and labels. */
interface ChangeContext {
  readonly id: string;
  readonly cluster: string;
  readonly namespace: string;
  readonly quota: string;
  /** `team-a/compute` */
  readonly target: string;
  readonly repository: string;
  /** Whether several quotas are raised. */
  readonly several: boolean;
  /** `requests.cpu 2 → 3600m and 1 more` */
  readonly summary: string;
  readonly changes: readonly Readonly<Record<'quota' | 'resource' | 'used' | 'from' | 'to' | 'reason', string>>[];
}

type BranchContext = Readonly<Record<'id' | 'cluster' | 'namespace' | 'quota', string>>;

/** The texts that operators may replace with Handlebars templates. */
export interface TextTemplates {
  readonly title: string;
  readonly body: string;
  /** Without the trailers by which Headroom recognizes its commits; they are appended. */
  readonly commit: string;
  readonly branch: string;
  readonly labels: readonly string[];
}

/** All texts of a pull request, by the templates in force. */
export interface PullRequestTexts {
  /** Always a legal ref name. */
  branch(target: QuotaTarget, decisionId: string): string;
  /** What the names of all branches of a quota begin with, before the decision's id; may be empty. */
  branchBeginning(target: QuotaTarget): string;
  /** What the names of all branches of a cluster begin with; may be empty, or that of other clusters as well. */
  branchBeginningOf(cluster: string): string;
  title(facts: ChangeFacts): string;
  commit(facts: ChangeFacts): string;
  /** The commit that a merge makes; the title ends with the pull request's number, as the forge itself does it. */
  merge(facts: ChangeFacts, number: number): { readonly title: string; readonly message: string };
  labels(facts: ChangeFacts): readonly string[];
  /** The description in GitHub's Markdown. */
  body(facts: BodyFacts): string;
}

/**
 * The texts by these templates; Headroom's own where one is absent.
 *
 * @throws {TemplateError} for an invalid template.
 */
export function pullRequestTexts(templates: Partial<TextTemplates> = {}): PullRequestTexts {
  const title = compileTitle(templates.title ?? builtInTemplates.title);
  const body = compileBody(templates.body ?? builtInTemplates.body);
  const commit = compileCommit(templates.commit ?? builtInTemplates.commit);
  const branch = compileBranch(templates.branch ?? builtInTemplates.branch);
  const labels = (templates.labels ?? []).map(compileLabel);
  const message = (facts: ChangeFacts): string => commit(changeContext(facts)).trim();
  const branchName = (target: QuotaTarget, decisionId: string): string =>
    branch(branchContext(target, decisionId)).replaceAll(/\.lock(?=\/|$)/g, '_2e_lock');
  return {
    branch: branchName,
    branchBeginning: (target) => commonBeginning(branchName(target, '00000000'), branchName(target, 'ffffffff')),
    branchBeginningOf: (cluster) =>
      commonBeginning(
        branchName({ cluster, namespace: 'a', quota: 'a' }, '00000000'),
        branchName({ cluster, namespace: 'b', quota: 'b' }, 'ffffffff'),
      ),
    title: (facts) => truncate(onOneLine(title(changeContext(facts))), TITLE_LENGTH),
    commit: (facts) => `${message(facts)}\n\n${trailers(facts)}`,
    merge(facts, number) {
      const [headline = '', ...rest] = message(facts).split('\n');
      const text = rest.join('\n').trim();
      return { title: `${headline} (#${number})`, message: `${text === '' ? '' : `${text}\n\n`}${trailers(facts)}` };
    },
    labels: (facts) => [
      ...new Set(labels.map((label) => truncate(onOneLine(label(changeContext(facts))), LABEL_LENGTH))),
    ],
    body: (facts) => `${withinLength(body(bodyContext(facts)).trim())}\n\n${marker(facts.decision.id)}`,
  };
}

/** Checks of single templates; each throws TemplateError with the invalid part. */
export const templateChecks: Readonly<
  Record<'title' | 'body' | 'commit' | 'branch' | 'label', (text: string) => void>
> = {
  title: compileTitle,
  body: compileBody,
  commit: compileCommit,
  branch: compileBranch,
  label: compileLabel,
};

function compileTitle(source: string): TextTemplate<ChangeContext> {
  return compileTemplate(source, changeSamples('a title'));
}

function compileCommit(source: string): TextTemplate<ChangeContext> {
  return compileTemplate(source, changeSamples('a commit message'));
}

function compileLabel(source: string): TextTemplate<ChangeContext> {
  return compileTemplate(source, changeSamples('a label'));
}

function compileBody(source: string): ReturnType<typeof compileTemplate<ReturnType<typeof bodyContext>>> {
  return compileTemplate(source, { contexts: bodySamples });
}

function compileBranch(source: string): TextTemplate<BranchContext> {
  return compileTemplate(source, {
    contexts: [branchContext(SAMPLE_TARGET, '00000000')],
    check(render) {
      const [first, second] = ['00000001', '00000002'].map((id) => render(branchContext(SAMPLE_TARGET, id)));
      if (first === undefined || first === second || !first.includes('00000001')) {
        throw new TemplateError('it must contain {{id}}, by which the branch of a decision is found again');
      }
      const why = illegalBranch(first);
      if (why !== null) throw new TemplateError(`"${first}" is no legal branch: ${why}`);
    },
  });
}

const SAMPLE_TARGET: QuotaTarget = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };

function changeSamples(what: string): Samples<ChangeContext> {
  const facts = { target: SAMPLE_TARGET, decisionId: '0a1b2c3d', repository: 'acme/gitops' };
  const single = { quota: 'compute', changes: [sampleChange] };
  const contexts = [[single], [single, { ...single, quota: 'gpu' }]].map((quotas) =>
    changeContext({ ...facts, quotas }),
  );
  return {
    contexts,
    check(render) {
      for (const context of contexts) {
        if (render(context).trim() === '') throw new TemplateError(`it makes an empty text, which is not ${what}`);
      }
    },
  };
}

function changeContext({ target, decisionId, repository, quotas }: ChangeFacts): ChangeContext {
  const changes = quotas.flatMap(({ quota, namespace, changes }) =>
    changes.map(({ resource, used, from, to, reason }) => ({
      quota: namespace === undefined ? quota : targetName({ namespace, quota }),
      resource: visibleText(resource),
      used: visibleText(used),
      from: visibleText(from),
      to: visibleText(to),
      reason: oneLine(reason),
    })),
  );
  return {
    id: decisionId,
    cluster: target.cluster,
    namespace: target.namespace,
    quota: target.quota,
    target: targetName(target),
    repository,
    several: quotas.length > 1,
    summary: summary(changes),
    changes,
  };
}

/** A rendered template, in which the operator's own characters stay as they are. */
function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function summary(changes: readonly Pick<LimitChange, 'resource' | 'from' | 'to'>[]): string {
  const [first, ...rest] = changes.map(({ resource, from, to }) => `${resource} ${from} → ${to}`);
  return rest.length > 0 ? `${first} and ${rest.length} more` : (first ?? 'nothing');
}

/** The context of a branch template: every value is a legal part of a ref, and different names give different parts. */
function branchContext(target: QuotaTarget, decisionId: string): BranchContext {
  const { cluster, namespace, quota } = target;
  return { id: refPart(decisionId), cluster: refPart(cluster), namespace: refPart(namespace), quota: refPart(quota) };
}

/** Escapes characters that git forbids as `_<hex>_`; a part that is too long ends with a hash of the whole part. */
function refPart(part: string): string {
  // Underscores are escaped too (no Kubernetes name has one), so that different names give different parts.
  const escaped = part
    .replace(/[^A-Za-z0-9.-]/gu, escapeCharacter)
    // Git forbids a part that begins or ends with a dot, two dots in a row, and a part that ends with `.lock`.
    .replace(/^\.|\.(?=\.)|\.$|\.(?=lock$)/g, escapeCharacter)
    .replace(/^-/, escapeCharacter);
  return escaped.length <= MAX_PART ? escaped : `${escaped.slice(0, MAX_PART - 9)}_${fingerprint(part)}`;
}

function escapeCharacter(character: string): string {
  return `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
}

/** FNV-1a over UTF-16 code units, 32 bits in hexadecimal; it distinguishes names and is not a security measure. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** Why git rejects a branch name, by the rules of `git check-ref-format`; null for a legal name. */
function illegalBranch(name: string): string | null {
  // oxlint-disable-next-line no-control-regex -- git forbids them
  if (/[\s\u0000-\u001f\u007f~^:?*[\\]/.test(name)) return 'it has white space or one of ~ ^ : ? * [ \\';
  if (name.includes('@{') || name === '@') return 'it has "@{"';
  if (name.includes('..')) return 'it has two dots in a row';
  if (name.startsWith('-') || name.endsWith('.')) return 'it begins with "-" or ends with "."';
  const parts = name.split('/');
  if (parts.includes('')) return 'it begins or ends with "/", or has two in a row';
  if (parts.some((part) => part.startsWith('.') || part.endsWith('.lock'))) {
    return 'a part begins with "." or ends with ".lock"';
  }
  return null;
}

function trailers({ decisionId, target, quotas }: ChangeFacts): string {
  const { cluster } = target;
  const names = [target, ...quotas.map(({ quota, namespace = target.namespace }) => ({ namespace, quota }))];
  const targets = names.map((name) => `Headroom-Target: ${cluster}/${targetName(name)}`);
  return [`Headroom-Decision: ${decisionId}`, ...new Set(targets)].join('\n');
}

/** The decision in a commit's trailer; null for anybody else's commit. */
export function decisionOfCommit(message: string): string | null {
  const trailer = message.split(/\r?\n/).findLast((line) => line.startsWith('Headroom-Decision: '));
  return trailer === undefined ? null : trailer.slice('Headroom-Decision: '.length).trim();
}

/** A comment of Headroom, with a hidden marker that prevents writing it twice. */
export function markedComment(decisionId: string, key: string, text: string): string {
  return `${escapeMarkdown(text)}\n\n${commentMarker(decisionId, key)}`;
}

/** The marker of one comment: `key` is a hash of the data that distinguishes comments. */
export function commentMarker(decisionId: string, key: string): string {
  return `<!-- headroom:${decisionId}:${key} -->`;
}

/** The decision that a comment with this key is of; null for any other comment. */
export function decisionOfComment(comment: string, key: string): string | null {
  const match = /<!-- headroom:([^\s:]+):([^\s:]+) -->\s*$/.exec(comment);
  return match?.[2] === key ? (match[1] ?? null) : null;
}

function marker(decisionId: string): string {
  return `<!-- headroom:${decisionId} -->`;
}

/** The quotas in a commit's trailers, as `cluster/namespace/quota`, the decision's own first; none for another's commit. */
export function targetsOfCommit(message: string): readonly string[] {
  const trailer = 'Headroom-Target: ';
  return message
    .split(/\r?\n/)
    .flatMap((line) => (line.startsWith(trailer) ? [line.slice(trailer.length).trim()] : []));
}

function commonBeginning(a: string, b: string): string {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return a.slice(0, length);
}

function withinLength(body: string): string {
  if (body.length <= BODY_LENGTH) return body;
  const lines = body.slice(0, BODY_LENGTH);
  return `${lines.slice(0, lines.lastIndexOf('\n'))}\n\n…`;
}

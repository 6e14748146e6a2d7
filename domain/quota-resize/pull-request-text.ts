/**
 * The words and names that Headroom leaves in a repository: branch, commit, pull request and comments. Reviewers read
 * them, and Headroom finds its own work again by them.
 */
import type { ResourceList } from '../kernel/resource-list.ts';
import { type QuotaTarget, targetName } from '../kernel/target.ts';
import { formatInstant } from '../kernel/time.ts';
import type { Decision, LimitChange } from './decision.ts';

/** Git keeps a loose ref in a file named after the last part plus `.lock`, and file names end at 255 bytes. */
const MAX_PART = 80;

/** GitHub refuses a body above 65,536 characters; this many sentences of evidence stay far below it. */
const EVIDENCE_SHOWN = 20;
const SENTENCE_LENGTH = 600;

/**
 * `headroom/<cluster>/<namespace>/<quota>/<decision id>`, a legal ref name always: the branch of one decision. Characters
 * that git forbids are escaped as `_<hex>`, and a part that is too long ends in a hash of itself.
 */
export function branchName(target: QuotaTarget, decisionId: string): string {
  return ['headroom', target.cluster, target.namespace, target.quota, decisionId].map(refPart).join('/');
}

function refPart(part: string): string {
  // Underscores are escaped too (no Kubernetes name has one), so that two names never give one part.
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

/** FNV-1a over UTF-16 units, 32 bits in hexadecimal: it tells names apart and protects nothing. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0).toString(16).padStart(8, '0');
}

/** `Raise quota team-a/compute: requests.cpu 2 → 3600m`, "and N more" for further resources. */
export function pullRequestTitle(target: QuotaTarget, changes: readonly LimitChange[]): string {
  return `Raise quota ${targetName(target)}: ${summary(changes)}`;
}

function summary(changes: readonly LimitChange[]): string {
  const [first, ...rest] = changes.map(({ resource, from, to }) => `${resource} ${from} → ${to}`);
  return rest.length > 0 ? `${first} and ${rest.length} more` : (first ?? 'nothing');
}

/** The commit on the branch: a title, what changes, and trailers by which Headroom knows the commit as its own. */
export function commitMessage(
  target: QuotaTarget,
  decision: Pick<Decision, 'id' | 'changes'>,
  changes: readonly LimitChange[],
): string {
  const lines = changes.map(({ resource, from, to, reason }) => `${resource}: ${from} → ${to} (${oneLine(reason)})`);
  return [
    `chore(quota): raise ${targetName(target)}: ${summary(changes)}`,
    lines.join('\n'),
    trailers(target, decision),
  ].join('\n\n');
}

/** The squash commit of a merge: the pull request's number in the title, as GitHub writes it itself. */
export function mergeMessage(
  target: QuotaTarget,
  decision: Pick<Decision, 'id' | 'changes'>,
  number: number,
): { readonly title: string; readonly message: string } {
  const lines = decision.changes.map(({ resource, to, reason }) => `${resource}: ${to} (${oneLine(reason)})`);
  return {
    title: `chore(quota): raise ${targetName(target)}: ${summary(decision.changes)} (#${number})`,
    message: `${lines.join('\n')}\n\n${trailers(target, decision)}`,
  };
}

function trailers(target: QuotaTarget, decision: Pick<Decision, 'id'>): string {
  return `Headroom-Decision: ${decision.id}\nHeadroom-Target: ${target.cluster}/${targetName(target)}`;
}

/** The decision that a commit belongs to by its trailer; null for anybody else's commit. */
export function decisionOfCommit(message: string): string | null {
  const trailer = message.split(/\r?\n/).findLast((line) => line.startsWith('Headroom-Decision: '));
  return trailer === undefined ? null : trailer.slice('Headroom-Decision: '.length).trim();
}

/**
 * The description of a pull request in GitHub's Markdown.
 *
 * @param changes the rows of the table: what this pull request changes, `from` as Git says it.
 * @param inGit resources of the decision that Git holds at the proposed value or above already; they are left alone.
 */
export function pullRequestBody(
  target: QuotaTarget,
  decision: Pick<Decision, 'id' | 'decidedAt' | 'evidence' | 'gate'>,
  changes: readonly LimitChange[],
  inGit: ResourceList = {},
): string {
  return [
    '## Quota Resize Recommendation',
    [
      `**Namespace:** ${code(target.namespace)}`,
      `**Quota:** ${code(target.quota)}`,
      `**Cluster:** ${code(target.cluster)}`,
      `**Decided:** ${formatInstant(decision.decidedAt)}`,
    ].join('  \n'),
    table(changes),
    ...leftAlone(inGit),
    ...evidence(decision.evidence),
    approval(decision),
    [
      '### What happens next',
      '',
      '- Merged, by you or by Headroom once every check has passed and auto-merge is on, the new limits reach the cluster the way this repository always does. Headroom watches for that and then rests for the cooldown.',
      '- While this is open, Headroom brings it up to date when the need grows or the base branch moves, and closes it when the need is gone.',
      '- Closed without a merge, it is a no: these values are not asked for again for a while.',
      '- A commit of yours on this branch hands it over to you: Headroom no longer changes or merges it.',
    ].join('\n'),
    [
      '### Not wanted here?',
      '',
      `Set the annotation ${code('resizer.io/enabled: "false"')} on the namespace ${code(target.namespace)}, and Headroom leaves its quotas alone until it is taken off again.`,
    ].join('\n'),
    marker(decision.id),
  ].join('\n\n');
}

function table(changes: readonly LimitChange[]): string {
  const rows = changes.map(
    ({ resource, used, from, to, reason }) =>
      `| ${[code(resource), code(used), code(from), `**${code(to)}**`, escapeMarkdown(reason)].join(' | ')} |`,
  );
  return ['| Resource | Used | Current | Proposed | Reason |', '|---|---|---|---|---|', ...rows].join('\n');
}

function leftAlone(inGit: ResourceList): readonly string[] {
  const held = Object.entries(inGit).map(([resource, value]) => `${code(resource)} (${code(value)})`);
  return held.length === 0 ? [] : [`Left alone, because the file holds enough already: ${held.join(', ')}.`];
}

function evidence(sentences: readonly string[]): readonly string[] {
  if (sentences.length === 0) {
    return [];
  }
  const shown = sentences.slice(0, EVIDENCE_SHOWN).map((sentence) => `- ${escapeMarkdown(sentence)}`);
  const rest = sentences.length - shown.length;
  return [['### Evidence', '', ...shown, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n')];
}

function approval({ gate }: Pick<Decision, 'gate'>): string {
  return gate === null
    ? 'No approval beyond the rules of this repository is needed.'
    : `**An approval is needed** before Headroom merges this: ${escapeMarkdown(gate.message)}`;
}

/** A comment of Headroom, with a hidden marker by which it is not written twice. */
export function markedComment(decisionId: string, key: string, text: string): string {
  return `${escapeMarkdown(text)}\n\n${commentMarker(decisionId, key)}`;
}

/** The marker of one comment: `key` is a hash of what makes the comment another one. */
export function commentMarker(decisionId: string, key: string): string {
  return `<!-- headroom:${decisionId}:${key} -->`;
}

function marker(decisionId: string): string {
  return `<!-- headroom:${decisionId} -->`;
}

function code(text: string): string {
  // Names and quantities hold no backtick; a table cell must hold no bar.
  return `\`${oneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

/**
 * Text from the cluster (an Event's message, a workload's name) as plain words in Markdown: no markup, no HTML, no table
 * cell of its own, no mention that notifies somebody, no reference that links another issue, no address that becomes a link.
 */
function escapeMarkdown(text: string): string {
  const line = oneLine(text);
  const short = line.length > SENTENCE_LENGTH ? `${line.slice(0, SENTENCE_LENGTH)}…` : line;
  return (
    short
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[\\`*_{}[\]|~]/g, '\\$&')
      // An empty comment parts the sign from its word, which Markdown escapes do not do for GitHub's own links.
      .replace(/[@#](?=\w)/g, '$&<!-- -->')
      .replace(/\b(https?|ftp):\/\//gi, '$1:<!-- -->//')
      .replace(/\bwww\./gi, 'www<!-- -->.')
      .replace(/\b(GH)-(?=\d)/gi, '$1<!-- -->-')
      .replace(/^[-+=#]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
  );
}

function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}

/** Text from the cluster in GitHub's Markdown, so that it stays plain words wherever it stands. */
import { oneLine } from '../../kernel/sentence.ts';

const SENTENCE_LENGTH = 600;

/**
 * A text that may hold words from the cluster: escaped wherever it is put into Markdown, or shown as code. What stands
 * between two backticks in it is code.
 */
export class ForeignText {
  readonly #raw: string;

  constructor(raw: string) {
    this.#raw = raw;
  }

  toString(): string {
    return escapeMarkdown(this.#raw);
  }

  /** As a code span, in which Markdown has no meaning. */
  code(): string {
    return code(this.#raw);
  }
}

export function code(text: string): string {
  // Names and quantities hold no backtick; a table cell must hold no bar.
  return `\`${oneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

/**
 * Text from the cluster (an Event's message, a workload's name) as plain words in Markdown: no markup, no HTML, no table
 * cell of its own, no mention that notifies somebody, no reference that links another issue, no address that becomes a link.
 * Only what stands between two backticks is shown as code, in which Markdown has no meaning.
 */
export function escapeMarkdown(text: string): string {
  const line = oneLine(text);
  const short = line.length > SENTENCE_LENGTH ? `${line.slice(0, SENTENCE_LENGTH)}…` : line;
  // What stands at an odd place was between two backticks.
  return short
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? code(part) : escapeWords(part)))
    .join('');
}

function escapeWords(text: string): string {
  return (
    text
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

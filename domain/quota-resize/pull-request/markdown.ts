/** Escapes text from the cluster for GitHub's Markdown, so that it stays plain text. */
import { oneLine } from '../../kernel/sentence.ts';

const SENTENCE_LENGTH = 600;

/**
 * A text that may contain text from the cluster: it is escaped in Markdown, or shown as code. Parts between two
 * backticks are shown as code.
 */
export class ForeignText {
  readonly #raw: string;

  constructor(raw: string) {
    this.#raw = raw;
  }

  toString(): string {
    return escapeMarkdown(this.#raw);
  }

  /** As a code span, in which Markdown syntax has no effect. */
  code(): string {
    return code(this.#raw);
  }
}

export function code(text: string): string {
  // Names and quantities contain no backtick, and a table cell must not contain a bar.
  return `\`${oneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``;
}

/**
 * Escapes text from the cluster (an Event's message, a workload's name) to plain text in Markdown: no markup, no HTML,
 * no table cell, no mention that notifies somebody, no reference to an issue, no link. Only text between two backticks
 * is shown as code, in which Markdown syntax has no effect.
 */
export function escapeMarkdown(text: string): string {
  const line = oneLine(text);
  const short = line.length > SENTENCE_LENGTH ? `${line.slice(0, SENTENCE_LENGTH)}…` : line;
  // Parts with an odd index were between two backticks.
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
      // An empty comment separates the sign from its word: Markdown escapes do not prevent GitHub's own links.
      .replace(/[@#](?=\w)/g, '$&<!-- -->')
      // Without a word boundary before it: an underscore or a digit is none, and GitHub links what follows it all the same.
      .replace(/(https?|ftp):\/\//gi, '$1:<!-- -->//')
      .replace(/www\./gi, 'www<!-- -->.')
      .replace(/(GH)-(?=\d)/gi, '$1<!-- -->-')
      .replace(/^[-+=#/]/, '\\$&')
      .replace(/^(\d+)([.)])/, '$1\\$2')
  );
}

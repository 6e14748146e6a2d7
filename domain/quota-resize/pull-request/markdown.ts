/** Text from the cluster in GitHub's Markdown, so that it stays plain words wherever it stands. */

const SENTENCE_LENGTH = 600;

/** A text that was not written by Headroom: escaped wherever it is put into Markdown, or shown as code. */
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
 */
export function escapeMarkdown(text: string): string {
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

export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return text.replace(/[\s\u0000-\u001f\u007f]+/g, ' ').trim();
}

/** HTML that nothing can get into but what a program wrote: every value in it is escaped. */
import { visibleText } from '../../domain/kernel/sentence.ts';

/** A piece of HTML that `html` made. */
export class Html {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }

  static of(strings: TemplateStringsArray, values: readonly Value[]): Html {
    const parts = strings.map((text, index) => (index === 0 ? text : `${written(values[index - 1] ?? '')}${text}`));
    return new Html(parts.join(''));
  }
}

type Value = Html | string | number | null | readonly Html[];

/** Values are escaped for texts and for attributes in double quotes; null is nothing, and pieces of HTML stay what they are. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return Html.of(strings, values);
}

function written(value: Value): string {
  if (value === null) return '';
  if (value instanceof Html) return value.toString();
  return typeof value === 'string' || typeof value === 'number' ? escaped(String(value)) : value.join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that cannot be seen, such as those that turn the direction of reading around, are shown by their number. */
function escaped(text: string): string {
  return visibleText(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The address as a browser reads it, where it is http or https and carries no password; otherwise null. */
export function linkTarget(url: string): string | null {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'http:' && parsed.protocol !== 'https:')) return null;
  return parsed.username === '' && parsed.password === '' ? parsed.href : null;
}

/**
 * Turns a text into a sentence: with a capital letter and a full stop. A literal name (`requests.cpu`, `web-1`) and a
 * resource with its number (`pods 10`) keep their small letter.
 */
export function sentence(text: string): string {
  const trimmed = text.trim();
  const [first = ''] = trimmed.split(' ', 1);
  const isWord = /^[a-z]+[,:]?$/.test(first) && !/^[a-z]+ \d/.test(trimmed);
  const begun = isWord ? `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}` : trimmed;
  return begun === '' || /[.!?:…]$/.test(begun) ? begun : `${begun}.`;
}

/** Removes line breaks, because text of people or other programs becomes part of our sentences. */
export function oneLine(text: string): string {
  return visibleText(text.replace(/[\s\p{Cc}]+/gu, ' ').trim());
}

/**
 * What cannot be seen, and changes how the text around it is shown or compared: it turns the reading direction around, joins
 * and hides (Unicode's format characters, and what a font draws nothing for: fillers, selectors, the blank of braille), breaks
 * lines where few programs do, or moves the cursor of a terminal (control characters, but line breaks and tabs). The selector
 * that colors an emoji is left as it is.
 */
const HIDDEN_CHARACTER =
  /(?!\ufe0f)[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800]|\r(?!\n)|[^\P{Cc}\r\n\t]/gu;

/** Shows each hidden character by its number, as in `[U+202E]`: for all text that people read. */
export function visibleText(text: string): string {
  return text.replace(
    HIDDEN_CHARACTER,
    (character) => `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}

/** JSON that programs read as before, and in which people see each hidden character as an escape (`\u202e`). */
export function visibleJson(json: string): string {
  return json.replace(HIDDEN_CHARACTER, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** A text of at most so many characters, with an ellipsis if it was cut. */
export function truncate(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

/**
 * `a`, `a and b`, `a, b and c`
 *
 * @param most how many are named; the others are counted: `a, b and 7 more`.
 */
export function listText(parts: readonly string[], most = parts.length): string {
  const named = parts.slice(0, most);
  const rest = parts.length - named.length;
  const last = rest > 0 ? `${rest} more` : (named.pop() ?? '');
  return named.length === 0 ? last : `${named.join(', ')} and ${last}`;
}

/**
 * The first entries, and one more that says how many are left out.
 *
 * @param total where the entries are only some of them.
 */
export function atMost(
  entries: readonly string[],
  most: number,
  more: (rest: number) => string,
  total = entries.length,
): readonly string[] {
  const rest = total - Math.min(entries.length, most);
  return rest <= 0 ? entries : [...entries.slice(0, most), more(rest)];
}

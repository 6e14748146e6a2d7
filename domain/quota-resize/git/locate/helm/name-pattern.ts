/** Matches names against a text with template expressions, whose results are not known. */

export interface NamePattern {
  /** Whether the name fits the literal parts: each expression stands for any text. */
  matches(name: string): boolean;
}

/** The pattern of a text with expressions such as `{{ .Release.Name }}-compute`. */
export function namePatternOf(text: string): NamePattern {
  const [first = '', ...others] = literalParts(text);
  const last = others.pop();
  return {
    matches: (name) =>
      last === undefined
        ? name === first
        : name.startsWith(first) && endsWithInOrder(name, first.length, { between: others, last }),
  };
}

/**
 * Whether the parts occur one after the other and the last one ends the name. The first occurrence of each part is
 * enough to know, so no combination is tried twice.
 */
function endsWithInOrder(
  name: string,
  start: number,
  { between, last }: { readonly between: readonly string[]; readonly last: string },
): boolean {
  let position = start;
  for (const part of between) {
    const at = name.indexOf(part, position);
    if (at === -1) {
      return false;
    }
    position = at + part.length;
  }
  return name.length - last.length >= position && name.endsWith(last);
}

/** The texts before, between and after the expressions. An expression ends in the line that it begins in. */
function literalParts(text: string): readonly string[] {
  const parts: string[] = [];
  let position = 0;
  for (;;) {
    const start = text.indexOf('{{', position);
    const end = start === -1 ? -1 : text.indexOf('}}', start + 2);
    if (end === -1) {
      return [...parts, text.slice(position)];
    }
    parts.push(text.slice(position, start));
    position = end + 2;
  }
}

/**
 * Field paths: the place of a value in a YAML or JSON file in the notation of people:
 * `quotas.team-a.hard["limits.cpu"]`, `list[0].value`.
 */

/** The path to a value from the root of a document: keys of mappings and indexes of sequences. */
export type Pointer = readonly (string | number)[];

/** An invalid field path; the message names the column and what would be valid. */
export class FieldPathError extends Error {
  override readonly name = 'FieldPathError';
}

// A key without brackets: any character except spaces and those of the notation itself.
const BARE = /[^.[\]"'\s]+/uy;
// At most nine digits: no sequence has more items.
const INDEX = /\[(0|[1-9][0-9]{0,8})\]/y;
const DOUBLE_QUOTED = /\["((?:[^"\\]|\\.)*)"\]/suy;
const SINGLE_QUOTED = /\['((?:[^'\\]|\\.)*)'\]/suy;
const EXAMPLE = 'namespaceQuotas["requests.cpu"] or list[0].value';

interface Step {
  readonly value: string | number;
  readonly end: number;
}

/**
 * Parses a field path: keys separated by dots, a key with dots or spaces in brackets and quotes, an index in brackets.
 * In quotes a backslash escapes the next character.
 *
 * @throws {FieldPathError} when the text is not a field path.
 */
export function parseField(text: string): Pointer {
  const steps: Step[] = [];
  let position = 0;
  do {
    const step = stepAt(text, position, steps.length === 0);
    steps.push(step);
    position = step.end;
  } while (position < text.length);
  return steps.map(({ value }) => value);
}

function stepAt(text: string, position: number, first: boolean): Step {
  if (text[position] === '[') {
    return bracketAt(text, position);
  }
  if (!first && text[position] !== '.') {
    throw problem(text, position, 'write a dot or a bracket between two keys');
  }
  const start = first ? position : position + 1;
  const [key] = matchAt(BARE, text, start) ?? [];
  if (key === undefined) {
    throw problem(text, start, first ? `begin with a key, such as ${EXAMPLE}` : 'write a key after the dot');
  }
  return { value: key, end: start + key.length };
}

function bracketAt(text: string, position: number): Step {
  const index = matchAt(INDEX, text, position);
  if (index !== undefined) {
    return { value: Number(index[1]), end: position + index[0].length };
  }
  const quoted = matchAt(DOUBLE_QUOTED, text, position) ?? matchAt(SINGLE_QUOTED, text, position);
  if (quoted === undefined) {
    throw problem(text, position, 'write an index or a quoted key in brackets, such as [0] or ["requests.cpu"]');
  }
  return { value: (quoted[1] ?? '').replace(/\\(.)/gsu, '$1'), end: position + quoted[0].length };
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | undefined {
  pattern.lastIndex = position;
  return pattern.exec(text) ?? undefined;
}

function problem(text: string, position: number, right: string): FieldPathError {
  const found = position < text.length ? JSON.stringify(text[position]) : 'the end';
  return new FieldPathError(`the field ${JSON.stringify(text)} has ${found} at column ${position + 1}; ${right}`);
}

/** Whether a field is another field or lies below it; false for a text that is not a field path. */
export function isBelowField(field: string, ancestor: string): boolean {
  try {
    const pointer = parseField(field);
    return parseField(ancestor).every((step, index) => pointer[index] === step);
  } catch (error) {
    if (!(error instanceof FieldPathError)) throw error;
    return false;
  }
}

/**
 * Formats a pointer as a field path that parses back to the pointer; '' for the empty pointer, which has no field path.
 */
export function formatField(pointer: Pointer): string {
  return pointer
    .map((step, index) => {
      if (typeof step === 'number') {
        return `[${step}]`;
      }
      const bare = matchAt(BARE, step, 0)?.[0] === step;
      return bare ? `${index === 0 ? '' : '.'}${step}` : `["${step.replace(/["\\]/g, '\\$&')}"]`;
    })
    .join('');
}

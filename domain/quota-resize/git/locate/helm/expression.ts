/** Resolves expressions of Helm templates that only refer to a value of `.Values`. */
import type { Pointer } from '../../yaml/field-path.ts';

/** What an expression refers to. */
export type Reference =
  /** A pointer into the values. `form`: what a function has made of the value; absent: it is as it was. */
  | { readonly kind: 'value'; readonly pointer: Pointer; readonly form?: 'integer' | 'text' }
  | { readonly kind: 'text'; readonly text: string }
  /** `.Release.Namespace`, `.Release.Name`, `.Chart.Name`. */
  | { readonly kind: 'builtin'; readonly name: string };

/** What `.` and the variables refer to at a position in the template. */
export interface TemplateScope {
  /** Undefined at the top level, where `.` has Values, Release and Chart. */
  readonly dot: Reference | undefined;
  readonly variables: ReadonlyMap<string, Reference>;
}

export const topScope: TemplateScope = { dot: undefined, variables: new Map() };

/** Functions that return the value unchanged or only format it, and what they make of it. */
const PASSING: ReadonlyMap<string, 'integer' | 'text' | undefined> = new Map([
  ['quote', 'text'],
  ['squote', 'text'],
  ['toString', 'text'],
  ['toYaml', 'text'],
  ['indent', 'text'],
  ['nindent', 'text'],
  ['trim', 'text'],
  ['default', undefined],
  ['required', undefined],
  ['int', 'integer'],
  ['int64', 'integer'],
  // As the others, it turns a text that is no number into 0.
  ['float64', 'integer'],
]);

/**
 * What the expression refers to; undefined when it computes something.
 *
 * @param text with or without the braces.
 */
export function referenceOf(text: string, scope: TemplateScope): Reference | undefined {
  const body = text
    .trim()
    .replace(/^\{\{-?\s*/, '')
    .replace(/\s*-?\}\}$/, '');
  const [first, ...rest] = splitPipeline(body);
  if (first === undefined) {
    return undefined;
  }
  return rest.reduce<Reference | undefined>(
    (reference, step) => {
      const [head = '', format] = wordsIn(step);
      return head === 'printf' ? printed(reference, format) : passed(reference, /^\w+/.exec(step)?.[0] ?? '');
    },
    operand(wordsIn(first), scope),
  );
}

/** What a function makes of a value; undefined where it computes another one. */
function passed(reference: Reference | undefined, name: string): Reference | undefined {
  if (reference === undefined || !PASSING.has(name)) return undefined;
  const form = PASSING.get(name);
  if (reference.kind !== 'value' || form === undefined || form === reference.form) return reference;
  // A number of a million or more is 1e+06 as a text, of which an integer is 0; an integer as a text stays what it is.
  if (reference.form !== undefined) return form === 'text' ? reference : undefined;
  return { ...reference, form };
}

/** `printf "%d"` prints integers only. */
function printed(reference: Reference | undefined, format: string | undefined): Reference | undefined {
  const isDecimal = format === '"%d"' || format === '`%d`';
  return isDecimal && reference?.kind === 'value' && reference.form === 'integer' ? reference : undefined;
}

export function splitPipeline(text: string): readonly string[] {
  const steps: string[] = [];
  let depth = 0;
  let quote: string | undefined;
  let step = '';
  for (const character of text) {
    if (quote === undefined && (character === '"' || character === '`')) {
      quote = character;
    } else if (character === quote) {
      quote = undefined;
    } else if (quote === undefined && (character === '(' || character === ')')) {
      depth += character === '(' ? 1 : -1;
    }
    if (character === '|' && quote === undefined && depth === 0) {
      steps.push(step.trim());
      step = '';
    } else {
      step += character;
    }
  }
  return [...steps, step.trim()];
}

export function wordsIn(text: string): readonly string[] {
  const words: string[] = [];
  let position = 0;
  while (position < text.length) {
    const rest = text.slice(position);
    const word =
      /^(?:"(?:[^"\\]|\\.)*"|`[^`]*`|[^\s()"`]+)/.exec(rest)?.[0] ?? (rest.startsWith('(') ? group(rest) : rest[0]);
    if (word === undefined) {
      break;
    }
    if (word.trim() !== '') {
      words.push(word);
    }
    position += word.length;
  }
  return words;
}

/** The text up to the parenthesis that closes the first one, and what follows it directly: `(index .a "b").c`. */
function group(text: string): string {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index];
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (depth === 0) {
      return text.slice(0, index + 1) + (/^(?:\.[\w-]+)+/.exec(text.slice(index + 1))?.[0] ?? '');
    }
  }
  return text;
}

function operand(words: readonly string[], scope: TemplateScope): Reference | undefined {
  const [head, ...rest] = words;
  if (head === undefined) {
    return undefined;
  }
  if (head === 'index' || head === 'get') {
    const [of, ...keys] = rest;
    const base = of === undefined ? undefined : operand([of], scope);
    return keys.reduce<Reference | undefined>((reference, key) => keyOf(reference, operand([key], scope)), base);
  }
  if (PASSING.has(head)) {
    // The value is the last argument: `default "2" .Values.x`, `required "message" .Values.x`.
    return passed(operand(rest.slice(-1), scope), head);
  }
  if (head === 'printf' && rest.length === 2) {
    return printed(operand(rest.slice(-1), scope), rest[0]);
  }
  return rest.length === 0 ? single(head, scope) : undefined;
}

function keyOf(reference: Reference | undefined, key: Reference | undefined): Reference | undefined {
  if (reference?.kind !== 'value' || key?.kind !== 'text') {
    return undefined;
  }
  return { kind: 'value', pointer: [...reference.pointer, /^\d+$/.test(key.text) ? Number(key.text) : key.text] };
}

function single(word: string, scope: TemplateScope): Reference | undefined {
  const literal = /^(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`)$/.exec(word);
  if (literal !== null) {
    return { kind: 'text', text: literal[1] ?? literal[2] ?? '' };
  }
  if (/^\d+$/.test(word)) {
    return { kind: 'text', text: word };
  }
  if (word.startsWith('(')) {
    const match = /^\((.*)\)((?:\.[\w-]+)*)$/s.exec(word);
    const inner = match === null ? undefined : referenceOf(match[1] ?? '', scope);
    return below(inner, (match?.[2] ?? '').split('.').slice(1));
  }
  const [base = '', ...keys] = word.split('.');
  if (base.startsWith('$')) {
    return base === '$' ? atTop(keys) : below(scope.variables.get(base), keys);
  }
  if (base !== '') {
    return undefined;
  }
  const steps = keys.filter((key) => key !== '');
  return scope.dot === undefined ? atTop(steps) : below(scope.dot, steps);
}

function atTop(keys: readonly string[]): Reference | undefined {
  const [root, ...rest] = keys;
  if (root === 'Values') {
    return { kind: 'value', pointer: rest };
  }
  return root === 'Release' || root === 'Chart' ? { kind: 'builtin', name: keys.join('.') } : undefined;
}

function below(reference: Reference | undefined, keys: readonly string[]): Reference | undefined {
  if (keys.length === 0) {
    return reference;
  }
  return reference?.kind === 'value' ? { kind: 'value', pointer: [...reference.pointer, ...keys] } : undefined;
}

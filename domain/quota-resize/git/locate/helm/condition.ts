/** Evaluates conditions of Helm templates as far as the values are known. */
import { isScalar } from 'yaml';
import type { Pointer } from '../../yaml/field-path.ts';
import { referenceOf, splitPipeline, type TemplateScope, wordsIn } from './expression.ts';

/** Returns the node at a pointer in the values. */
export type ValueLookup = (pointer: Pointer) => unknown;

/**
 * Whether the condition of an `if` is true. Supported are values, `not`, `and`, `or`, `eq`, `ne` and parentheses.
 * Undefined for everything else, because a quota that is never rendered must not be taken for one that exists.
 *
 * @param text the expression after `if`.
 */
export function conditionHolds(text: string, scope: TemplateScope, valueOf: ValueLookup): boolean | undefined {
  const [first = '', ...later] = splitPipeline(text);
  if (later.length > 0) {
    return later.every((step) => /^default\b/.test(step))
      ? orDefault(conditionHolds(first, scope, valueOf))
      : undefined;
  }
  const [head = '', ...rest] = wordsIn(first);
  const parts = (): readonly (boolean | undefined)[] => rest.map((word) => conditionHolds(word, scope, valueOf));
  switch (head) {
    case 'not':
      return rest.length === 1 ? negated(parts()[0]) : undefined;
    case 'and':
      return every(parts());
    case 'or':
      return negated(every(parts().map(negated)));
    case 'eq':
      return equal(rest, scope, valueOf);
    case 'ne':
      return rest.length === 2 ? negated(equal(rest, scope, valueOf)) : undefined;
    case 'default':
      return orDefault(conditionHolds(rest.at(-1) ?? '', scope, valueOf));
    default:
      return rest.length === 0 && /^\(.*\)$/s.test(head)
        ? conditionHolds(head.slice(1, -1), scope, valueOf)
        : ofReference(first, scope, valueOf);
  }
}

/** Whether a value is true to Helm: false are nothing, false, 0, "" and empty collections. */
export function isTrue(node: unknown): boolean {
  if (isScalar(node)) {
    return node.value !== null && node.value !== false && node.value !== 0 && node.value !== '';
  }
  return (
    typeof node === 'object' && node !== null && 'items' in node && Array.isArray(node.items) && node.items.length > 0
  );
}

function ofReference(text: string, scope: TemplateScope, valueOf: ValueLookup): boolean | undefined {
  const reference = referenceOf(text, scope);
  return reference?.kind === 'value' ? isTrue(valueOf(reference.pointer)) : undefined;
}

/** `default` keeps a true value; otherwise the result is the default, which is not evaluated here. */
function orDefault(holds: boolean | undefined): true | undefined {
  return holds === true ? true : undefined;
}

function negated(holds: boolean | undefined): boolean | undefined {
  return holds === undefined ? undefined : !holds;
}

function every(parts: readonly (boolean | undefined)[]): boolean | undefined {
  return parts.includes(false) ? false : parts.includes(undefined) ? undefined : true;
}

/**
 * Whether the first operand equals one of the others. Values of different types, such as 1 and "1", are an error in
 * Helm.
 */
function equal(words: readonly string[], scope: TemplateScope, valueOf: ValueLookup): boolean | undefined {
  const [first, ...others] = words.map((word) => constant(word, scope, valueOf));
  if (first === undefined || others.length === 0 || others.some((other) => typeof other !== typeof first)) {
    return undefined;
  }
  return others.includes(first);
}

function constant(word: string, scope: TemplateScope, valueOf: ValueLookup): string | number | boolean | undefined {
  if (word === 'true' || word === 'false') {
    return word === 'true';
  }
  if (/^\d+$/.test(word)) {
    return Number(word);
  }
  // An expression in parentheses may call any function.
  const reference = word.startsWith('(') ? undefined : referenceOf(word, scope);
  if (reference?.kind === 'text') {
    return reference.text;
  }
  const node = reference?.kind === 'value' ? valueOf(reference.pointer) : undefined;
  const value = isScalar(node) ? node.value : undefined;
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : undefined;
}

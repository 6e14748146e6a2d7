/**
 * The content of a document as plain values, with aliases and merges resolved. Equal aliases give the same object, so
 * that a file full of aliases does not cost more than its length (the library would count aliases and give up).
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type YAMLMap } from 'yaml';
import type { Pointer } from './field-path.ts';
import { type Anchors, anchorsOf, mergedMaps } from './anchors.ts';
import { isMergeKey, keyText } from './key.ts';

/** A part of a document that has no value, by its offset. */
export interface ValueProblem {
  readonly offset: number;
  readonly message: string;
}

/** The value of a document, and its parts without a value, which are null in it. */
export function plainValue(document: Document.Parsed): {
  readonly value: unknown;
  readonly problems: readonly ValueProblem[];
} {
  const reader = new Reader(anchorsOf(document));
  return { value: reader.read(document.contents), problems: reader.problems };
}

class Reader {
  readonly problems: ValueProblem[] = [];
  readonly #anchors: Anchors;
  readonly #done = new Map<unknown, unknown>();
  readonly #open = new Set<unknown>();

  constructor(anchors: Anchors) {
    this.#anchors = anchors;
  }

  read(written: unknown): unknown {
    const node = this.#anchors.resolve(written);
    if (isAlias(written) && node === undefined) {
      return this.#problem(written, `*${written.source} has no anchor &${written.source} before it`);
    }
    if (isScalar(node)) {
      return node.value;
    }
    if (this.#done.has(node)) {
      return this.#done.get(node);
    }
    if (this.#open.has(node)) {
      return this.#problem(written, 'an alias stands for something that it is a part of');
    }
    this.#open.add(node);
    const value = isMap(node) ? this.#readMap(node) : isSeq(node) ? node.items.map((item) => this.read(item)) : null;
    this.#open.delete(node);
    this.#done.set(node, value);
    return value;
  }

  #readMap(map: YAMLMap): Record<string, unknown> {
    const entries = new Map<string, unknown>();
    for (const pair of map.items) {
      const key = keyText(this.#anchors.resolve(pair.key));
      if (key !== undefined) {
        entries.set(key, this.read(pair.value));
      } else if (!isMergeKey(pair)) {
        this.#problem(pair.key, 'a key of a mapping is no single value');
      }
    }
    for (const merged of mergedMaps(map, this.#anchors)) {
      const source = isMap(merged.map) ? this.read(merged.map) : undefined;
      if (typeof source !== 'object' || source === null) {
        this.#problem(merged.pair.key, '<< stands before something that is no mapping');
        continue;
      }
      for (const [key, value] of Object.entries(source)) {
        if (!entries.has(key)) {
          entries.set(key, value);
        }
      }
    }
    // Assigning in a loop would treat a key `__proto__` specially.
    return Object.fromEntries(entries);
  }

  #problem(node: unknown, message: string): null {
    const { range } = node as { range?: readonly number[] };
    this.problems.push({ offset: range?.[0] ?? 0, message });
    return null;
  }
}

/** A copy of the value with replacements at the pointers; everything off the paths is shared with the original. */
export function withValues(
  value: unknown,
  changes: readonly { readonly pointer: Pointer; readonly value: unknown }[],
): unknown {
  const copies = new Set<unknown>();
  return changes.reduce((sum, change) => replacedAt(sum, change.pointer, change.value, copies), value);
}

/** @param copies the collections that were already copied and may be changed. */
function replacedAt(value: unknown, [step, ...rest]: Pointer, replacement: unknown, copies: Set<unknown>): unknown {
  if (step === undefined) {
    return replacement;
  }
  const copy = copies.has(value) ? (value as object) : copyOf(value);
  copies.add(copy);
  const below = Object.hasOwn(copy, step) ? (copy as Record<string | number, unknown>)[step] : undefined;
  const member = replacedAt(below, rest, replacement, copies);
  // An assignment would treat a key `__proto__` specially.
  Object.defineProperty(copy, step, { value: member, enumerable: true, writable: true, configurable: true });
  return copy;
}

function copyOf(value: unknown): object {
  return Array.isArray(value) ? [...(value as unknown[])] : Object.fromEntries(Object.entries(value ?? {}));
}

/** Whether two plain values are equal, ignoring the order of keys. Shared parts are compared once. */
export function sameValue(before: unknown, after: unknown, compared = new Map<unknown, Set<unknown>>()): boolean {
  if (typeof before !== 'object' || typeof after !== 'object' || before === null || after === null) {
    return Object.is(before, after);
  }
  if (before === after || compared.get(before)?.has(after) === true) {
    return true;
  }
  const seen = compared.get(before) ?? new Set();
  compared.set(before, seen.add(after));
  if (Array.isArray(before) !== Array.isArray(after)) {
    return false;
  }
  const others = new Map(Object.entries(after));
  const entries = Object.entries(before);
  return (
    entries.length === others.size &&
    entries.every(([key, value]) => others.has(key) && sameValue(value, others.get(key), compared))
  );
}

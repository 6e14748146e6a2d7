/**
 * Whether two parsed streams say the same but for some limits. It compares syntax nodes, not the values they resolve to:
 * aliases are compared by name, so that a file full of aliases costs no more than its length.
 */
import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node } from 'yaml';
import { compareQuantities, isQuantity, parseQuantity } from '../kernel/quantity.ts';
import { limitText } from './manifest-document.ts';

/** @param expected for a node of `before`, the quantity that has to stand in its place. */
export function sameDocuments(
  before: readonly Document.Parsed[],
  after: readonly Document.Parsed[],
  expected: ReadonlyMap<Node, string>,
): boolean {
  return (
    before.length === after.length &&
    before.every((document, index) => {
      const other = after[index];
      return (
        other !== undefined &&
        document.errors.length === other.errors.length &&
        document.comment === other.comment &&
        document.commentBefore === other.commentBefore &&
        sameNode(document.contents, other.contents, other, expected)
      );
    })
  );
}

function sameNode(
  before: unknown,
  after: unknown,
  document: Document.Parsed,
  expected: ReadonlyMap<Node, string>,
): boolean {
  if (isPair(before) || isPair(after)) {
    return (
      isPair(before) &&
      isPair(after) &&
      sameNode(before.key, after.key, document, expected) &&
      sameNode(before.value, after.value, document, expected)
    );
  }
  if (!isNode(before) || !isNode(after)) {
    return before === after;
  }
  if (before.comment !== after.comment || before.commentBefore !== after.commentBefore) {
    return false;
  }
  const wanted = expected.get(before);
  if (wanted !== undefined) {
    const text = isScalar(after) ? limitText(after, document) : undefined;
    return (
      text !== undefined && isQuantity(text) && compareQuantities(parseQuantity(text), parseQuantity(wanted)) === 0
    );
  }
  if (isAlias(before) || isAlias(after)) {
    return isAlias(before) && isAlias(after) && before.source === after.source;
  }
  if (before.anchor !== after.anchor || before.tag !== after.tag) {
    return false;
  }
  if (isScalar(before) && isScalar(after)) {
    return sameValue(before.value, after.value) && before.type === after.type && before.source === after.source;
  }
  if ((isMap(before) && isMap(after)) || (isSeq(before) && isSeq(after))) {
    return (
      before.items.length === after.items.length &&
      before.items.every((item, index) => sameNode(item, after.items[index], document, expected))
    );
  }
  return false;
}

function sameValue(before: unknown, after: unknown): boolean {
  // The library reads each merge key `<<` as a symbol of its own.
  return typeof before === 'symbol' && typeof after === 'symbol'
    ? before.description === after.description
    : Object.is(before, after);
}

function isNode(value: unknown): value is Node {
  return isScalar(value) || isAlias(value) || isMap(value) || isSeq(value);
}

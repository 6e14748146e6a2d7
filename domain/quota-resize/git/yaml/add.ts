/** Adds keys to mappings and items to sequences in the text of a YAML document. */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { Pointer } from './field-path.ts';
import { anchorsOf } from './anchors.ts';
import type { OpenDocument } from './document.ts';
import { ManifestEditError } from './error.ts';
import { endOfNode, indented, indentOf, insertedLines, insertedPair, nextLine, type TextChange } from './insert.ts';
import { isMergeKey } from './key.ts';
import { keyLiteral, literal, type LiteralStyle, styleOf } from './literal.ts';
import {
  type NodeLocation,
  locationAt,
  pointerText,
  rejectAliased,
  rejectAmbiguous,
  rejectShared,
} from './location.ts';
import type { Splice } from './splice.ts';
import { plainValue } from './value.ts';

/**
 * The edit that adds a key with a scalar value to the mapping at the pointer: a new line, or a new pair in a flow
 * mapping. The value is quoted like its neighbours.
 *
 * @throws {ManifestEditError} when there is no mapping at the pointer, when it has the key already, or when other
 *   places of the document would change too.
 */
export function mappingSplice(open: OpenDocument, pointer: Pointer, key: string, value: string): Splice {
  const location = editableLocation(open, pointer);
  const map = location.node;
  const target = [...pointer, key];
  const json = open.parsed.json;
  if (isEmpty(map)) {
    const written = literal(value, { quote: json ? '"' : '', numbers: true, json });
    return inEmpty(open, target, location, `${keyLiteral(key, '', json)}: ${written}`, written);
  }
  if (!isMap(map)) {
    throw new ManifestEditError(`${pointerText(pointer)} at line ${lineOf(open, map)} is no mapping`);
  }
  const merges = (map.items as Pair<Node, Node | null>[]).filter(isMergeKey);
  const merged = locationAt(open, target);
  if (merged !== undefined && merged.borrowed === undefined) {
    throw new ManifestEditError(`${pointerText(target)} is there already, at line ${lineOf(open, merged.node)}`);
  }
  const style =
    merged === undefined ? styleIn(map, open, json) : styleOf(anchorsOf(open.document).resolve(merged.node), json);
  const after = merged === undefined ? undefined : merges.at(-1);
  return insertedPair(open, target, map, literal(value, style), after === undefined ? {} : { after });
}

/**
 * The edits that append items, in order, to the sequence at the pointer. A missing sequence is created as the last key
 * of its mapping.
 *
 * @param items the YAML of each item: one line in flow style, or lines in block style.
 * @throws {ManifestEditError} when the pointer is not a sequence, or when other places of the document would change
 *   too.
 */
export function sequenceSplices(open: OpenDocument, pointer: Pointer, items: readonly string[]): readonly Splice[] {
  if (locationAt(open, pointer) === undefined) {
    return [newSequence(open, pointer, items)];
  }
  const location = editableLocation(open, pointer);
  const { node } = location;
  const source = open.parsed.part.text;
  if (isEmpty(node) && !isMap(node) && !isSeq(node)) {
    return [inEmptySequence(open, pointer, location, items)];
  }
  if (!isSeq(node)) {
    throw new ManifestEditError(`${pointerText(pointer)} at line ${lineOf(open, node)} is no sequence`);
  }
  if (node.flow === true) {
    return flowItems(open, pointer, node, items.map(flowOf));
  }
  const change = (item: string): TextChange => {
    const lines = indented(itemLines(item), indentOf(node));
    return insertedLines(source, nextLine(source, endOfNode(node)), lines);
  };
  return items.map((item, index) => ({
    open,
    pointer: [...pointer, node.items.length + index],
    value: item,
    ...change(item),
  }));
}

/** The location of a node that can be edited without changing another place. */
function editableLocation(open: OpenDocument, pointer: Pointer): NodeLocation {
  const location = locationAt(open, pointer);
  if (location === undefined) {
    throw new ManifestEditError(`${pointerText(pointer)} is not in the document`);
  }
  const { borrowed, node } = location;
  if (borrowed?.kind === 'alias' || isAlias(node)) {
    return rejectAliased(open, pointer, borrowed?.kind === 'alias' ? borrowed.alias : (node as Alias));
  }
  if (borrowed !== undefined) {
    throw new ManifestEditError(`${pointerText(pointer)} comes from a merge key <<; write it out to change it`);
  }
  rejectShared(open, pointer, node === null ? location.containers : [...location.containers, node]);
  rejectAmbiguous(open, pointer, location);
  return location;
}

function lineOf({ parsed }: OpenDocument, node: Node | null): number {
  return parsed.lineAt(node?.range?.[0] ?? 0);
}

/** Whether a node is empty: a key without a value, `{}` or `[]`. */
function isEmpty(node: Node | null): boolean {
  if (node === null || (isScalar(node) && node.value === null && node.source === '')) {
    return true;
  }
  return (isMap(node) || isSeq(node)) && node.items.length === 0;
}

function inEmpty(open: OpenDocument, pointer: Pointer, location: NodeLocation, pair: string, value: string): Splice {
  const { node } = location;
  if (isSeq(node)) {
    throw new ManifestEditError(`${pointerText(pointer.slice(0, -1))} is a sequence, not a mapping`);
  }
  if (isMap(node)) {
    const start = (node.range?.[0] ?? 0) + 1;
    return { open, pointer, start, end: start, replacement: pair, value };
  }
  return { open, pointer, value, ...belowKey(open, location, [pair], childIndent(open, location)) };
}

/** Inserts lines below a key that has no value yet. */
function belowKey(open: OpenDocument, location: NodeLocation, lines: readonly string[], indent: number): TextChange {
  const { text } = open.parsed.part;
  const end =
    location.node?.anchor === undefined ? (location.pair?.key.range?.[1] ?? 0) : (location.node.range?.[1] ?? 0);
  const parent = location.containers.at(-1);
  if (location.pair === undefined || (parent?.flow ?? false)) {
    throw new ManifestEditError(`line ${open.parsed.lineAt(end)} has no value; write an empty {} or [] there`);
  }
  return insertedLines(text, nextLine(text, end), indented(lines, indent));
}

function childIndent(open: OpenDocument, { containers }: NodeLocation): number {
  const parent = containers.at(-1);
  return (parent === undefined ? 0 : indentOf(parent)) + stepOf(open);
}

/** The file's indentation of nested mappings; two if it has none. */
function stepOf({ document }: OpenDocument): number {
  const root = document.contents;
  if (!isMap(root) || root.flow === true) {
    return 2;
  }
  const child = root.items.map(({ value }) => value).find((value) => isMap(value) && value.flow !== true);
  return child === undefined ? 2 : Math.max(1, indentOf(child as Node) - indentOf(root));
}

/** The file's indentation of sequence items below their key. */
function sequenceStep({ document }: OpenDocument): number {
  const root = document.contents;
  const child = isMap(root)
    ? root.items.map(({ value }) => value).find((value) => isSeq(value) && value.flow !== true)
    : undefined;
  return child === undefined || !isMap(root) ? 0 : indentOf(child as Node) - indentOf(root);
}

function newSequence(open: OpenDocument, pointer: Pointer, items: readonly string[]): Splice {
  const parent = editableLocation(open, pointer.slice(0, -1)).node;
  if (!isMap(parent) || typeof pointer.at(-1) !== 'string') {
    throw new ManifestEditError(`${pointerText(pointer)} is not in the document, and has no mapping to be added to`);
  }
  if (parent.items.length === 0) {
    throw new ManifestEditError(`${pointerText(pointer)} has no neighbour to be written next to`);
  }
  if (parent.flow === true) {
    return insertedPair(open, pointer, parent, `[${items.map(flowOf).join(', ')}]`);
  }
  return insertedPair(open, pointer, parent, '', { below: indented(items.flatMap(itemLines), sequenceStep(open)) });
}

function inEmptySequence(
  open: OpenDocument,
  pointer: Pointer,
  location: NodeLocation,
  items: readonly string[],
): Splice {
  const parent = location.containers.at(-1);
  const own = parent === undefined ? 0 : indentOf(parent);
  const lines = items.flatMap(itemLines);
  return { open, pointer, ...belowKey(open, location, lines, own + sequenceStep(open)), value: lines.join('\n') };
}

function flowItems(
  open: OpenDocument,
  pointer: Pointer,
  sequence: YAMLSeq,
  items: readonly string[],
): readonly Splice[] {
  const { text } = open.parsed.part;
  const last = sequence.items.at(-1) as Node | undefined;
  const at = last === undefined ? (sequence.range?.[0] ?? 0) + 1 : endOfNode(last);
  const start = last?.range?.[0] ?? 0;
  const margin = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const gap = last !== undefined && /^[ \t]+$/.test(margin) ? `,${eol}${margin}` : ', ';
  return items.map((item, index) => ({
    open,
    pointer: [...pointer, sequence.items.length + index],
    start: at,
    end: at,
    replacement: last === undefined && index === 0 ? item : `${gap}${item}`,
    value: item,
  }));
}

/** The lines of an item in a block sequence. */
function itemLines(item: string): readonly string[] {
  const lines = item.replace(/\r?\n$/, '').split(/\r?\n/);
  return lines.map((line, index) => (index === 0 ? `- ${line}` : line === '' ? '' : `  ${line}`));
}

/** An item in one line, as JSON. */
function flowOf(item: string): string {
  return JSON.stringify(plainValue(parseDocument(item, { merge: true })).value);
}

/** The style for values of a mapping: quoted if some of them are. */
function styleIn(map: YAMLMap, open: OpenDocument, json: boolean): LiteralStyle {
  const anchors = anchorsOf(open.document);
  const styles = map.items
    .filter((pair) => !isMergeKey(pair))
    .map(({ value }) => anchors.resolve(value))
    .filter((value): value is Scalar => isScalar(value))
    .map((value) => styleOf(value, json));
  const quoted = styles.findLast(({ quote }) => quote !== '');
  return quoted ?? { quote: '', numbers: styles.length === 0 || styles.some(({ numbers }) => numbers), json };
}

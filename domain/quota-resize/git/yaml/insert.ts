/** Inserts a new key into a mapping in the text, with the indentation and the quotes of its neighbours. */
import { isMap, isScalar, isSeq, type Node, type Pair, Scalar, type YAMLMap } from 'yaml';
import type { Pointer } from './field-path.ts';
import type { OpenDocument } from './document.ts';
import { ManifestEditError } from './error.ts';
import { isMergeKey } from './key.ts';
import { keyLiteral, type LiteralStyle } from './literal.ts';
import { pointerText } from './location.ts';
import type { Splice } from './splice.ts';

/** The parser stores a node's indentation in this token. */
type BlockToken = { readonly type: string; readonly indent?: number } | undefined;

/**
 * Inserts a pair into a mapping that has pairs, on a line of its own unless the mapping is written in one line.
 *
 * @param pointer of the new key.
 * @param value one line of YAML.
 * @param options.after the pair that must precede the new one; absent: the last pair.
 * @param options.below lines of YAML below the key in place of the value, indented relative to the key's column.
 */
export function insertedPair(
  open: OpenDocument,
  pointer: Pointer,
  map: YAMLMap,
  value: string,
  options: { readonly after?: Pair; readonly below?: readonly string[] } = {},
): Splice {
  const { part, json } = open.parsed;
  const { text } = part;
  const key = keyLiteral(String(pointer.at(-1)), keyQuoteOf(map, json), json);
  const below = options.below ?? [];
  const pairs = map.items as Pair<Node, Node | null>[];
  const after = options.after ?? pairs.at(-1);
  if (after === undefined) {
    throw new ManifestEditError(`${pointerText(pointer)} has no neighbour to be written next to`);
  }
  const index = pairs.indexOf(after as Pair<Node, Node | null>);
  if (map.flow === true) {
    return {
      open,
      pointer,
      ...flowChange(text, map, index, { key, value, fixed: options.after !== undefined }),
      value,
    };
  }
  const lines = below.length === 0 ? [`${key}: ${value}`] : [`${key}:`, ...below];
  return {
    open,
    pointer,
    ...blockChange(text, pairs, index, { lines: indented(lines, indentOf(map)), fixed: options.after !== undefined }),
    value: below.length === 0 ? value : below.join('\n'),
  };
}

/** A range of the text, by its offsets in the part of the stream, and its replacement. */
export interface TextChange {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** The column of a block collection's keys or dashes. */
export function indentOf(node: Node): number {
  const token = node.srcToken as BlockToken;
  if (token?.indent === undefined) {
    throw new ManifestEditError('nothing can be added to a collection that is not written in lines of its own');
  }
  return token.indent;
}

/** Indents lines; empty lines stay empty. */
export function indented(lines: readonly string[], columns: number): readonly string[] {
  return lines.map((line) => (line === '' ? '' : `${' '.repeat(columns)}${line}`));
}

/** @param added.fixed whether the new pair must come after the pair at the index, or only somewhere near. */
function blockChange(
  text: string,
  pairs: readonly Pair<Node, Node | null>[],
  index: number,
  added: { readonly lines: readonly string[]; readonly fixed: boolean },
): TextChange {
  const end = endOfPair(pairs[index]);
  const before = index > 0 && !added.fixed ? endOfPair(pairs[index - 1]) : end;
  // In a file without a final newline, inserting before the last pair changes one line in the diff, inserting after it
  // two.
  return insertedLines(text, nextLine(text, end) ?? nextLine(text, before), added.lines);
}

/** Inserts whole lines at the start of a line, or at the end of a text without a final newline. */
export function insertedLines(text: string, at: number | undefined, lines: readonly string[]): TextChange {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  if (at === undefined) {
    return { start: text.length, end: text.length, replacement: lines.map((line) => `${eol}${line}`).join('') };
  }
  return { start: at, end: at, replacement: lines.map((line) => `${line}${eol}`).join('') };
}

/** The start of the line after an offset; undefined when there is none. */
export function nextLine(text: string, offset: number): number | undefined {
  if (text[offset - 1] === '\n') {
    return offset;
  }
  const newline = text.indexOf('\n', offset);
  return newline === -1 ? undefined : newline + 1;
}

/** The end of a node's text, without comments and blank lines after it. */
export function endOfNode(node: Node | null | undefined): number {
  if ((isMap(node) || isSeq(node)) && node.flow !== true) {
    const last = node.items.at(-1) as Pair<Node, Node | null> | Node | undefined;
    if (last !== undefined) {
      return isMap(node) ? endOfPair(last as Pair<Node, Node | null>) : endOfNode(last as Node);
    }
  }
  return node?.range?.[1] ?? 0;
}

function endOfPair(pair: Pair<Node, Node | null> | undefined): number {
  const value = pair?.value;
  const range = value?.range;
  // The range of a missing value may start some lines further down, so the key's end is used.
  return range && (range[1] > range[0] || value?.anchor !== undefined) ? endOfNode(value) : endOfNode(pair?.key);
}

function flowChange(
  text: string,
  map: YAMLMap,
  index: number,
  added: { readonly key: string; readonly value: string; readonly fixed: boolean },
): TextChange {
  const pairs = map.items as Pair<Node, Node | null>[];
  const neighbour = pairs[index];
  const keyStart = neighbour?.key.range?.[0] ?? 0;
  const colon = colonAfter(text, neighbour);
  const pair = `${added.key}${colon}${added.value}`;
  const lineStart = text.lastIndexOf('\n', keyStart - 1) + 1;
  const margin = text.slice(lineStart, keyStart);
  const end = endOfFlowPair(neighbour);
  if (/^[ \t]*$/.test(margin)) {
    // Each pair is on its own line: inserting before the last pair needs no change of a comma.
    const previous = index > 0 ? endOfFlowPair(pairs[index - 1]) : (map.range?.[0] ?? 0);
    const at = lineAfterComma(text, added.fixed ? end : previous) ?? (added.fixed ? undefined : lineStart);
    if (at !== undefined) {
      return insertedLines(text, at, [`${margin}${pair},`]);
    }
  }
  return { start: end, end, replacement: `,${colon.slice(1)}${pair}` };
}

/** The text between a key and its value: `:` and perhaps a space. */
function colonAfter(text: string, pair: Pair<Node, Node | null> | undefined): string {
  const found = text.slice(pair?.key.range?.[1], pair?.value?.range?.[0]);
  return found === ':' ? ':' : ': ';
}

/** The start of the next line, if only a comma (or an opening bracket) and a comment precede it. */
function lineAfterComma(text: string, offset: number): number | undefined {
  const at = nextLine(text, offset);
  return at !== undefined && /^[ \t]*[,{][ \t]*(?:#[^\n]*)?\r?\n$/.test(text.slice(offset, at)) ? at : undefined;
}

function endOfFlowPair(pair: Pair<Node, Node | null> | undefined): number {
  return pair?.value?.range?.[1] ?? pair?.key.range?.[1] ?? 0;
}

function keyQuoteOf(map: YAMLMap, json: boolean): LiteralStyle['quote'] {
  const keys = map.items.filter((pair) => !isMergeKey(pair)).map(({ key }) => key);
  const quotes = keys.map((key) =>
    isScalar(key) && key.type === Scalar.QUOTE_DOUBLE
      ? '"'
      : isScalar(key) && key.type === Scalar.QUOTE_SINGLE
        ? "'"
        : '',
  );
  return json ? '"' : quotes.includes('') ? '' : (quotes.at(-1) ?? '');
}

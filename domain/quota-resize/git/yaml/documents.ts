/** The documents of a manifest file and the ResourceQuotas in them, with the place of each value. */
import { type Document, isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import type { Pointer } from './field-path.ts';
import { anchorsOf } from './anchors.ts';
import { limitText, parsePart, problemsOf, splitStream, type StreamPart } from './document.ts';
import { isMergeKey, pairOf } from './key.ts';

export type { Pointer } from './field-path.ts';

/** A document that was read, or the error that prevented it. */
export interface ManifestDocument {
  readonly path: string;
  /** The index of the part between `---` lines, and of the document in that part. */
  readonly part: number;
  readonly index: number;
  readonly root: Node | null;
  readonly syntax: Document.Parsed;
  /** The 1-based line in the file of a node. */
  lineOf(node: unknown): number;
  readonly error?: { readonly line: number; readonly message: string };
}

/** A part of a file between `---` lines, parsed on first use. */
export interface FilePart {
  readonly text: string;
  readonly documents: readonly ManifestDocument[];
}

/** One limit of a quota as it is written. */
export interface Leaf {
  readonly key: string;
  /** The pointer in the document. */
  readonly pointer: Pointer;
  /** 1-based, in the file. */
  readonly line: number;
  /** Absent when it is not a scalar; null when it is `null`, which removes the key in a patch. */
  readonly text?: string | null;
  /** Whether `<<` merges the value in; a key of the mapping itself would override it. */
  readonly merged: boolean;
  /** The anchor that shares the value, so that an edit would change another place too. */
  readonly shared?: string;
}

/** A ResourceQuota, or a patch of one. */
export interface QuotaObject {
  readonly document: ManifestDocument;
  readonly pointer: Pointer;
  readonly apiVersion: string | undefined;
  readonly kind: string | undefined;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
  /** The line of metadata.name, or else of the object. */
  readonly line: number;
  /** Undefined when spec.hard is missing or is not a mapping. */
  readonly hard: readonly Leaf[] | undefined;
  /** If spec.hard is not a mapping: what it is, a phrase. */
  readonly noMapping?: string;
  /** Whether `spec` or `spec.hard` is null, which removes it in a patch. */
  readonly cleared: boolean;
  /** `delete` or `replace` when the top level of the patch says so; `other` when a lower level does. */
  readonly directive?: string;
  readonly labels: Readonly<Record<string, string>>;
}

const KIND = 'ResourceQuota';

/** The parts of a file. */
export function partsOf(path: string, text: string): readonly FilePart[] {
  return splitStream(text).map((part, index) => new LazyPart(path, part, index));
}

class LazyPart implements FilePart {
  readonly text: string;
  readonly #path: string;
  readonly #part: StreamPart;
  readonly #index: number;
  #documents: readonly ManifestDocument[] | undefined;

  constructor(path: string, part: StreamPart, index: number) {
    this.text = part.text;
    this.#path = path;
    this.#part = part;
    this.#index = index;
  }

  get documents(): readonly ManifestDocument[] {
    this.#documents ??= readPart(this.#path, this.#part, this.#index);
    return this.#documents;
  }
}

function readPart(path: string, part: StreamPart, partIndex: number): readonly ManifestDocument[] {
  const parsed = parsePart(part);
  return parsed.documents.map((syntax, index) => {
    const [error] = problemsOf(parsed, syntax);
    return {
      path,
      part: partIndex,
      index,
      root: syntax.contents,
      syntax,
      lineOf: (node) => parsed.lineAt(startOf(node)),
      ...(error === undefined ? {} : { error: { line: error.line, message: error.message } }),
    };
  });
}

function startOf(node: unknown): number {
  return isAlias(node) || isScalar(node) || isMap(node) || isSeq(node) ? (node.range?.[0] ?? 0) : 0;
}

/** The node that an alias refers to; any other node is returned as it is. */
export function resolved(node: unknown, document: ManifestDocument): unknown {
  return anchorsOf(document.syntax).resolve(node);
}

/** The node at a pointer; aliases are resolved on the way and at the end. Undefined when there is none. */
export function nodeAt(document: ManifestDocument, pointer: Pointer, from: unknown = document.root): unknown {
  let node = resolved(from, document);
  for (const step of pointer) {
    if (isMap(node)) {
      node = resolved(pairOf(node, step)?.value, document);
    } else if (isSeq(node) && typeof step === 'number') {
      node = resolved(node.items[step], document);
    } else {
      return undefined;
    }
  }
  return node;
}

/** The text at a pointer, if it is a string scalar. */
export function textAt(document: ManifestDocument, pointer: Pointer, from?: unknown): string | undefined {
  const node = nodeAt(document, pointer, from ?? document.root);
  return isScalar(node) && typeof node.value === 'string' ? node.value : undefined;
}

/** The ResourceQuotas of a document, including those inside Lists. */
export function quotasIn(document: ManifestDocument): readonly QuotaObject[] {
  const found: QuotaObject[] = [];
  const visit = (node: unknown, pointer: Pointer, listed: boolean): void => {
    const object = resolved(node, document);
    // Limits the depth: real Lists do not nest so deep, and an alias may make a document infinite.
    if (!isMap(object) || pointer.length > 8) {
      return;
    }
    const kind = textAt(document, ['kind'], object);
    const apiVersion = textAt(document, ['apiVersion'], object);
    // The items of a typed list may omit kind and apiVersion.
    if ((kind === KIND && apiVersion === 'v1') || (listed && kind === undefined && apiVersion === undefined)) {
      found.push(describe(document, object, pointer));
    } else if (apiVersion === 'v1' && (kind === 'List' || kind === `${KIND}List`)) {
      const items = nodeAt(document, ['items'], object);
      if (isSeq(items)) {
        for (const [index, item] of items.items.entries()) {
          visit(item, [...pointer, 'items', index], kind !== 'List');
        }
      }
    }
  };
  if (document.error === undefined) {
    visit(document.root, [], false);
  }
  return found;
}

/** Reads a mapping as a ResourceQuota or as a patch of one. */
export function describe(document: ManifestDocument, object: YAMLMap, pointer: Pointer): QuotaObject {
  const hardNode = nodeAt(document, ['spec', 'hard'], object);
  const directive = directiveOf(document, object);
  const namePair = nodeAt(document, ['metadata'], object);
  const spec = nodeAt(document, ['spec'], object);
  const written = isMap(spec) ? pairOf(spec, 'hard')?.value : undefined;
  const nameNode = isMap(namePair) ? pairOf(namePair, 'name')?.value : undefined;
  return {
    document,
    pointer,
    apiVersion: textAt(document, ['apiVersion'], object),
    kind: textAt(document, ['kind'], object),
    name: textAt(document, ['metadata', 'name'], object),
    namespace: textAt(document, ['metadata', 'namespace'], object) || undefined,
    line: document.lineOf(nameNode ?? object),
    hard: isMap(hardNode)
      ? leavesOf(document, hardNode, [...pointer, 'spec', 'hard'], sharedOnTheWay(document, object, ['spec', 'hard']))
      : undefined,
    ...(hardNode === undefined && isAlias(written)
      ? { noMapping: `has *${written.source} as spec.hard, an alias without an anchor in the same document` }
      : isScalar(hardNode) && hardNode.value !== null
        ? { noMapping: 'has a spec.hard that is no mapping' }
        : {}),
    cleared: isNull(nodeAt(document, ['spec'], object)) || isNull(hardNode),
    ...(directive === undefined ? {} : { directive }),
    labels: textsOf(document, nodeAt(document, ['metadata', 'labels'], object)),
  };
}

function isNull(node: unknown): boolean {
  return isScalar(node) && node.value === null;
}

function textsOf(document: ManifestDocument, node: unknown): Readonly<Record<string, string>> {
  const entries = isMap(node) ? (node.items as Pair<Node, Node | null>[]) : [];
  return Object.fromEntries(
    entries.flatMap(({ key, value }) => {
      const text = resolved(value, document);
      return isScalar(key) && isScalar(text) ? [[String(key.value), String(text.value)]] : [];
    }),
  );
}

function directiveOf(document: ManifestDocument, object: YAMLMap): string | undefined {
  const top = textAt(document, ['$patch'], object);
  if (top !== undefined) {
    return top;
  }
  const spec = nodeAt(document, ['spec'], object);
  const hard = nodeAt(document, ['spec', 'hard'], object);
  return [spec, hard].some((node) => isMap(node) && pairOf(node, '$patch') !== undefined) ? 'other' : undefined;
}

/** The values of the mapping at a pointer; none when there is no mapping. */
export function leavesAt(document: ManifestDocument, pointer: Pointer): readonly Leaf[] {
  const map = nodeAt(document, pointer);
  return isMap(map) ? leavesOf(document, map, pointer, sharedOnTheWay(document, document.root, pointer)) : [];
}

/** The values of a mapping of limits. */
export function leavesOf(
  document: ManifestDocument,
  map: YAMLMap,
  pointer: Pointer,
  sharedAbove?: string,
): readonly Leaf[] {
  const own: Leaf[] = [];
  const merged: Leaf[] = [];
  for (const pair of map.items as Pair<Node, Node | null>[]) {
    const { key, value } = pair;
    if (isMergeKey(pair)) {
      merged.push(...mergedLeaves(document, value, pointer));
    } else if (isScalar(key) && typeof key.value === 'string') {
      const shared = sharedAbove ?? sharedAnchor(document, value);
      const text = leafText(document, value);
      own.push({
        key: key.value,
        pointer: [...pointer, key.value],
        line: document.lineOf(value ?? key),
        ...(text === undefined ? {} : { text }),
        merged: false,
        ...(shared === undefined ? {} : { shared }),
      });
    }
  }
  const written = new Set(own.map(({ key }) => key));
  const all = [...own];
  for (const leaf of merged) {
    if (!written.has(leaf.key)) {
      written.add(leaf.key);
      all.push(sharedAbove === undefined ? leaf : { ...leaf, shared: sharedAbove });
    }
  }
  return all;
}

function leafText(document: ManifestDocument, value: Node | null): string | null | undefined {
  const scalar = resolved(value, document);
  if (scalar === null || scalar === undefined || isNull(scalar)) {
    return null;
  }
  return limitText(scalar, document.syntax);
}

function mergedLeaves(document: ManifestDocument, value: unknown, pointer: Pointer): readonly Leaf[] {
  const source = resolved(value, document);
  const maps = isSeq(source) ? source.items.map((item) => resolved(item, document)) : [source];
  return maps.flatMap((map) =>
    isMap(map)
      ? leavesOf(document, map, pointer).map(({ shared: _anchor, ...leaf }) => ({ ...leaf, merged: true }))
      : [],
  );
}

/** The anchor or alias on the way to a node through which other places share it. */
function sharedOnTheWay(document: ManifestDocument, object: Node | null, steps: Pointer): string | undefined {
  let node: unknown = object;
  let shared = sharedAnchor(document, object);
  for (const step of steps) {
    const next = isMap(node)
      ? pairOf(node, step)?.value
      : isSeq(node) && typeof step === 'number'
        ? node.items[step]
        : undefined;
    shared ??= isAlias(next) ? next.source : sharedAnchor(document, next);
    node = resolved(next, document);
  }
  return shared;
}

/** The anchor of a node that aliases refer to. */
function sharedAnchor({ syntax }: ManifestDocument, node: unknown): string | undefined {
  const own = isScalar(node) || isMap(node) || isSeq(node) ? node : undefined;
  return own?.anchor !== undefined && anchorsOf(syntax).users(own).length > 0 ? own.anchor : undefined;
}

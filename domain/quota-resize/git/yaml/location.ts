/** The location of a value in a document, and what lies on the way from the root to it. */
import { type Alias, isAlias, isMap, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { formatField, type Pointer } from './field-path.ts';
import { type Anchors, anchorsOf, mergedMaps } from './anchors.ts';
import type { OpenDocument } from './document.ts';
import { ManifestEditError } from './error.ts';
import { isMergeKey, keyText, pairOf } from './key.ts';

/** The value comes from another place in the document: its container is an alias, or a merge provides its key. */
export type Borrowed =
  | { readonly kind: 'alias'; readonly alias: Alias; readonly depth: number }
  | {
      readonly kind: 'merge';
      readonly map: YAMLMap;
      /** The merge that provides the key. */
      readonly pair: Pair;
      /** The last merge of the mapping; every reader lets a key after it override the merge. */
      readonly last: Pair;
      readonly depth: number;
    };

export interface NodeLocation {
  /** The node as written, which may be an alias; null when a key has no value. */
  readonly node: Node | null;
  /** The pair that contains the node, if the node is the value of a key. */
  readonly pair?: Pair<Node, Node | null>;
  /** The collections on the way, from the root on. */
  readonly containers: readonly (YAMLMap | YAMLSeq)[];
  /** The pairs on the way, each with its mapping. */
  readonly pairs: readonly { readonly map: YAMLMap; readonly pair: Pair<Node, Node | null> }[];
  /** The first step that leads through an alias or a merge; `depth` is the step's index in the pointer. */
  readonly borrowed?: Borrowed;
}

/** The location of the node at the pointer; undefined when there is none. */
export function locationAt({ document }: OpenDocument, pointer: Pointer): NodeLocation | undefined {
  const anchors = anchorsOf(document);
  const containers: (YAMLMap | YAMLSeq)[] = [];
  const pairs: { map: YAMLMap; pair: Pair<Node, Node | null> }[] = [];
  let location: Pick<NodeLocation, 'node' | 'pair'> = { node: document.contents };
  let borrowed: Borrowed | undefined;
  for (const [depth, step] of pointer.entries()) {
    if (isAlias(location.node)) {
      borrowed ??= { kind: 'alias', alias: location.node, depth };
    }
    const container = anchors.resolve(location.node);
    if (isMap(container)) {
      containers.push(container);
      const found = findPair(container, step, anchors);
      if (found === undefined) {
        return undefined;
      }
      if (found.merge !== undefined) {
        const last = container.items.findLast(isMergeKey) ?? found.merge;
        borrowed ??= { kind: 'merge', map: container, pair: found.merge, last, depth };
      }
      location = { node: found.pair.value, pair: found.pair };
      pairs.push({ map: container, pair: found.pair });
    } else if (isSeq(container) && typeof step === 'number' && step in container.items) {
      containers.push(container);
      location = { node: container.items[step] as Node };
    } else {
      return undefined;
    }
  }
  return { ...location, containers, pairs, ...(borrowed === undefined ? {} : { borrowed }) };
}

/** The line of a location: of the node itself, or of the alias or merge that provides it. From 1 on. */
export function lineOfLocation({ parsed }: OpenDocument, { borrowed, node, pair }: NodeLocation): number {
  const own = node !== null && (node.range?.[1] ?? 0) > (node.range?.[0] ?? 0) ? node : (pair?.key ?? node);
  const at =
    borrowed?.kind === 'alias' ? borrowed.alias : borrowed?.kind === 'merge' ? (borrowed.pair.key as Node) : own;
  return parsed.lineAt(at?.range?.[0] ?? 0);
}

interface FoundPair {
  readonly pair: Pair<Node, Node | null>;
  /** The mapping's own `<<` that provides the pair. */
  readonly merge?: Pair;
}

function findPair(
  map: YAMLMap,
  key: string | number,
  anchors: Anchors,
  visited = new Set<YAMLMap>(),
): FoundPair | undefined {
  const own = pairOf(map, key);
  if (own !== undefined) {
    return { pair: own };
  }
  visited.add(map);
  for (const merged of mergedMaps(map, anchors)) {
    if (isMap(merged.map) && !visited.has(merged.map)) {
      const found = findPair(merged.map, key, anchors, visited);
      if (found !== undefined) {
        return { pair: found.pair, merge: merged.pair };
      }
    }
  }
  return undefined;
}

/** A pointer in words, for messages. */
export function pointerText(pointer: Pointer): string {
  return pointer.length === 0 ? 'the document' : formatField(pointer);
}

/**
 * Rejects an edit that would also change other places of the document.
 *
 * @throws {ManifestEditError} when a node on the way (or the value) has an anchor with aliases.
 */
export function rejectShared({ parsed, document }: OpenDocument, pointer: Pointer, nodes: readonly Node[]): void {
  const anchors = anchorsOf(document);
  for (const node of nodes) {
    const users = isAlias(node) ? [] : anchors.users(node);
    if (users.length > 0) {
      const lines = users.map(({ range }) => parsed.lineAt(range?.[0] ?? 0));
      throw new ManifestEditError(
        `${pointerText(pointer)} belongs to the YAML anchor &${node.anchor}, which ${usedAt(lines)} too; write the value out there, or give this place its own`,
        'SharedByAnchor',
      );
    }
  }
}

function usedAt(lines: readonly number[]): string {
  const distinct = [...new Set(lines)];
  return distinct.length === 1 ? `line ${distinct[0]} uses` : `lines ${distinct.join(', ')} use`;
}

/** @throws {ManifestEditError} for a value whose container is an alias. */
export function rejectAliased({ parsed }: OpenDocument, pointer: Pointer, alias: Alias): never {
  const line = parsed.lineAt(alias.range?.[0] ?? 0);
  throw new ManifestEditError(
    `${pointerText(pointer)} comes from the alias *${alias.source} at line ${line}, which stands for a whole collection; write it out there to change one value of it`,
    'SharedByAnchor',
  );
}

/**
 * Rejects a key before a `<<` that provides the same key. YAML readers disagree about it: that of kubectl and Helm
 * (sigs.k8s.io/yaml) takes the merged value, others the key's own.
 *
 * @throws {ManifestEditError} when there is such a key on the way.
 */
export function rejectAmbiguous({ parsed, document }: OpenDocument, pointer: Pointer, { pairs }: NodeLocation): void {
  const anchors = anchorsOf(document);
  for (const { map, pair } of pairs) {
    const own = map.items.indexOf(pair);
    const key = keyText(pair.key);
    const merge = mergedMaps(map, anchors).find(
      (merged) =>
        own !== -1 &&
        key !== undefined &&
        map.items.indexOf(merged.pair) > own &&
        isMap(merged.map) &&
        findPair(merged.map, key, anchors) !== undefined,
    );
    if (merge !== undefined) {
      const line = parsed.lineAt((merge.pair.key as Node).range?.[0] ?? 0);
      throw new ManifestEditError(
        `${pointerText(pointer)} is also brought by the merge key << at line ${line}, which some readers take instead; move the << above it`,
        'SharedByAnchor',
      );
    }
  }
}

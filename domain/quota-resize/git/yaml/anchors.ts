/**
 * Resolves the aliases of a document. One walk over the document serves all aliases, whereas the library walks once per
 * alias.
 */
import { type Alias, type Document, isAlias, isMap, type Node, type Pair, visit, type YAMLMap } from 'yaml';
import { isMergeKey } from './key.ts';

export interface Anchors {
  /**
   * The node that an alias refers to; any other node is returned as it is. Undefined when no anchor with the name
   * precedes the alias.
   */
  resolve(node: unknown): unknown;
  /** The aliases that refer to exactly this node. */
  users(node: Node): readonly Alias[];
}

const cache = new WeakMap<Document.Parsed, Anchors>();

/** The anchors of a parsed document, which must not be changed afterwards. */
export function anchorsOf(document: Document.Parsed): Anchors {
  const cached = cache.get(document);
  if (cached !== undefined) {
    return cached;
  }
  const named = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  const users = new Map<Node, Alias[]>();
  visit(document, {
    Node: (_key, node) => {
      if (isAlias(node)) {
        const target = named.get(node.source);
        if (target !== undefined) {
          targets.set(node, target);
          const existing = users.get(target);
          if (existing === undefined) {
            users.set(target, [node]);
          } else {
            existing.push(node);
          }
        }
      } else if (node.anchor !== undefined) {
        named.set(node.anchor, node);
      }
    },
  });
  const anchors: Anchors = {
    resolve: (node) => (isAlias(node) ? targets.get(node) : node),
    users: (node) => users.get(node) ?? [],
  };
  cache.set(document, anchors);
  return anchors;
}

/** The mappings that a mapping merges with `<<`, each with its pair; an earlier one overrides a later one. */
export function mergedMaps(map: YAMLMap, anchors: Anchors): readonly { readonly pair: Pair; readonly map: unknown }[] {
  return map.items.filter(isMergeKey).flatMap((pair) => {
    const source = anchors.resolve(pair.value);
    const sources =
      !isMap(source) && typeof source === 'object' && source !== null && 'items' in source
        ? (source.items as unknown[])
        : [source];
    return sources.map((source) => ({ pair, map: anchors.resolve(source) }));
  });
}

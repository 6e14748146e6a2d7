/** A quota whose limits are values of a chart, located without evaluating the chart's templates. */
import type { Leaf, ManifestDocument } from '../../yaml/documents.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';
import type { LocateAnswer, Search } from './search.ts';

/** Values of a document that are the limits of the wanted quota. */
export interface DocumentValues {
  readonly document: ManifestDocument;
  readonly leaves: readonly Leaf[];
  /** The line of the first value, or of the mapping. */
  readonly line: number;
}

/** @param found how the values were found, to follow "found in `path:line`". */
export function placedInValues(
  { wanted, candidate }: Search,
  { document, leaves, line }: DocumentValues,
  found: string,
): Extract<LocateAnswer, { kind: 'located' }> {
  const { path } = document;
  return {
    kind: 'located',
    location: {
      namespace: wanted.namespace,
      name: wanted.name,
      path,
      line,
      layout: 'helm',
      values: Object.fromEntries(leaves.map((leaf) => [leaf.key, { path, line: leaf.line, text: leaf.text ?? '' }])),
      edits: Object.fromEntries(leaves.map((leaf) => [leaf.key, editOf(document, leaf)])),
      how: `found in \`${path}:${line}\` ${found} by ${candidate.learntFrom}`,
    },
  };
}

function editOf({ path, part, index }: ManifestDocument, { key, line, pointer, shared }: Leaf): ValueEdit {
  if (shared === undefined) return { kind: 'replace', at: { path, part, index }, pointer };
  return {
    kind: 'none',
    message: `the value of ${key} at ${path}:${line} belongs to the YAML anchor &${shared}, which other places use; write the value out`,
  };
}

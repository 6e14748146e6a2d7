/** A quota whose values an annotation names: `resizer.io/git-field: namespaceQuotas["requests.cpu"]`. */
import { isMap } from 'yaml';
import { isQuantity } from '../../../kernel/quantity.ts';
import { FieldPathError, formatField, parseField, type Pointer } from '../yaml/field-path.ts';
import { type Leaf, leavesAt, type ManifestDocument, nodeAt } from '../yaml/documents.ts';
import { isOfOtherCluster } from './identify.ts';
import { isManifestFile, isWithin } from './paths.ts';
import type { Candidate } from './location.ts';
import { MAX_FILES, needs, type PlaceAnswer, remedy, type Search, unplaced, where } from './search.ts';
import { isQuotaKey } from '../../model/quota-key.ts';

interface Holder {
  readonly document: ManifestDocument;
  readonly leaves: readonly Leaf[];
}

/**
 * The values that the field names, in the hinted file or in the one file below the hinted folder that has them. The field is
 * one value, or the mapping of all of them; of a value whose key is a quota's, the others are looked for beside it.
 */
export function placeByField(search: Search, field: string): PlaceAnswer {
  const { reader, wanted, hint, path } = search;
  let pointer: Pointer;
  try {
    pointer = parseField(field);
  } catch (error) {
    if (!(error instanceof FieldPathError)) {
      throw error;
    }
    return unplaced('Unplaceable', `${error.message} (annotation resizer.io/git-field)`);
  }
  const files = reader.isFile(path)
    ? [path]
    : reader.tree.paths.filter((file) => isWithin(file, path) && isManifestFile(file));
  if (files.length > MAX_FILES) {
    return unplaced(
      'Unplaceable',
      `there are ${files.length} files below ${where(search)}: name the values file itself with resizer.io/git-path`,
    );
  }
  const holders = files.flatMap((file) => (isOfOtherCluster(search, file) ? [] : holdersIn(search, file, pointer)));
  if (reader.missing.size > 0) {
    return needs(reader);
  }
  const label = `${formatField(pointer)} for ResourceQuota ${wanted.namespace}/${wanted.name}`;
  const [holder] = holders;
  if (holder === undefined) {
    return unplaced(
      'FileNotFound',
      `no file has ${label}, searched ${where(search)}: correct the annotation resizer.io/git-field, or ${remedy(search)}`,
    );
  }
  if (holders.length > 1) {
    const candidates = holders.map((one) => candidate(search, one));
    const places = candidates.map(({ path: file, line }) => `${file}:${line}`).join(', ');
    return unplaced(
      'FoundTwice',
      `${label} is in ${holders.length} places: ${places}; name one file with resizer.io/git-path`,
      candidates,
    );
  }
  const { document, leaves } = holder;
  const first = leaves[0];
  const at = { path: document.path, part: document.part, index: document.index };
  return {
    kind: 'placed',
    place: {
      namespace: wanted.namespace,
      name: wanted.name,
      path: document.path,
      line: first?.line ?? 1,
      layout: 'helm',
      values: Object.fromEntries(
        leaves.map(({ key, line, text }) => [key, { path: document.path, line, text: text ?? '' }]),
      ),
      edits: Object.fromEntries(
        leaves.map(({ key, pointer: place, shared, line }) => [
          key,
          shared === undefined
            ? { kind: 'replace', at, pointer: place }
            : {
                kind: 'none',
                message: `the value of ${key} at ${document.path}:${line} belongs to the YAML anchor &${shared}, which other places use; write the value out`,
              },
        ]),
      ),
      how: `found in \`${document.path}:${first?.line ?? 1}\` at the field \`${formatField(pointer)}\` by ${hint.said}`,
    },
  };
}

function candidate({ wanted }: Search, { document, leaves }: Holder): Candidate {
  return { path: document.path, line: leaves[0]?.line ?? 1, namespace: wanted.namespace, name: wanted.name };
}

function holdersIn({ reader, wanted }: Search, path: string, pointer: Pointer): readonly Holder[] {
  return reader.documents(path).flatMap((document) => {
    if (document.error !== undefined) {
      return [];
    }
    const leaves = namedLeaves(document, pointer, wanted.resources).filter(
      ({ text }) => typeof text === 'string' && isQuantity(text),
    );
    return leaves.length === 0 ? [] : [{ document, leaves }];
  });
}

function namedLeaves(document: ManifestDocument, pointer: Pointer, resources: readonly string[]): readonly Leaf[] {
  if (isMap(nodeAt(document, pointer))) {
    return leavesAt(document, pointer);
  }
  const last = String(pointer.at(-1));
  const beside = leavesAt(document, pointer.slice(0, -1));
  if (isQuotaKey(last)) {
    return beside.some(({ key }) => key === last) ? beside.filter(({ key }) => isQuotaKey(key)) : [];
  }
  // A key of the chart's own, such as `cpu_request`, says nothing about a second resource.
  const [resource, second] = resources;
  const leaf = beside.find(({ key }) => key === last);
  return leaf === undefined || resource === undefined || second !== undefined ? [] : [{ ...leaf, key: resource }];
}

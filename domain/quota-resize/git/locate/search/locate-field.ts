/** Locates a quota whose values an annotation names: `resizer.io/git-field: namespaceQuotas["requests.cpu"]`. */
import { isMap } from 'yaml';
import { isQuantity } from '../../../../kernel/quantity.ts';
import { FieldPathError, formatField, parseField, type Pointer } from '../../yaml/field-path.ts';
import { type Leaf, leavesAt, type ManifestDocument, nodeAt, textAt } from '../../yaml/documents.ts';
import { isOfOtherCluster } from './identify.ts';
import { enclosingObject, isQuotaObject, ownershipInObject, ownershipInValues } from './feeds.ts';
import { doubtOf, notInForce, withDoubts } from './proof.ts';
import { type Ownership, valueOwnership } from './ownership.ts';
import { isManifestFile } from '../tree/paths.ts';
import type { Candidate } from '../location/location.ts';
import { MAX_FILES, needs, type LocateAnswer, remedy, type Search, unlocated, where } from './search.ts';
import { isQuotaKey } from '../../../model/quota-key.ts';
import { type DocumentValues, placedInValues } from './values-document.ts';

/**
 * The values that the field names, in the candidate's file or in the only file below its folder that has the field. The
 * field is either the mapping of all values, or one value; if that value's key is a key of spec.hard, the other values
 * are expected beside it. A field of a ResourceQuota is located as the quota itself would be.
 *
 * @param locateByFiles locates a quota without a field.
 */
export function locateByField(
  search: Search,
  field: string,
  locateByFiles: (search: Search) => LocateAnswer,
): LocateAnswer {
  const { reader, wanted, path } = search;
  let pointer: Pointer;
  try {
    pointer = parseField(field);
  } catch (error) {
    if (!(error instanceof FieldPathError)) {
      throw error;
    }
    return unlocated('Unplaceable', `${error.message} (annotation resizer.io/git-field)`);
  }
  const files = reader.isFile(path) ? [path] : reader.index.below(path).filter(isManifestFile);
  if (files.length > MAX_FILES) {
    return unlocated(
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
    return unlocated(
      'FileNotFound',
      `no file has ${label}, searched ${where(search)}: correct the annotation resizer.io/git-field, or ${remedy(search)}`,
    );
  }
  if (holders.length > 1) {
    const candidates = holders.map((holder) => candidateAt(search, holder));
    const locations = candidates.map(({ path: file, line }) => `${file}:${line}`).join(', ');
    return unlocated(
      'FoundTwice',
      `${label} is in ${holders.length} places: ${locations}; name one file with resizer.io/git-path`,
      candidates,
    );
  }
  const object = enclosingObject(holder.document, pointer);
  if (object !== undefined && isQuotaObject(object) && isOfManifest(holder.document, object.pointer)) {
    return inQuota(search, holder, pointer.slice(object.pointer.length), locateByFiles);
  }
  const ownership =
    object === undefined
      ? ownershipInValues(search, holder, pointer)
      : ownershipInObject(search, holder, pointer, object);
  if (ownership === 'missing') {
    return needs(reader);
  }
  const ofCluster: Ownership = ['annotation', 'scan'].includes(search.candidate.from)
    ? valueOwnership(search, holder.document, pointer)
    : { kind: 'own' };
  const refused = [ownership, ofCluster].find(({ kind }) => kind === 'other');
  if (refused !== undefined && refused.kind !== 'own') {
    return unlocated(
      'Unplaceable',
      `${refused.why}; correct the annotation resizer.io/git-field, or ${remedy(search)}`,
      [candidateAt(search, holder)],
    );
  }
  const answer = placedInValues(search, holder, `at the field \`${formatField(pointer)}\``);
  const doubts = [doubtOf(ownership), doubtOf(ofCluster), notInForce(wanted, answer.location)];
  return { ...answer, location: withDoubts(answer.location, doubts) };
}

/** Whether an object is a manifest of its file, also in a List, and not a part of a chart's values. */
function isOfManifest(document: ManifestDocument, pointer: Pointer): boolean {
  return pointer.length === 0 || (textAt(document, ['kind']) ?? '').endsWith('List');
}

/** The field is one of a ResourceQuota in a manifest: nothing but its limits is changed, and only those of the wanted one. */
function inQuota(
  search: Search,
  { document, line }: DocumentValues,
  field: Pointer,
  locateByFiles: (search: Search) => LocateAnswer,
): LocateAnswer {
  const { wanted } = search;
  const [spec, hard] = field;
  if (spec !== 'spec' || hard !== 'hard' || field.length > 3) {
    const label = `ResourceQuota ${wanted.namespace}/${wanted.name}`;
    return unlocated(
      'Unplaceable',
      `${document.path}:${line} is not a limit of ${label}: correct the annotation resizer.io/git-field, or ${remedy(search)}`,
    );
  }
  const { field: _field, ...candidate } = search.candidate;
  return locateByFiles({ ...search, candidate, path: document.path });
}

function candidateAt({ wanted }: Search, { document, line }: DocumentValues): Candidate {
  return { path: document.path, line, namespace: wanted.namespace, name: wanted.name };
}

function holdersIn({ reader, wanted }: Search, path: string, pointer: Pointer): readonly DocumentValues[] {
  return reader.documents(path).flatMap((document) => {
    if (document.error !== undefined) {
      return [];
    }
    const leaves = namedLeaves(document, pointer, wanted.resources).filter(
      ({ text }) => typeof text === 'string' && isQuantity(text),
    );
    const [first] = leaves;
    return first === undefined ? [] : [{ document, leaves, line: first.line }];
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
  // A key that is not one of spec.hard, such as `cpu_request`, says nothing about where a second resource is.
  const [resource, second] = resources;
  const leaf = beside.find(({ key }) => key === last);
  return leaf === undefined || resource === undefined || second !== undefined ? [] : [{ ...leaf, key: resource }];
}

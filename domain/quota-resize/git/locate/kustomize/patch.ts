/** Applies the patches of a kustomization to quotas. */
import { isMap, isSeq } from 'yaml';
import { describe, type ManifestDocument, partsOf, type QuotaObject } from '../../yaml/documents.ts';
import { jsonPatched } from './json-patch.ts';
import { type Kustomization, type PatchEntry, patchFields } from './kustomization.ts';
import { documentKey, type InlineLocation, type SourceNote } from '../location/limit-location.ts';
import { inlineOf, type PatchDocument, valueLocationOf, uncertain } from './patch-document.ts';
import { selectorOf } from './patch-target.ts';
import type { AppliedPatch, RenderedQuota } from '../resolve/rendered-quota.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** The quotas after one patch entry; undefined at the index of a deleted one. */
export function applyEntry(
  reader: TreeReader,
  { path: owner, document: outer }: Kustomization,
  entry: PatchEntry,
  quotas: readonly RenderedQuota[],
): { readonly quotas: readonly (RenderedQuota | undefined)[]; readonly notes: readonly SourceNote[] } {
  const documents = patchDocuments(reader, owner, entry);
  const selected = entry.target === undefined ? undefined : selectorOf(entry.target);
  if (typeof documents === 'string') {
    const note = { path: owner, line: entry.line, message: documents };
    return {
      quotas: quotas.map((quota) =>
        selected?.(quota) === false ? quota : { ...quota, opaque: [...quota.opaque, note] },
      ),
      notes: [],
    };
  }
  const order = patchFields.indexOf(entry.field) * 1_000_000 + entry.index;
  const notes: SourceNote[] = [];
  let current: (RenderedQuota | undefined)[] = [...quotas];
  for (const document of documents) {
    const object = isMap(document.root) ? describe(document, document.root, []) : undefined;
    const patch = { owner, outer, order, entry, document, selected, ...(object === undefined ? {} : { object }) };
    let matched = false;
    current = current.map((quota) => {
      const result = quota === undefined ? undefined : applyDocument(patch, quota);
      matched ||= result !== undefined;
      return result === undefined ? quota : result.quota;
    });
    if (!matched) {
      notes.push(...danglingPatch(patch));
    }
  }
  return { quotas: current, notes };
}

/** The documents of a patch, or a phrase that says why they cannot be read. */
function patchDocuments(reader: TreeReader, owner: string, entry: PatchEntry): readonly ManifestDocument[] | string {
  let documents: readonly ManifestDocument[];
  if (entry.path !== undefined) {
    if (!reader.isFile(entry.path)) {
      return `has the patch ${entry.path}, which is not there`;
    }
    if (reader.text(entry.path) === null) {
      const { message } = reader.whyUnread(entry.path) ?? { message: 'is not UTF-8, so not YAML' };
      return `has a patch that cannot be read: ${entry.path} ${message}`;
    }
    documents = reader.documents(entry.path);
  } else if (entry.inline !== undefined) {
    documents = partsOf(owner, entry.inline.text).flatMap((part) => part.documents);
  } else {
    return `has a patch that cannot be read, at line ${entry.line}`;
  }
  const broken = documents.find(({ error }) => error !== undefined);
  return broken === undefined
    ? documents.filter(({ root }) => root !== null)
    : `has a patch that cannot be read: ${entry.path ?? `line ${entry.line}`}: ${broken.error?.message ?? ''}`;
}

/**
 * Notes a patch of a quota that is not among the resources: the quota may be defined elsewhere, or the patch has a
 * wrong name.
 */
function danglingPatch({ object, entry, owner }: PatchDocument): readonly SourceNote[] {
  if (object?.kind !== 'ResourceQuota' || object.name === undefined) {
    return [];
  }
  const line = entry.inline === undefined ? object.line : entry.inline.line;
  return [
    {
      path: entry.path ?? owner,
      line,
      reason: 'Unplaceable',
      message: `this patch of ResourceQuota ${object.name} matches none of the objects that ${owner} names`,
      name: object.name,
      ...(object.namespace === undefined ? {} : { namespace: object.namespace }),
    },
  ];
}

/** Undefined when the patch does not match this quota; `{ quota: undefined }` when the patch deletes it. */
function applyDocument(
  patch: PatchDocument,
  quota: RenderedQuota,
): { readonly quota: RenderedQuota | undefined } | undefined {
  const { document, object } = patch;
  if (isSeq(document.root)) {
    const selected = patch.selected?.(quota) ?? false;
    return selected === false
      ? undefined
      : { quota: jsonPatched(patch, withDocument(patch, quota), document.root.items.length, selected) };
  }
  if (object === undefined) {
    return undefined;
  }
  const selected = patch.selected === undefined ? isFor(object, quota) : patch.selected(quota);
  if (selected === false || (object.kind !== undefined && object.kind !== 'ResourceQuota')) {
    return undefined;
  }
  if (object.directive === 'delete') {
    return { quota: undefined };
  }
  const note = uncertain(patch, selected, object.directive !== undefined);
  const noted = note === undefined ? quota : { ...quota, opaque: [...quota.opaque, note] };
  return { quota: merged(patch, withDocument(patch, noted), object) };
}

function withDocument(patch: PatchDocument, quota: RenderedQuota): RenderedQuota {
  return { ...quota, made: [...quota.made, documentKey({ ...patch.document, ...inlineField(patch) })] };
}

function inlineField(patch: PatchDocument): { readonly inline?: InlineLocation } {
  const inline = inlineOf(patch);
  return inline === undefined ? {} : { inline };
}

function isFor(patch: QuotaObject, quota: RenderedQuota): boolean {
  return (
    patch.kind === 'ResourceQuota' &&
    quota.names.some(
      ({ name, namespace }) => name === patch.name && (patch.namespace === undefined || patch.namespace === namespace),
    )
  );
}

function merged(patch: PatchDocument, quota: RenderedQuota, object: QuotaObject): RenderedQuota {
  const values = new Map(object.cleared ? [] : quota.values);
  for (const leaf of object.hard ?? []) {
    if (leaf.text === null) {
      values.delete(leaf.key);
    } else {
      values.set(leaf.key, valueLocationOf(patch, leaf, quota.chain.length));
    }
  }
  const { path, part, index } = patch.document;
  const inline = inlineOf(patch);
  const hard: AppliedPatch[] =
    object.hard === undefined
      ? []
      : [
          {
            owner: patch.owner,
            order: patch.order,
            path,
            part,
            index,
            hard: ['spec', 'hard'],
            ...(inline === undefined ? {} : { inline }),
          },
        ];
  return { ...quota, values, patches: [...quota.patches, ...hard] };
}

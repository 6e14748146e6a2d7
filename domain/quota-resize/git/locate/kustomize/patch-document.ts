/** One document of a patch, and the record of the limits that it sets. */
import type { Leaf, ManifestDocument, QuotaObject } from '../../yaml/documents.ts';
import type { PatchEntry } from './kustomization.ts';
import type { InlineLocation, SourceNote, ValueLocation } from '../location/limit-location.ts';
import type { Selector } from './patch-target.ts';

export interface PatchDocument {
  readonly owner: string;
  /** The document of the kustomization that contains the patch. */
  readonly outer: ManifestDocument;
  readonly order: number;
  readonly entry: PatchEntry;
  readonly document: ManifestDocument;
  /** The document read as a patch of a quota, if it is a mapping. */
  readonly object?: QuotaObject;
  /** Selects quotas by the entry's target; absent when the patch itself names its object. */
  readonly selected: Selector | undefined;
}

export function inlineOf({ entry, outer }: PatchDocument): InlineLocation | undefined {
  if (entry.inline === undefined) {
    return undefined;
  }
  const { pointer, literal } = entry.inline;
  return { part: outer.part, index: outer.index, pointer, literal };
}

export function valueLocationOf(patch: PatchDocument, leaf: Leaf, level: number): ValueLocation {
  const { entry, document, owner, order } = patch;
  const inline = inlineOf(patch);
  const line =
    entry.inline === undefined
      ? leaf.line
      : entry.inline.literal
        ? entry.inline.line + leaf.line - 1
        : entry.inline.line;
  return {
    ...leaf,
    line,
    path: document.path,
    part: document.part,
    index: document.index,
    owner,
    level,
    order,
    ...(inline === undefined ? {} : { inline }),
  };
}

export function uncertain(
  { owner, entry }: PatchDocument,
  selected: true | 'perhaps',
  directive: boolean,
): SourceNote | undefined {
  if (selected === 'perhaps') {
    return { path: owner, line: entry.line, message: 'has a patch whose target selects by labels or annotations' };
  }
  return directive ? { path: owner, line: entry.line, message: 'has a patch with $patch' } : undefined;
}

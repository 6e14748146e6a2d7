/** A ResourceQuota while kustomizations process it: its names, and the place that sets each limit. */
import { type QuotaObject, quotasIn } from '../../yaml/documents.ts';
import type { Pointer } from '../../yaml/field-path.ts';
import { documentKey, type InlineLocation, type SourceNote, type ValueLocation } from '../location/limit-location.ts';
import type { Delivery } from '../delivery/delivery.ts';
import type { TreeReader } from '../tree/tree-reader.ts';
import { problemOf } from '../tree/unread.ts';

export interface ObjectName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** A patch that was applied to a quota and that another limit can be added to. */
export interface AppliedPatch {
  /** The kustomization that contains the patch. */
  readonly owner: string;
  readonly order: number;
  readonly path: string;
  readonly part: number;
  readonly index: number;
  /** spec.hard in the patch. */
  readonly hard: Pointer;
  readonly inline?: InlineLocation;
}

/** A quota as a kustomization returns it. */
export interface RenderedQuota {
  readonly object: QuotaObject;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The kustomization that sets the namespace; absent when the object sets it. */
  readonly namespaceBy?: string;
  /** All names that the quota had so far; patches may refer to any of them. */
  readonly names: readonly ObjectName[];
  readonly values: ReadonlyMap<string, ValueLocation>;
  /** Things that may change its values in a way that is not evaluated. */
  readonly opaque: readonly SourceNote[];
  readonly patches: readonly AppliedPatch[];
  /** Keys of the objects and patches that define it, see `documentKey`. */
  readonly made: readonly string[];
  /**
   * The kustomizations that process it, the innermost first, each with the quota's name before that kustomization
   * renamed it.
   */
  readonly chain: readonly { readonly path: string; readonly as: ObjectName }[];
  /** What applies it, where that is known. */
  readonly delivery?: Delivery;
}

export interface Rendering {
  readonly quotas: readonly RenderedQuota[];
  readonly notes: readonly SourceNote[];
}

/** The quotas that a file contains. */
export function quotasOfFile(reader: TreeReader, path: string): Rendering {
  const quotas: RenderedQuota[] = [];
  const notes: SourceNote[] = [];
  const unread = reader.whyUnread(path);
  if (unread !== undefined) {
    notes.push({ path, line: 1, message: unread.message, reason: problemOf(unread) });
  }
  for (const document of reader.quotaDocuments(path)) {
    if (document.error !== undefined) {
      notes.push({ path, ...document.error, reason: 'NotYaml' });
    }
    quotas.push(...quotasIn(document).flatMap((object) => (object.name === undefined ? [] : [unrendered(object)])));
  }
  return { quotas, notes };
}

/** A quota of a file before any kustomization. */
function unrendered(object: QuotaObject): RenderedQuota {
  const { path, part, index } = object.document;
  const name = object.name ?? '';
  return {
    object,
    name,
    namespace: object.namespace,
    names: [{ name, namespace: object.namespace }],
    values: new Map(
      (object.hard ?? []).map((leaf) => [
        leaf.key,
        { ...leaf, path, part, index, object: object.pointer, level: 0, order: 0 },
      ]),
    ),
    opaque: object.noMapping === undefined ? [] : [{ path, line: object.line, message: object.noMapping }],
    patches: [],
    made: [documentKey({ ...object.document, pointer: object.pointer })],
    chain: [],
  };
}

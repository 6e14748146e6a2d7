/** A ResourceQuota on its way through kustomizations: its names, and for each limit the place that has the last word. */
import { type QuotaObject, quotasIn } from '../yaml/documents.ts';
import type { Pointer } from '../yaml/field-path.ts';
import { documentKey, type InlineLocation, type SourceNote, type ValueLocation } from './limit-location.ts';
import type { Delivery } from './delivery.ts';
import type { TreeReader } from './tree-reader.ts';

export interface ObjectName {
  readonly name: string;
  readonly namespace: string | undefined;
}

/** A patch that was applied to a quota, and that could take another limit. */
export interface AppliedPatch {
  /** The kustomization whose patch it is. */
  readonly owner: string;
  readonly order: number;
  readonly path: string;
  readonly part: number;
  readonly index: number;
  /** spec.hard in the patch. */
  readonly hard: Pointer;
  readonly inline?: InlineLocation;
}

/** A quota as it comes out of a kustomization. */
export interface RenderedQuota {
  readonly object: QuotaObject;
  readonly name: string;
  readonly namespace: string | undefined;
  /** The kustomization that says the namespace; absent where the object does. */
  readonly namespaceBy?: string;
  /** The names it had on the way; patches may use any of them. */
  readonly names: readonly ObjectName[];
  readonly values: ReadonlyMap<string, ValueLocation>;
  /** What may change its values unseen. */
  readonly opaque: readonly SourceNote[];
  readonly patches: readonly AppliedPatch[];
  /** The objects and patches that it is made of, see `documentKey`. */
  readonly made: readonly string[];
  /** The kustomizations that it goes through, the innermost first, each with the name it has when that one's patches run. */
  readonly chain: readonly { readonly path: string; readonly as: ObjectName }[];
  /** Who applies it, where that is known. */
  readonly delivery?: Delivery;
}

export interface Rendering {
  readonly quotas: readonly RenderedQuota[];
  readonly notes: readonly SourceNote[];
}

/** The quotas that stand in a file. */
export function quotasOfFile(reader: TreeReader, path: string): Rendering {
  const quotas: RenderedQuota[] = [];
  const notes: SourceNote[] = [];
  for (const document of reader.quotaDocuments(path)) {
    if (document.error !== undefined) {
      notes.push({ path, ...document.error, reason: 'NotYaml' });
    }
    quotas.push(...quotasIn(document).flatMap((object) => (object.name === undefined ? [] : [unrendered(object)])));
  }
  return { quotas, notes };
}

/** A quota of a file, before any kustomization. */
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

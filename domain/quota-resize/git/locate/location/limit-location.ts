/** The place where one limit is written, as the search represents it. */
import type { SourceProblem } from '../../../model/observation.ts';
import type { Leaf, Pointer } from '../../yaml/documents.ts';

/** The place of a patch that is written inside a kustomization file. */
export interface InlineLocation {
  readonly part: number;
  readonly index: number;
  readonly pointer: Pointer;
  /** Whether the patch is a literal block (`|`), in which single lines can be changed. */
  readonly literal: boolean;
}

export interface ValueLocation extends Leaf {
  readonly path: string;
  /** The index of the part between `---` lines, and of the document in it; in the file, or in the inline patch. */
  readonly part: number;
  readonly index: number;
  /** Set when the document is a patch inside a kustomization: the place of the patch's text. */
  readonly inline?: InlineLocation;
  /** The object in the document that contains the value; absent when a patch contains it. */
  readonly object?: Pointer;
  /** The kustomization that contains the patch; absent when the object itself contains the value. */
  readonly owner?: string;
  /** How many kustomizations had processed the quota when the value was set. */
  readonly level: number;
  /** The position of the patch in its kustomization; a greater one is applied later. */
  readonly order: number;
}

/** A finding of the search that a person may need to know. */
export interface SourceNote {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
  readonly reason?: SourceProblem;
  readonly name?: string;
  readonly namespace?: string;
}

/** A key that is equal for two locations in the same place. */
export function valueLocationKey({ path, part, index, inline, pointer }: ValueLocation): string {
  return JSON.stringify([path, part, index, inline?.pointer ?? null, pointer]);
}

/** A key for one object of a file (by its place in the document), or for one patch. */
export function documentKey({
  path,
  part,
  index,
  inline,
  pointer,
}: {
  readonly path: string;
  readonly part: number;
  readonly index: number;
  readonly inline?: InlineLocation;
  readonly pointer?: Pointer;
}): string {
  return JSON.stringify([path, part, index, inline?.pointer ?? null, pointer ?? null]);
}

/** A key for the object or the patch that contains a value. */
export function ownerKey({ object, inline, path, part, index }: ValueLocation): string {
  return documentKey({
    path,
    part,
    index,
    ...(inline === undefined ? {} : { inline }),
    ...(object === undefined ? {} : { pointer: object }),
  });
}

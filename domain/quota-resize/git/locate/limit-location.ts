/** Where one limit is written, as the search for it knows it. */
import type { SourceProblem } from '../../model/observation.ts';
import type { Leaf, Pointer } from '../yaml/documents.ts';

/** Where a patch stands that is written inside a kustomization. */
export interface InlineLocation {
  readonly part: number;
  readonly index: number;
  readonly pointer: Pointer;
  /** A literal block (`|`), in which lines can be changed. */
  readonly literal: boolean;
}

export interface ValueLocation extends Leaf {
  readonly path: string;
  /** Which stretch between `---` lines, and which document of it: of the file, or of the inline patch. */
  readonly part: number;
  readonly index: number;
  /** Set where the document is a patch inside a kustomization: the place of its text there. */
  readonly inline?: InlineLocation;
  /** The object in the document whose own value it is; absent for the value of a patch. */
  readonly object?: Pointer;
  /** The kustomization whose patch it is; absent for the object itself. */
  readonly owner?: string;
  /** How many kustomizations the quota had been through when it was set. */
  readonly level: number;
  /** Which patch of its owner; a greater one is applied later. */
  readonly order: number;
}

/** Something that was seen on the way and that a person may have to know. */
export interface SourceNote {
  readonly path: string;
  /** 1-based. */
  readonly line: number;
  readonly message: string;
  readonly reason?: SourceProblem;
  readonly name?: string;
  readonly namespace?: string;
}

/** Two sites are the same place. */
export function valueLocationKey({ path, part, index, inline, pointer }: ValueLocation): string {
  return JSON.stringify([path, part, index, inline?.pointer ?? null, pointer]);
}

/** One object of a file (by its place in the document), or one patch. */
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

/** The object or the patch that a value belongs to. */
export function ownerKey({ object, inline, path, part, index }: ValueLocation): string {
  return documentKey({
    path,
    part,
    index,
    ...(inline === undefined ? {} : { inline }),
    ...(object === undefined ? {} : { pointer: object }),
  });
}

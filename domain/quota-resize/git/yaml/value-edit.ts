/** How one limit of a placed quota can be raised. JSON-safe. */
import type { Pointer } from './field-path.ts';

/** A document: of a file, or of a patch that is written in a kustomization. */
export interface DocumentLocation {
  readonly path: string;
  /** Which stretch between `---` lines, from 0 on, and which document of it. */
  readonly part: number;
  readonly index: number;
  /** Set for an inline patch: part, index and pointer of its text in the kustomization; those above are inside of it. */
  readonly inline?: { readonly part: number; readonly index: number; readonly pointer: Pointer };
}

export type ValueEdit =
  /** The value is written there, and nobody else uses that place. */
  | { readonly kind: 'replace'; readonly at: DocumentLocation; readonly pointer: Pointer }
  /** A patch of the overlay takes the key as well; `pointer` is its spec.hard. */
  | { readonly kind: 'add'; readonly at: DocumentLocation; readonly pointer: Pointer; readonly key: string }
  /** The overlay gets a patch, because the value is shared. */
  | {
      readonly kind: 'patch';
      /** The overlay's kustomization file, and where its document is. */
      readonly at: DocumentLocation;
      readonly name: string;
      readonly namespace?: string;
      readonly key: string;
    }
  /** The value stands in a line of a template that is no expression. */
  | { readonly kind: 'line'; readonly path: string; readonly line: number; readonly from: string }
  /** It cannot be changed without changing something else; a phrase that says why, and what would be right. */
  | { readonly kind: 'none'; readonly message: string };

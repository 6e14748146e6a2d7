/** How one limit of a located quota can be raised. JSON-safe. */
import type { Pointer } from './field-path.ts';

/** A document of a file, or of an inline patch of a kustomization. */
export interface DocumentLocation {
  readonly path: string;
  /** The index of the part between `---` lines, and of the document in it, both from 0 on. */
  readonly part: number;
  readonly index: number;
  /**
   * Set for an inline patch: part, index and pointer of the patch's text in the kustomization; `part` and `index` are
   * then relative to that text.
   */
  readonly inline?: { readonly part: number; readonly index: number; readonly pointer: Pointer };
}

/** What reads a value of a chart before Kubernetes does. */
export interface ValueConsumer {
  /** The template makes an integer of it; of `1Gi` and of `500m` that is 0. */
  readonly isInteger: boolean;
  /** Whether the present value is a number to YAML, and no text. */
  readonly isNumber: boolean;
  /** The chart's schema of its values, and the value's pointer there. */
  readonly schema?: { readonly path: string; readonly pointer: Pointer };
}

export type ValueEdit =
  /** The value is written there, and no other quota uses the place. `consumer`: of a chart's value. */
  | {
      readonly kind: 'replace';
      readonly at: DocumentLocation;
      readonly pointer: Pointer;
      readonly consumer?: ValueConsumer;
    }
  /** A patch of the overlay can hold the key too; `pointer` is its spec.hard. */
  | { readonly kind: 'add'; readonly at: DocumentLocation; readonly pointer: Pointer; readonly key: string }
  /** The value is shared, so the overlay gets a new patch. */
  | {
      readonly kind: 'patch';
      /** The overlay's kustomization file and document. */
      readonly at: DocumentLocation;
      readonly name: string;
      readonly namespace?: string;
      readonly key: string;
    }
  /** The value is a literal in a line of a template. */
  | { readonly kind: 'line'; readonly path: string; readonly line: number; readonly from: string }
  /** The value cannot be changed without changing something else; a phrase that says why and what would help. */
  | { readonly kind: 'none'; readonly message: string };

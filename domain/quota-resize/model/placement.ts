import type { SourceCandidate } from '../git/locate/source-candidate.ts';

/** Where one value of a quota is raised. */
export interface ValuePlacement {
  /** The file that is changed: that of the value, or of the patch that goes before it. */
  readonly path: string;
  /** The field of the document that is written there, or the line of a template. */
  readonly field: string;
  /** As the value was written when it was found. */
  readonly text: string;
}

/** Where a quota was found in the repository and base of its decision, and by what. */
export interface Placement {
  /** What led there, and how many before it in their order did not. */
  readonly candidate: SourceCandidate;
  readonly tried: number;
  /** By changed resource. */
  readonly values: Readonly<Record<string, ValuePlacement>>;
}

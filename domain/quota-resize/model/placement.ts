import type { SourceCandidate } from '../git/locate/candidate/source-candidate.ts';

/** The place where one value of a quota is raised. */
export interface ValuePlacement {
  /** The changed file: the file of the value, or of a patch that overrides it. */
  readonly path: string;
  /** The field of the document, or the line of a template, that is written. */
  readonly field: string;
  /** The value as written when it was found. */
  readonly text: string;
}

/** Where and how a quota was found in its decision's repository and base branch. */
export interface Placement {
  /** The candidate that led to the quota, and how many earlier candidates did not. */
  readonly candidate: SourceCandidate;
  readonly tried: number;
  /** By changed resource. */
  readonly values: Readonly<Record<string, ValuePlacement>>;
  /** Why it is not proved that a value is a limit of the quota, a clause: a person then merges the change. */
  readonly notProved?: string;
  /** Present when only an annotation names the base branch: it then has to be protected. */
  readonly branchBy?: 'annotation';
}

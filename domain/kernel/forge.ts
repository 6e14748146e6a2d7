/** What a service that keeps Git repositories has, in this product's own terms. */

export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | undefined;
}

/** Whether an open pull request can be merged; each forge's own words are read into these by its adapter. */
export type Mergeability =
  /** Nothing that the forge knows of is in the way. */
  | 'clean'
  /** The forge does not know yet. */
  | 'computing'
  | 'draft'
  /** The base changed the same lines. */
  | 'conflict'
  /** The base moved on and must be contained before a merge. */
  | 'behind'
  /** A rule of the base is in the way: a review, a required check, a merge queue. */
  | 'blocked'
  /** A check that is not required has not passed. */
  | 'unstable'
  /** The forge says something that this version does not know. */
  | 'unrecognised';

/** Terms for services that host Git repositories. */

export interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
  /** The branch to change; absent: the repository's default branch. */
  readonly baseBranch?: string | undefined;
}

/** Whether an open pull request can be merged; each forge's adapter maps the forge's own states to these. */
export type Mergeability =
  /** The forge knows of no obstacle. */
  | 'clean'
  /** The forge does not know yet. */
  | 'computing'
  | 'draft'
  /** The base changed the same lines. */
  | 'conflict'
  /** The base moved, and the branch must contain it before a merge. */
  | 'behind'
  /** A rule of the base prevents the merge: a review, a required check, a merge queue. */
  | 'blocked'
  /** A check that is not required has not passed. */
  | 'unstable'
  /** A state of the forge that this version does not know. */
  | 'unrecognised';

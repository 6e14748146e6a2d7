import type { FileChange } from '../../forge/forge.ts';
import type { LockOwner } from '../lease/file-lock.ts';
import type { DecisionEdit } from '../source/edit.ts';

/** A decision with what its commit changes, on top of the commits before. */
export interface JoinedCommit extends LockOwner {
  readonly files: readonly FileChange[];
  readonly quotas: DecisionEdit['quotas'];
}

/** An edit with the commits that follow its own. */
export interface SharedEdit extends DecisionEdit {
  readonly joined?: readonly JoinedCommit[];
}

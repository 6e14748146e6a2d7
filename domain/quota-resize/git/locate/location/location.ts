/** The location of a quota in a repository, and the edits that change the quota there. */
import type { SourceProblem } from '../../../model/observation.ts';
import type { ValueEdit } from '../../yaml/value-edit.ts';
import type { UnreadFile } from '../tree/unread.ts';

/** The known part of a repository's tree at one commit. */
export interface TreeSnapshot {
  /** The paths of all files from the root, sorted. */
  readonly paths: readonly string[];
  /** The texts read so far; null for a file that is not UTF-8. */
  readonly texts: ReadonlyMap<string, string | null>;
  /** Files that are not read, and why; absent: there are none so far. */
  readonly unread?: ReadonlyMap<string, UnreadFile>;
}

/** Files that have to be read before the search can be repeated with a result. */
export interface MissingFiles {
  readonly kind: 'missingFiles';
  readonly paths: readonly string[];
}

/** One limit as it is written in Git. */
export interface LocatedValue {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** As written, without quotes. */
  readonly text: string;
}

/** The quota was found, and its values are certain. */
export interface QuotaLocation {
  readonly namespace: string;
  readonly name: string;
  /** The file of the object, and the line of its name; for people. */
  readonly path: string;
  readonly line: number;
  /** The kind of source: a plain manifest, the overlay of a kustomization, or the values of a Helm chart. */
  readonly layout: 'manifest' | 'kustomize' | 'helm';
  /** By quota key; a key that nothing sets is absent. */
  readonly values: Readonly<Record<string, LocatedValue>>;
  /** By the same keys: how each value can be raised. */
  readonly edits: Readonly<Record<string, ValueEdit>>;
  /** How the quota was located; one sentence for the evidence. */
  readonly how: string;
  /**
   * Why it is not proved that a value is the limit of this quota, a clause; absent where it is. A person then merges
   * the change.
   */
  readonly notProved?: string;
}

/** A place that the search considered. */
export interface Candidate {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** Null when the source does not name it. */
  readonly namespace: string | null;
  readonly name: string | null;
}

/** A quota that cannot be located with certainty. */
export interface Unlocated {
  readonly kind: 'unlocated';
  readonly reason: SourceProblem;
  /** The problem, its place, the possible locations, and what a person can do about it. */
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

/** A file with its present text (null for a new file) and its new text. */
export interface FileEdit {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

/** A quota's place in a repository, and what changing it there does to the files. */
import type { SourceProblem } from '../../model/observation.ts';
import type { ValueEdit } from '../yaml/value-edit.ts';

/** What is known of a repository's tree at one commit. */
export interface TreeSnapshot {
  /** Every file, from the root, sorted. */
  readonly paths: readonly string[];
  /** The texts read so far; null for what is not UTF-8. */
  readonly texts: ReadonlyMap<string, string | null>;
}

/** The files to read before the question can be answered; then it is asked again. */
export interface MissingFiles {
  readonly kind: 'missingFiles';
  readonly paths: readonly string[];
}

/** One limit as Git has it. */
export interface LocatedValue {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** As it is written, without quotes. */
  readonly text: string;
}

/** The quota was found, and its values with certainty. */
export interface QuotaLocation {
  readonly namespace: string;
  readonly name: string;
  /** The file of the object itself, and the line of its name; for people. */
  readonly path: string;
  readonly line: number;
  /** What kind of source: plain manifest, overlay of a kustomization, values of a Helm chart. */
  readonly layout: 'manifest' | 'kustomize' | 'helm';
  /** By quota key; a key that is nowhere set is absent. */
  readonly values: Readonly<Record<string, LocatedValue>>;
  /** By the same keys: how each can be raised. */
  readonly edits: Readonly<Record<string, ValueEdit>>;
  /** How it was placed, one sentence for the evidence. */
  readonly how: string;
}

/** A place that was considered. */
export interface Candidate {
  readonly path: string;
  /** From 1 on. */
  readonly line: number;
  /** Null where the source does not say it. */
  readonly namespace: string | null;
  readonly name: string | null;
}

/** A quota that cannot be placed with certainty. */
export interface Unlocated {
  readonly kind: 'unlocated';
  readonly reason: SourceProblem;
  /** What, where, the candidates, and what would settle it. */
  readonly message: string;
  readonly candidates: readonly Candidate[];
}

/** A file as it is (null: it is new) and as it becomes. */
export interface FileEdit {
  readonly path: string;
  readonly before: string | null;
  readonly after: string;
}

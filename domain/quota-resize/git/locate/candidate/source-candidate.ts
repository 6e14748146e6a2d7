/** A source candidate: where to look for a quota in Git, derived from the cluster and the configuration. */

type CandidateOrigin = 'annotation' | 'argocd' | 'flux' | 'template' | 'scan';

/** An object HelmRelease of Flux that is in the tree itself: values in it go over those of the chart. */
export interface ReleaseObject {
  readonly name: string;
  /** What it installs into. */
  readonly namespace: string;
  /** The folder that it is applied from, or its file. */
  readonly path: string;
}

/**
 * One way to find the quota's manifest. Candidates are tried in order; the first one that locates the quota with
 * certainty wins, and one that finds it twice ends the search.
 */
export interface SourceCandidate {
  readonly from: CandidateOrigin;
  /** `owner/name`. Absent: every configured repository. */
  readonly repository?: string;
  /** A branch. Absent: the repository's configured base, or its default branch. */
  readonly ref?: string;
  /** Present when nothing but an annotation names the branch. */
  readonly refBy?: 'annotation';
  /** A folder or a file from the repository's root; "" is the root. Absent: the whole tree. */
  readonly path?: string;
  /** The pointer to the value in a values file: `namespaceQuotas["requests.cpu"]`. */
  readonly field?: string;
  /**
   * The values files that the chart at the path is installed with, relative to the repository's root; a later file
   * overrides an earlier one. Absent: unknown; empty: only the chart's own.
   */
  readonly valueFiles?: readonly string[];
  /**
   * The namespace that manifests without one are applied into; for Flux also manifests that name another one
   * (`spec.targetNamespace`). Absent: unknown.
   */
  readonly namespace?: string;
  /** What installs the chart at the path; where the chart is not in the tree, the path is the object's own. */
  readonly release?: ReleaseObject;
  /**
   * The configured path template, for a search of the whole repository and for a path of an annotation: a file whose
   * path has another cluster by the template belongs to that cluster.
   */
  readonly template?: string;
  /** Where the candidate comes from, to follow "found by": `the annotation resizer.io/git-path of namespace team-a`. */
  readonly learntFrom: string;
  /**
   * Why the candidate cannot be used, a sentence with what would be right. A candidate with a problem ends the search.
   */
  readonly problem?: string;
}

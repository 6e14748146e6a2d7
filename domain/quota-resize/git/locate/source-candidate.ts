/** Where to look for a quota in Git, as it was learnt from the cluster and the configuration. */

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
 * One way to find the quota's manifest. They are tried in order; the first that places the quota with certainty wins,
 * and one that finds it in two places stops the search.
 */
export interface SourceCandidate {
  readonly from: CandidateOrigin;
  /** `owner/name`. Absent: every configured repository. */
  readonly repository?: string;
  /** A branch. Absent: the repository's configured base, or its default branch. */
  readonly ref?: string;
  /** A folder or a file from the repository's root; "" is the root. Absent: the whole tree. */
  readonly path?: string;
  /** The value's place in a values file: `namespaceQuotas["requests.cpu"]`. */
  readonly field?: string;
  /**
   * The values files that the chart at the path is installed with, from the repository's root, the weightiest last.
   * Absent: it is not known; empty: it has only its own.
   */
  readonly valueFiles?: readonly string[];
  /**
   * The namespace that manifests without one are applied into; with Flux also those that name another one
   * (`spec.targetNamespace`). Absent: it is not known.
   */
  readonly namespace?: string;
  /** What installs the chart at the path; where the chart is not in the tree, the path is the object's own. */
  readonly release?: ReleaseObject;
  /**
   * The configured path template, where the whole repository is searched: what lies where it has another cluster is
   * that cluster's.
   */
  readonly template?: string;
  /** Where it was learnt, to follow "found by": `the annotation resizer.io/git-path of namespace team-a`. */
  readonly learntFrom: string;
  /**
   * Why it cannot be followed, a sentence with what would be right. A source candidate with a problem stops the search
   * there.
   */
  readonly problem?: string;
}

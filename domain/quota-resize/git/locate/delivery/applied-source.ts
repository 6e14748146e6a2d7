/** What an Argo CD Application or a Flux Kustomization applies, and where that is to be looked for. */
import { shownUrl } from '../../../pull-request/shown-url.ts';
import { type ArgoApplication, type ArgoSource, overridesIn, valuesFileOf } from './argo-application.ts';
import { type FluxKustomization, patchesKind } from './flux-kustomization.ts';
import type { ReleaseObject, SourceCandidate } from '../candidate/source-candidate.ts';

/** One source of an Argo CD or Flux object. */
export interface AppliedSource {
  readonly from: 'argocd' | 'flux';
  /** A description of the object, and of the annotation or label that led to it. */
  readonly learntFrom: string;
  /** Absent when the source is not a Git repository. */
  readonly url?: string;
  /** As written in the object; absent: the default branch. */
  readonly revision?: string;
  readonly path?: string;
  /**
   * For a folder: the values files that a chart in it is installed with, relative to the repository's root; a later
   * file overrides an earlier one.
   */
  readonly valueFiles?: readonly string[];
  /** The namespace that the source is applied into. */
  readonly namespace?: string;
  /** The HelmRelease in the tree that installs what is at the path. */
  readonly release?: ReleaseObject;
  /** Why the applied objects may differ from the files; a phrase that follows `learntFrom`. */
  readonly opaque?: string;
  /** What the source is if it is not a folder of a repository: "it is the chart x of …". */
  readonly otherwise?: string;
}

type RepositoryOf = (url: string) => string;

/**
 * The sources of an Application, in the order in which they are searched for a quota.
 *
 * @param learntFrom a description of the object, for people.
 * @param repositoryOf returns the same text for all URLs of one repository.
 */
export function argoSources(
  learntFrom: string,
  { sources, namespace }: ArgoApplication,
  repositoryOf: RepositoryOf,
): readonly AppliedSource[] {
  // Values files come first: they override the chart's own values, so changing a value in the chart would have no
  // effect.
  const values = sources.flatMap((source) => argoValuesFiles(learntFrom, source, sources, repositoryOf));
  return [...values, ...sources.flatMap((source) => argoDeliveries(learntFrom, source, sources, repositoryOf))].map(
    (source) => ({ ...source, ...(namespace === undefined ? {} : { namespace }) }),
  );
}

/** A field of the Application itself that overrides files: `sets helm.parameters`. */
function unseenIn(source: ArgoSource): string | undefined {
  const [field] = overridesIn(source);
  return field === undefined ? undefined : `sets ${field}`;
}

function argoDeliveries(
  learntFrom: string,
  source: ArgoSource,
  all: readonly ArgoSource[],
  repositoryOf: RepositoryOf,
): readonly AppliedSource[] {
  const { repoURL: url, path, chart, ref } = source;
  if (chart !== undefined) {
    return [{ from: 'argocd', learntFrom, otherwise: `it is the chart ${chart} of ${shownUrl(url ?? '')}` }];
  }
  if (ref !== undefined && path === undefined) return [];
  const isHere = sameTreeAs(source, all, repositoryOf);
  const files = (source.helm?.valueFiles ?? []).map((file) => ({
    file,
    path: valuesFileOf(source, file, isHere),
  }));
  const foreign = files.find((file) => file.path === null);
  const opaque = unseenIn(source) ?? (foreign === undefined ? undefined : `takes values from ${foreign.file}`);
  return [
    {
      ...argoSourceAt(learntFrom, source),
      path: path ?? '',
      valueFiles: files.flatMap((file) => file.path ?? []),
      ...(opaque === undefined ? {} : { opaque }),
    },
  ];
}

/** Tells whether the source with a `ref` is the same tree as the given one. */
function sameTreeAs(
  source: ArgoSource,
  all: readonly ArgoSource[],
  repositoryOf: RepositoryOf,
): (ref: string) => boolean {
  return (name) => {
    const named = all.find(({ ref }) => ref === name);
    return named !== undefined && isSameTree(named, source, repositoryOf);
  };
}

function isSameTree(first: ArgoSource, second: ArgoSource, repositoryOf: RepositoryOf): boolean {
  return (
    repositoryOf(first.repoURL ?? '') === repositoryOf(second.repoURL ?? '') &&
    (first.targetRevision || 'HEAD') === (second.targetRevision || 'HEAD')
  );
}

/**
 * The values files (`$values/teams/team-a.yaml`) that a named source provides for charts from elsewhere; a file that
 * overrides others comes first.
 */
function argoValuesFiles(
  learntFrom: string,
  source: ArgoSource,
  all: readonly ArgoSource[],
  repositoryOf: RepositoryOf,
): readonly AppliedSource[] {
  if (source.ref === undefined) return [];
  const prefix = `$${source.ref}/`;
  return all.flatMap((chart) => {
    const given = (chart.helm?.valueFiles ?? []).filter(
      (file) =>
        file.startsWith(prefix) &&
        (chart.chart !== undefined || valuesFileOf(chart, file, sameTreeAs(chart, all, repositoryOf)) === null),
    );
    const opaque = unseenIn(chart);
    return [...new Set(given.toReversed())].map((file) => ({
      ...argoSourceAt(learntFrom, source),
      path: file.slice(prefix.length),
      ...(opaque === undefined ? {} : { opaque }),
    }));
  });
}

function argoSourceAt(learntFrom: string, { repoURL: url = '', targetRevision: revision }: ArgoSource): AppliedSource {
  return { from: 'argocd', learntFrom, url, ...(revision === undefined ? {} : { revision }) };
}

/**
 * What a Flux Kustomization applies, but for the repository that it names.
 *
 * @param kind of the objects that are looked for in what it applies.
 */
export function fluxSource(
  learntFrom: string,
  kustomization: FluxKustomization,
  kind: 'ResourceQuota' | 'HelmRelease' = 'ResourceQuota',
): AppliedSource {
  const { path = '', namespace } = kustomization;
  return {
    from: 'flux',
    learntFrom,
    path,
    ...(namespace === undefined ? {} : { namespace }),
    ...(patchesKind(kustomization, kind) ? { opaque: `patches ${kind}s` } : {}),
  };
}

/**
 * The place in its repository where a source says to look, or a problem when a field of the source may override the
 * files.
 */
export function candidateOfSource({
  from,
  learntFrom,
  path,
  valueFiles,
  namespace,
  release,
  opaque,
}: AppliedSource): SourceCandidate {
  if (opaque !== undefined) {
    const problem = `${learntFrom} ${opaque}, which may outweigh the files; name the place of the value with the annotations resizer.io/git-path and resizer.io/git-field`;
    return { from, learntFrom, problem };
  }
  return {
    from,
    learntFrom,
    ...(valueFiles === undefined ? {} : { valueFiles }),
    ...(namespace === undefined ? {} : { namespace }),
    ...(release === undefined ? {} : { release: { ...release, path: fromRoot(release.path) } }),
    path: fromRoot(path ?? ''),
  };
}

/** `./charts/quota/` as a path from the root of the repository. */
function fromRoot(path: string): string {
  return path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
}

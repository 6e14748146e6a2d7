/** What an Argo CD Application or a Flux Kustomization applies, read from the object in the cluster or in a file. */
import { z } from 'zod';
import { shownUrl } from '../../../pull-request/shown-url.ts';
import { pathFrom } from '../tree/paths.ts';
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

const argoSource = z.object({
  repoURL: z.string().optional(),
  path: z.string().optional(),
  targetRevision: z.string().optional(),
  chart: z.string().optional(),
  ref: z.string().optional(),
  helm: z.looseObject({ valueFiles: z.array(z.string()).optional() }).optional(),
  kustomize: z.looseObject({ namespace: z.string().optional() }).optional(),
});
const argoApplication = z.object({
  spec: z.object({
    source: argoSource.optional(),
    sources: z.array(argoSource).optional(),
    destination: z.object({ namespace: z.string().optional() }).optional(),
  }),
});
type ArgoSource = z.infer<typeof argoSource>;
type RepositoryOf = (url: string) => string;

/** Fields of a source that override its files or change the result without being visible in them. */
const UNSEEN = {
  helm: ['values', 'valuesObject', 'parameters', 'fileParameters'],
  kustomize: ['namespace', 'namePrefix', 'nameSuffix', 'patches', 'components'],
} as const;

/**
 * The sources of an Application, in the order in which they are searched for a quota; null for an object of another
 * shape.
 *
 * @param learntFrom a description of the object, for people.
 * @param repositoryOf returns the same text for all URLs of one repository.
 */
export function argoSources(
  learntFrom: string,
  object: unknown,
  repositoryOf: (url: string) => string,
): readonly AppliedSource[] | null {
  const read = argoApplication.safeParse(object);
  if (!read.success) {
    return null;
  }
  const { spec } = read.data;
  const sources = spec.sources ?? (spec.source === undefined ? [] : [spec.source]);
  // Values files come first: they override the chart's own values, so changing a value in the chart would have no
  // effect.
  const values = sources.flatMap((source) => argoValuesFiles(learntFrom, source, sources, repositoryOf));
  const into = spec.destination?.namespace;
  return [...values, ...sources.flatMap((source) => argoDeliveries(learntFrom, source, sources, repositoryOf))].map(
    (source) => ({ ...source, ...(into ? { namespace: into } : {}) }),
  );
}

/** A field of the Application itself that overrides files: `sets helm.parameters`. */
function unseenIn(source: ArgoSource): string | undefined {
  return (['helm', 'kustomize'] as const)
    .flatMap((tool) =>
      UNSEEN[tool].filter((field) => !isEmpty(source[tool]?.[field])).map((field) => `${tool}.${field}`),
    )
    .map((field) => `sets ${field}`)[0];
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined ||
    value === null ||
    value === '' ||
    (typeof value === 'object' && Object.keys(value).length === 0)
  );
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
  const files = (source.helm?.valueFiles ?? []).map((file) => ({
    file,
    path: valuesFileOf(source, file, all, repositoryOf),
  }));
  const foreign = files.find((one) => one.path === null);
  const opaque = unseenIn(source) ?? (foreign === undefined ? undefined : `takes values from ${foreign.file}`);
  return [
    {
      ...argoSourceAt(learntFrom, source),
      path: path ?? '',
      valueFiles: files.flatMap((one) => one.path ?? []),
      ...(opaque === undefined ? {} : { opaque }),
    },
  ];
}

/** A values file relative to the root of the source's own repository; null when the file is elsewhere. */
function valuesFileOf(
  source: ArgoSource,
  file: string,
  all: readonly ArgoSource[],
  repositoryOf: RepositoryOf,
): string | null {
  if (file.includes('://')) return null;
  const [, name, rest = ''] = /^\$([^/]+)\/(.*)$/.exec(file) ?? [];
  if (name !== undefined) {
    const named = all.find(({ ref }) => ref === name);
    return named !== undefined && isSameTree(named, source, repositoryOf) ? (pathFrom('', rest) ?? null) : null;
  }
  // A relative path starts at the chart's folder, a path with a leading slash at the repository's root.
  return pathFrom(file.startsWith('/') ? '' : (pathFrom('', source.path ?? '') ?? ''), file) ?? null;
}

function isSameTree(one: ArgoSource, other: ArgoSource, repositoryOf: RepositoryOf): boolean {
  return (
    repositoryOf(one.repoURL ?? '') === repositoryOf(other.repoURL ?? '') &&
    (one.targetRevision || 'HEAD') === (other.targetRevision || 'HEAD')
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
        file.startsWith(prefix) && (chart.chart !== undefined || valuesFileOf(chart, file, all, repositoryOf) === null),
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

const fluxKustomization = z.object({
  spec: z.object({
    path: z.string().optional(),
    targetNamespace: z.string().optional(),
    patches: z
      .array(
        z.looseObject({
          patch: z.string().optional(),
          target: z.looseObject({ kind: z.string().optional() }).optional(),
        }),
      )
      .optional(),
  }),
});

/**
 * What a Flux Kustomization applies, but for the repository that it names; null for an object of another form.
 *
 * @param kind of the objects that are looked for in what it applies.
 */
export function fluxSource(
  learntFrom: string,
  object: unknown,
  kind: 'ResourceQuota' | 'HelmRelease' = 'ResourceQuota',
): AppliedSource | null {
  const read = fluxKustomization.safeParse(object);
  if (!read.success) {
    return null;
  }
  const { path = '', targetNamespace, patches = [] } = read.data.spec;
  const patched = patches.some(({ patch = '', target }) =>
    target?.kind === undefined ? patch.includes(kind) : target.kind === kind,
  );
  return {
    from: 'flux',
    learntFrom,
    path,
    ...(targetNamespace ? { namespace: targetNamespace } : {}),
    ...(patched ? { opaque: `patches ${kind}s` } : {}),
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

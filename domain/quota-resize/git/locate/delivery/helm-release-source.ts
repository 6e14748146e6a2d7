/** What a Flux HelmRelease says about the chart that it installs, and where the values of that are. */
import { z } from 'zod';
import type { AppliedSource } from './applied-source.ts';

const fluxHelmRelease = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    chart: z
      .object({
        spec: z.object({
          chart: z.string(),
          valuesFiles: z.array(z.string()).optional(),
          sourceRef: z.object({ kind: z.string(), name: z.string(), namespace: z.string().optional() }),
        }),
      })
      .optional(),
    targetNamespace: z.string().optional(),
    values: z.record(z.string(), z.unknown()).optional(),
    valuesFrom: z.array(z.unknown()).optional(),
    postRenderers: z.array(z.unknown()).optional(),
  }),
});

export interface HelmReleaseSpec {
  readonly name: string;
  /** What it installs into. */
  readonly namespace: string;
  /** Absent where the chart is no folder of a repository of git. */
  readonly chart?: {
    readonly path: string;
    readonly valueFiles: readonly string[];
    /** The GitRepository. */
    readonly sourceRef: { readonly name: string; readonly namespace: string };
  };
  /** Values that the object has itself, or takes from objects of the cluster. */
  readonly hasValues: boolean;
  readonly changesQuotas: boolean;
}

/** Null for an object of another form. */
export function readHelmRelease(object: unknown): HelmReleaseSpec | null {
  const read = fluxHelmRelease.safeParse(object);
  if (!read.success) return null;
  const { metadata, spec } = read.data;
  const chart = spec.chart?.spec;
  return {
    name: metadata.name,
    namespace: spec.targetNamespace ?? metadata.namespace,
    ...(chart?.sourceRef.kind === 'GitRepository'
      ? {
          chart: {
            path: chart.chart,
            valueFiles: chart.valuesFiles ?? [],
            sourceRef: { name: chart.sourceRef.name, namespace: chart.sourceRef.namespace ?? metadata.namespace },
          },
        }
      : {}),
    hasValues: Object.keys(spec.values ?? {}).length > 0 || (spec.valuesFrom ?? []).length > 0,
    changesQuotas: JSON.stringify(spec.postRenderers ?? []).includes('ResourceQuota'),
  };
}

/** A folder of a repository at a revision. */
export type FolderInGit = Pick<AppliedSource, 'url' | 'revision' | 'path' | 'opaque'>;

/**
 * Where the quotas of a release are in Git; null where nothing says it.
 *
 * @param found.object what the HelmRelease itself is applied from; null where it has no marks of Flux.
 * @param found.chart the repository of its chart; null where the chart is none of a repository of git.
 * @param repositoryOf the same text for all addresses of one repository.
 */
export function helmReleaseSource(
  learntFrom: string,
  release: HelmReleaseSpec,
  found: { readonly object: FolderInGit | null; readonly chart: FolderInGit | null },
  repositoryOf: (url: string) => string,
): AppliedSource | null {
  const { object } = found;
  const source = {
    from: 'flux',
    learntFrom,
    ...(release.changesQuotas ? { opaque: 'post-renders ResourceQuotas' } : {}),
  } as const;
  const chart = release.chart === undefined || found.chart === null ? null : { ...found.chart, ...release.chart };
  if (object === null || (chart !== null && !isSameTree(object, chart, repositoryOf))) {
    // Of values that are elsewhere nothing is known; a chart without any has its own.
    if (chart !== null && !release.hasValues) {
      const { path, valueFiles } = chart;
      return { ...source, ...at(chart), path, valueFiles, namespace: release.namespace };
    }
    if (object === null) return null;
  }
  const { path = '', opaque } = object;
  const { name, namespace } = release;
  return {
    ...source,
    ...at(object),
    // The chart is beside the object where both are of one tree; otherwise just the object's own values are known.
    path: chart !== null && isSameTree(object, chart, repositoryOf) ? chart.path : path,
    release: { name, namespace, path },
    ...(opaque === undefined ? {} : { opaque }),
  };
}

function at({ url, revision }: FolderInGit): Pick<AppliedSource, 'url' | 'revision'> {
  return { ...(url === undefined ? {} : { url }), ...(revision === undefined ? {} : { revision }) };
}

function isSameTree(one: FolderInGit, other: FolderInGit, repositoryOf: (url: string) => string): boolean {
  return repositoryOf(one.url ?? '') === repositoryOf(other.url ?? '') && one.revision === other.revision;
}

/** Where the values of the chart are in Git that a Flux HelmRelease installs. */
import type { AppliedSource } from './applied-source.ts';
import type { HelmRelease } from './helm-release.ts';

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
  release: HelmRelease & { readonly namespace: string },
  found: { readonly object: FolderInGit | null; readonly chart: FolderInGit | null },
  repositoryOf: (url: string) => string,
): AppliedSource | null {
  const { object } = found;
  const source = {
    from: 'flux',
    learntFrom,
    ...(release.changesQuotas ? { opaque: 'post-renders ResourceQuotas' } : {}),
  } as const;
  const chart =
    release.chart === undefined || found.chart === null
      ? null
      : { ...found.chart, path: release.chart.path, valueFiles: release.chart.valueFiles };
  if (object === null || (chart !== null && !isSameTree(object, chart, repositoryOf))) {
    // Where the release has values of its own, they are somewhere unknown. Without any, those of the chart hold.
    if (chart !== null && !release.hasValues && !release.hasValuesFrom) {
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

function isSameTree(first: FolderInGit, second: FolderInGit, repositoryOf: (url: string) => string): boolean {
  return repositoryOf(first.url ?? '') === repositoryOf(second.url ?? '') && first.revision === second.revision;
}

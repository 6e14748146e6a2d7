/** Helm charts in a tree: which files are templates, and which hold values. */
import { fileNameOf } from '../tree/paths.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** The folder of the chart to which a template file belongs; undefined for any other file. */
export function templateOf(reader: TreeReader, path: string): string | undefined {
  for (let at = path.lastIndexOf('templates/'); at >= 0; at = at === 0 ? -1 : path.lastIndexOf('templates/', at - 1)) {
    const chart = at === 0 ? '' : path.slice(0, at - 1);
    if ((at === 0 || path[at - 1] === '/') && reader.isFile(chartFile(chart))) {
      return chart;
    }
  }
  return undefined;
}

/** Whether a file is a chart's template with expressions; a template without expressions is an ordinary manifest. */
export function isTemplate(reader: TreeReader, path: string): boolean {
  return templateOf(reader, path) !== undefined && reader.text(path)?.includes('{{') !== false;
}

export function chartFile(folder: string): string {
  return folder === '' ? 'Chart.yaml' : `${folder}/Chart.yaml`;
}

export function isChartFile(path: string): boolean {
  return fileNameOf(path) === 'Chart.yaml';
}

/**
 * Whether a file name looks like a values file: `values.yaml`, `values-prod.yaml`, `prod.values.yml`,
 * `values/prod.yaml`.
 */
export function looksLikeValues(path: string): boolean {
  const name = fileNameOf(path);
  return (
    name !== 'Chart.yaml' &&
    name !== 'kustomization.yaml' &&
    (/values[^/]*\.ya?ml$/i.test(name) || /(?:^|\/)(?:values|environments?|envs?)\/.*\.ya?ml$/i.test(path))
  );
}

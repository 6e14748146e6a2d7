/** Derives the namespace and the cluster of a path in the tree when the objects do not name them. */
import { defaultPathTemplate, parsePathTemplate, type PathTemplate, readPath } from '../candidate/path-template.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';
import { pathFrom, wordsOf } from '../tree/paths.ts';
import type { ResolvedQuota } from '../resolve/resolved.ts';
import type { Search } from './search.ts';
import type { TreeReader } from '../tree/tree-reader.ts';

/** A namespace, and how it is known. */
export interface IdentifiedNamespace {
  readonly namespace: string;
  /** Empty when the object itself names the namespace; otherwise a phrase after "its namespace is". */
  readonly by: string;
}

/** The namespace that a path template extracts from one of the paths. */
export function namespaceByTemplate(
  templates: readonly PathTemplate[],
  paths: readonly string[],
  cluster: string | undefined,
): IdentifiedNamespace | undefined {
  for (const template of templates) {
    for (const path of paths) {
      const fields = readPath(template, path);
      if (fields?.namespace !== undefined && (cluster === undefined || (fields.cluster ?? cluster) === cluster)) {
        return { namespace: fields.namespace, by: `known from \`${path}\` by the path template \`${template.text}\`` };
      }
    }
  }
  return undefined;
}

/**
 * The namespace whose name a folder or a file has; undefined when there is none or more than one. A folder counts only
 * if the names below it are generic: `team-a/base/quota.yaml` belongs to team-a, but `platform/team-b/quota.yaml` does
 * not belong to platform.
 */
export function namespaceByFolder(
  namespaces: ReadonlySet<string>,
  paths: readonly string[],
  { cluster, quota }: { readonly cluster: string | undefined; readonly quota: string },
): IdentifiedNamespace | undefined {
  const named = new Set<string>();
  for (const path of paths) {
    const words = wordsOf(path);
    const last = words.findLastIndex((word) => namespaces.has(word));
    const word = words[last] ?? '';
    if (words.some((other) => other !== word && namespaces.has(other))) {
      return undefined;
    }
    // A folder with the cluster's name may be meant for the cluster and not for a namespace of that name.
    const doubtful = word === cluster && words.indexOf(word) === last;
    if (
      last >= 0 &&
      !doubtful &&
      words.slice(last + 1).every((below) => below === quota || isGeneral(below, cluster))
    ) {
      named.add(word);
    }
  }
  const [namespace] = named;
  return namespace === undefined || named.size > 1
    ? undefined
    : { namespace, by: `known from a folder or file of \`${paths.at(-1) ?? ''}\`` };
}

const GENERAL =
  /quota|limit|resource|namespace|manifest|kustomiz|^(?:base|bases|overlays?|clusters?|environments?|envs?|values|helm|charts?|templates|k8s|deploy|config|common|compute|default|all|main|ns|\d+|.{1,2})$/i;

/** Whether a folder or file name is generic, so that it may occur in the folder of any namespace. */
export function isGeneral(word: string, cluster: string | undefined): boolean {
  return word === cluster || environmentOf(word) !== undefined || GENERAL.test(word);
}

const ENVIRONMENTS: Readonly<Record<string, readonly string[]>> = {
  production: ['prod', 'prd', 'production'],
  staging: ['staging', 'stage', 'stg', 'preprod', 'pre-prod'],
  development: ['dev', 'develop', 'development'],
  test: ['test', 'testing', 'tst'],
  qa: ['qa'],
  uat: ['uat'],
};

/** The environment that a folder or file name stands for: `dev`, `values-dev.yaml`. */
export function environmentOf(word: string): string | undefined {
  const name = word.toLowerCase().replace(/^values[-._]|[-._]values$/, '');
  return Object.keys(ENVIRONMENTS).find((environment) => ENVIRONMENTS[environment]?.includes(name) === true);
}

/** The environment in a cluster's name, such as `prod-eu-1`; undefined when there is none or more than one. */
export function environmentOfCluster(cluster: string): string | undefined {
  const parts = cluster.replace(/\b(pre|non)-prod/gi, '$1prod').split(/[-_.]/);
  const found = new Set(parts.flatMap((part) => environmentOf(part) ?? []));
  const [environment] = found;
  return found.size === 1 ? environment : undefined;
}

/** Whether a path is for the cluster: `named` for this one, `other` for another one, `open` when unknown. */
export type ClusterFit = 'named' | 'open' | 'other';

/**
 * Checks the path templates first, then folder names. A folder with the cluster's name belongs to the cluster, a
 * sibling of such a folder does not, nor does a folder named after another environment than the cluster's.
 *
 * @param options.below this folder and those above it are ignored, because the candidate names them for this cluster.
 * @param options.asNamespace folders that have the cluster's name but belong to a namespace of the same name.
 */
export function clusterFit(
  reader: TreeReader,
  cluster: string | undefined,
  paths: readonly string[],
  options: {
    readonly templates: readonly PathTemplate[];
    readonly below: string;
    readonly asNamespace: ReadonlySet<string>;
    readonly namespace: string | undefined;
  },
): ClusterFit {
  let fit: ClusterFit = 'open';
  if (cluster === undefined) {
    return fit;
  }
  const own = environmentOfCluster(cluster);
  const environments = new Set<string>();
  for (const path of paths) {
    for (const template of options.templates) {
      const named = readPath(template, path)?.cluster;
      if (named !== undefined) {
        return named === cluster ? 'named' : 'other';
      }
    }
    const words = wordsOf(path);
    const start = options.below === '' ? 0 : options.below.split('/').length;
    for (const [depth, word] of words.entries()) {
      const folder = words.slice(0, depth).join('/');
      const clusterFolder = pathFrom(folder, cluster) ?? cluster;
      if (depth < start || options.asNamespace.has(clusterFolder)) {
        continue;
      }
      if (word === cluster) {
        return 'named';
      }
      const environment = word === options.namespace ? undefined : environmentOf(word);
      if (environment !== undefined) {
        environments.add(environment);
      }
      if (reader.isFolder(clusterFolder)) {
        fit = 'other';
      }
    }
  }
  return own !== undefined && environments.size > 0 && !environments.has(own) ? 'other' : fit;
}

/** The path templates that tell the cluster of a file in a whole repository: the configured and the built-in one. */
export function templatesOf(candidate: Pick<SourceCandidate, 'template'>): readonly PathTemplate[] {
  const { template } = candidate;
  if (template === undefined) return [];
  const templates = templatesByCandidate.get(candidate) ?? [parsePathTemplate(template), DEFAULT_TEMPLATE];
  templatesByCandidate.set(candidate, templates);
  return templates;
}

const DEFAULT_TEMPLATE = parsePathTemplate(defaultPathTemplate);
const templatesByCandidate = new WeakMap<object, readonly PathTemplate[]>();

/** Whether a file certainly belongs to another cluster; a file that the candidate names never does. */
export function isOfOtherCluster(
  { reader, path, wanted, candidate }: Pick<Search, 'reader' | 'path' | 'wanted' | 'candidate'>,
  file: string,
): boolean {
  const options = {
    templates: templatesOf(candidate),
    below: path,
    asNamespace: new Set<string>(),
    namespace: wanted.namespace,
  };
  return file !== path && clusterFit(reader, wanted.cluster, [file], options) === 'other';
}

/** Folders that have the cluster's name but belong to a namespace of the same name. */
export function foldersOfNamespace(quotas: readonly ResolvedQuota[], name: string | undefined): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { namespace, paths } of quotas) {
    if (name !== undefined && namespace === name) {
      for (const path of paths) {
        const words = wordsOf(path);
        const depth = words.lastIndexOf(name);
        if (depth >= 0) {
          folders.add(words.slice(0, depth + 1).join('/'));
        }
      }
    }
  }
  return folders;
}

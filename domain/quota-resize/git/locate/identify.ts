/** Which namespace and which cluster a place in the tree is for, where the objects themselves do not say it. */
import { defaultPathTemplate, parsePathTemplate, type PathTemplate, readPath } from './path-template.ts';
import type { SourceCandidate } from './source-candidate.ts';
import { pathFrom, wordsOf } from './paths.ts';
import type { ResolvedQuota } from './resolved.ts';
import type { Search } from './search.ts';
import type { TreeReader } from './tree-reader.ts';

/** A namespace, and how it is known. */
export interface IdentifiedNamespace {
  readonly namespace: string;
  /** Empty where the object itself says it; else a phrase after "its namespace is". */
  readonly by: string;
}

/** The namespace that a path template reads from one of the paths. */
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
 * The namespace that a folder or a file is named for; undefined where none is, or several are. A folder counts where
 * what is below it has no name of its own: `team-a/base/quota.yaml` is in a folder of team-a,
 * `platform/team-b/quota.yaml` in none of platform.
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
    // What is called like the cluster may be the cluster's.
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

/** Whether a folder or a file is called so in the folder of any namespace. */
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

/** The environment that a folder or a file is called after: `dev`, `values-dev.yaml`. */
function environmentOf(word: string): string | undefined {
  const name = word.toLowerCase().replace(/^values[-._]|[-._]values$/, '');
  return Object.keys(ENVIRONMENTS).find((environment) => ENVIRONMENTS[environment]?.includes(name) === true);
}

/** The environment in a cluster's name, such as `prod-eu-1`; undefined where there is none, or several are. */
function environmentOfCluster(cluster: string): string | undefined {
  const parts = cluster.replace(/\b(pre|non)-prod/gi, '$1prod').split(/[-_.]/);
  const found = new Set(parts.flatMap((part) => environmentOf(part) ?? []));
  const [environment] = found;
  return found.size === 1 ? environment : undefined;
}

/** Whether a place is for the cluster: `other` where it is surely for another one. */
export type ClusterFit = 'named' | 'open' | 'other';

/**
 * Judges by the template first, then by the names of folders: one that is called like the cluster is the cluster's, and
 * a folder beside that one is not; nor is one that is called after another environment than the cluster is.
 *
 * @param options.below folders above and including this one say nothing: somebody named it for this cluster.
 * @param options.asNamespace folders that are called like the cluster and are a namespace's.
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

/**
 * The path templates that say which cluster a file of a whole repository is for: the configured one, and the built-in
 * one.
 */
export function templatesOf({ template }: Pick<SourceCandidate, 'template'>): readonly PathTemplate[] {
  return template === undefined ? [] : [parsePathTemplate(template), parsePathTemplate(defaultPathTemplate)];
}

/** Whether a file is surely for another cluster than the wanted one; what a source candidate names itself never is. */
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

/** Folders that are called like the cluster, but for a namespace of that name. */
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

/**
 * What proves that a path is of this cluster, where only an annotation names it: the path template, Argo CD or Flux, or the
 * cluster's name. Without any of these, a second quota of the name or another limit than the one in force is a reason to doubt.
 */
import { readPath } from '../candidate/path-template.ts';
import { parseField } from '../../yaml/field-path.ts';
import type { QuotaLocation } from '../location/location.ts';
import { fileNameOf, folderOf, isKustomizationFile, mentions, wordsOf } from '../tree/paths.ts';
import { clusterKeys, nameCluster } from './cluster-words.ts';
import { environmentOf, environmentOfCluster, templatesOf } from './identify.ts';
import { notInForce } from './proof.ts';
import type { Search } from './search.ts';

/** So many files beside the path are read at most, those first that have the namespace in their path. */
const MAX_READ = 30;

/** A clause; undefined where there is no doubt. Where files have to be read first, the reader records them as missing. */
export function clusterDoubt(search: Search, location: QuotaLocation): string | undefined {
  const { wanted, candidate } = search;
  if (wanted.cluster === undefined || candidate.from !== 'annotation') return undefined;
  const paths = pathsOf(search, location);
  if (paths.some((path) => isOfCluster(search, path))) return undefined;
  const [path = location.path] = paths;
  const unsaid = `nothing says that \`${path}\` is of cluster ${wanted.cluster}`;
  const second = paths.map((own) => secondBeside(search, own)).find((found) => found !== undefined);
  if (second !== undefined) return `${unsaid}, and not of that of \`${second}\`, which may be of another cluster`;
  const different = notInForce(wanted, location);
  return different === undefined ? undefined : `${unsaid}, and ${different}`;
}

/** The files that decide what the annotation stands for: those that are changed, and the kustomization that it names. */
function pathsOf({ reader, path }: Search, { path: object, values }: QuotaLocation): readonly string[] {
  const named = reader.index.filesIn(path).filter(isKustomizationFile);
  return [...new Set([...named, object, ...Object.values(values).map((value) => value.path)])];
}

function isOfCluster(search: Search, path: string): boolean {
  const { wanted, candidate, applied } = search;
  const { cluster = '', namespace } = wanted;
  if (templatesOf(candidate).some((template) => readPath(template, path)?.cluster === cluster)) return true;
  const words = wordsOf(path);
  const keys = candidate.field === undefined ? [] : clusterKeys(parseField(candidate.field), wanted);
  if (nameCluster([...words, ...keys], wanted)) return true;
  const own = environmentOfCluster(cluster);
  if (own !== undefined && words.some((word) => !mentions(namespace, word) && environmentOf(word) === own)) return true;
  return foldersAbove(path).some((folder) =>
    applied.at(folder).some((one) => one.namespace === namespace && (one.recurses || folder === folderOf(path))),
  );
}

function foldersAbove(path: string): readonly string[] {
  const folder = folderOf(path);
  return folder === '' ? [''] : [folder, ...foldersAbove(folder)];
}

/** A file that stands where this one does but for one folder, and may have a quota of the same namespace and name. */
function secondBeside({ reader, wanted }: Search, path: string): string | undefined {
  const parts = path.split('/');
  const { namespace } = wanted;
  const hasNamespace = (other: string): boolean => wordsOf(other).some((word) => mentions(word, namespace));
  return reader.index
    .manifestsNamed(fileNameOf(path))
    .filter((other) => differsInOneFolder(other.split('/'), parts))
    .toSorted((a, b) => Number(hasNamespace(b)) - Number(hasNamespace(a)))
    .slice(0, MAX_READ)
    .find((other) => {
      const text = reader.text(other) ?? '';
      const mayHaveName = !text.includes('ResourceQuota') || mentions(text, wanted.name);
      return mayHaveName && text !== '' && (hasNamespace(other) || mentions(text, namespace));
    });
}

function differsInOneFolder(other: readonly string[], parts: readonly string[]): boolean {
  return other.length === parts.length && other.filter((part, at) => part !== parts[at]).length === 1;
}

/**
 * Whose a path is that an annotation names: namespace admins write annotations, so a path that belongs to another
 * cluster or another namespace is refused although a person named it.
 */
import { type PathTemplate, readPath } from '../candidate/path-template.ts';
import type { ManifestDocument } from '../../yaml/documents.ts';
import { formatField, type Pointer } from '../../yaml/field-path.ts';
import { folderOf, isWithin, mentions, wordsOf } from '../tree/paths.ts';
import {
  clusterKeys,
  doubtfulCluster,
  hasClusterBeside,
  isOnly,
  nameCluster,
  nameSomething,
  pathOfCluster,
} from './cluster-words.ts';
import { environmentOf, environmentOfCluster, isGeneral, templatesOf } from './identify.ts';
import type { Search } from './search.ts';

/** `other`: certainly somebody else's. `doubtful`: perhaps; a person has to look. `why` is a clause about the path. */
export type Ownership = { readonly kind: 'own' } | { readonly kind: 'other' | 'doubtful'; readonly why: string };

const OWN: Ownership = { kind: 'own' };

type PathSearch = Pick<Search, 'reader' | 'wanted' | 'candidate'>;

/**
 * Whether a path is of this cluster: by the path templates, by names of environments, and by the folders beside it.
 *
 * @param asNamespace folders that have the cluster's name but belong to a namespace of the same name.
 */
export function clusterOwnership(
  { reader, wanted, candidate }: PathSearch,
  path: string,
  asNamespace: ReadonlySet<string> = new Set(),
): Ownership {
  const { cluster, namespace } = wanted;
  if (cluster === undefined || path === '') return OWN;
  for (const template of certainTemplates(candidate)) {
    const named = readPath(template, path)?.cluster;
    if (named === cluster) return OWN;
    if (named !== undefined) {
      const why = `\`${path}\` is of cluster ${named} by the path template \`${template.text}\`, and not of ${cluster}`;
      return { kind: 'other', why };
    }
  }
  const words = wordsOf(path);
  if (nameCluster(words, wanted)) return OWN;
  const own = environmentOfCluster(cluster);
  // A team may be called like an environment: its namespace then says so.
  const environments = words.flatMap((word) => (mentions(namespace, word) ? [] : (environmentOf(word) ?? [])));
  if (own !== undefined && environments.length > 0 && !environments.includes(own)) {
    const why = `\`${path}\` is of the environment ${environments[0] ?? ''} by its name, and not of cluster ${cluster}`;
    return { kind: 'other', why };
  }
  const beside = ownershipBeside(reader, path, {
    own: cluster,
    what: 'cluster',
    ignored: [namespace],
    skipped: asNamespace,
  });
  if (beside.kind !== 'own') return beside;
  const doubt = doubtfulCluster(words, wanted);
  if (doubt !== undefined) return { kind: 'doubtful', why: `\`${path}\` ${doubt}` };
  if (!nameSomething(words, wanted)) return OWN;
  // A tenant may name any path. A search goes by the object itself, so only what stands beside its file counts.
  const compared = candidate.from === 'scan' ? reader.index.filesIn(folderOf(path)) : reader.tree.paths;
  const elsewhere = pathOfCluster(compared, wanted);
  if (elsewhere === undefined || isWithin(elsewhere, path)) return OWN;
  const why = `\`${elsewhere}\` has the name of cluster ${cluster}, and \`${path}\` has not`;
  return { kind: 'doubtful', why };
}

/** Whether a value in a file is of this cluster: by the path, and by the keys of the field. */
export function valueOwnership(search: PathSearch, document: ManifestDocument, field: Pointer): Ownership {
  const { wanted } = search;
  const { cluster } = wanted;
  const ofPath = clusterOwnership(search, document.path);
  if (cluster === undefined || ofPath.kind === 'other') return ofPath;
  const keys = clusterKeys(field, wanted);
  const label = `the field \`${formatField(field)}\` of \`${document.path}\``;
  if (nameCluster(keys, wanted)) {
    return doubtfulCluster(wordsOf(document.path), wanted) === undefined ? OWN : ofPath;
  }
  const doubt = doubtfulCluster(keys, wanted);
  if (doubt !== undefined) return { kind: 'doubtful', why: `${label} ${doubt}` };
  return ofPath.kind === 'own' && hasClusterBeside(document, field, wanted)
    ? { kind: 'doubtful', why: `a key beside ${label} has the name of cluster ${cluster}` }
    : ofPath;
}

/** Whether a path is of this namespace, for an object that names none. */
export function namespaceOwnership({ reader, wanted, candidate }: PathSearch, path: string): Ownership {
  const { cluster, namespace } = wanted;
  for (const template of certainTemplates(candidate)) {
    const named = readPath(template, path)?.namespace;
    if (named === namespace) return OWN;
    if (named !== undefined) {
      const why = `\`${path}\` is of namespace ${named} by the path template \`${template.text}\`, and not of ${namespace}`;
      return { kind: 'other', why };
    }
  }
  if (isNamedFor(path, wanted)) return OWN;
  const beside = ownershipBeside(reader, path, {
    own: namespace,
    what: 'namespace',
    ignored: cluster === undefined ? [] : [cluster],
    skipped: new Set(),
  });
  if (beside.kind !== 'own') return beside;
  const why = `nothing but ${candidate.learntFrom} says that \`${path}\` is of namespace ${namespace}`;
  return { kind: 'doubtful', why };
}

/** Whether a folder or the file has exactly the namespace's name: `team-a/`, `values-team-a.yaml`, not `team-a-b/`. */
export function isNamedFor(
  path: string,
  { namespace, cluster }: Pick<Search['wanted'], 'namespace' | 'cluster'>,
): boolean {
  return wordsOf(path).some((word) => isOnly(word, namespace, cluster === undefined ? [] : [cluster]));
}

/**
 * Templates with a fixed beginning. One that begins with a field fits every path of the tree, so it says nothing about
 * a path that somebody named because it is not where the template says.
 */
function certainTemplates(candidate: Search['candidate']): readonly PathTemplate[] {
  return templatesOf(candidate).filter(({ parts: [first] }) => typeof first === 'string' && /[^./]/.test(first));
}

/**
 * A folder with the own name beside one of the path's folders shows what folders of that level stand for. Where the
 * rest of the path exists there too, the path is certainly the other one's.
 */
function ownershipBeside(
  reader: Search['reader'],
  path: string,
  {
    own,
    what,
    ignored,
    skipped,
  }: {
    readonly own: string;
    readonly what: string;
    readonly ignored: readonly string[];
    /** Folders with the own name that stand for something else. */
    readonly skipped: ReadonlySet<string>;
  },
): Ownership {
  const parts = path.split('/');
  for (const [depth, word] of parts.entries()) {
    const level = parts.slice(0, depth);
    const folder = [...level, own].join('/');
    if (word === own || !reader.isFolder(folder) || skipped.has(folder)) continue;
    const parallel = [...level, own, ...parts.slice(depth + 1)].join('/');
    const isParallel =
      reader.isFile(parallel) || (folderOf(parallel) !== folder && reader.isFolder(folderOf(parallel)));
    if (isParallel && depth < parts.length - 1) {
      return { kind: 'other', why: `\`${path}\` stands beside \`${parallel}\`, which is of ${what} ${own}` };
    }
    const general = ignored.some((name) => mentions(word, name)) || isGeneral(word, undefined);
    if (!general && depth < parts.length - 1) {
      return { kind: 'doubtful', why: `\`${path}\` stands beside \`${folder}\`, so it may not be of ${what} ${own}` };
    }
  }
  return OWN;
}

/** The least certain of several answers. */
export function worst(ownerships: readonly Ownership[]): Ownership {
  return ownerships.find(({ kind }) => kind === 'other') ?? ownerships.find(({ kind }) => kind === 'doubtful') ?? OWN;
}

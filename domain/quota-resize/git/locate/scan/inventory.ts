/**
 * The quotas that a whole tree contains and who applies each of them; their locations are determined in a second step.
 */
import { textAt } from '../../yaml/documents.ts';
import { isChartFile, looksLikeValues } from '../helm/chart.ts';
import { type Delivery, deliveriesIn, mentionsDelivery } from '../delivery/delivery.ts';
import type { IdentifiedQuota } from '../location/describe-location.ts';
import { valuesFilesIn } from '../helm/chart-quotas.ts';
import { clusterFit, foldersOfNamespace, namespaceByFolder, namespaceByTemplate } from '../search/identify.ts';
import type { SourceNote } from '../location/limit-location.ts';
import type { TreeSnapshot, MissingFiles } from '../location/location.ts';
import { isKustomizationFile, isManifestFile, wordsOf } from '../tree/paths.ts';
import type { PathTemplate } from '../candidate/path-template.ts';
import { resolve } from '../resolve/resolve.ts';
import type { ResolvedQuota } from '../resolve/resolved.ts';
import { TreeReader } from '../tree/tree-reader.ts';
import type { UnreadFile } from '../tree/unread.ts';

/** Input that identifies the quotas of a tree. */
export interface InventoryOptions {
  /** Only quotas that may belong to this cluster. */
  readonly cluster: string | undefined;
  readonly templates: readonly PathTemplate[];
  /** Existing namespaces besides those that the tree declares. */
  readonly namespaces: readonly string[];
}

export interface Inventory {
  readonly kind: 'inventory';
  readonly quotas: readonly IdentifiedQuota[];
  /** All that the tree says to be applied. */
  readonly deliveries: readonly Delivery[];
  /** Problems in files that may contain quotas. */
  readonly notes: readonly SourceNote[];
}

const DECLARES_NAMESPACE = /^[ \t]*["']?kind["']?[ \t]*:[ \t]*["']?Namespace["']?[ \t]*(?:,[ \t]*)?(?:#.*)?\r?$/m;

/**
 * Whether an inventory needs the text of a file from the start; other files are requested when something refers to
 * them.
 */
export function mattersToScan(path: string, text: string): boolean {
  return (
    isKustomizationFile(path) ||
    isChartFile(path) ||
    (isManifestFile(path) &&
      (text.includes('ResourceQuota') ||
        looksLikeValues(path) ||
        mentionsDelivery(text) ||
        DECLARES_NAMESPACE.test(text)))
  );
}

/**
 * The quotas of the tree.
 *
 * @param tree with the texts of at least the files that `mattersToScan`.
 */
export function inventoryOf(tree: TreeSnapshot, options: InventoryOptions): MissingFiles | Inventory {
  const { cluster, templates } = options;
  const reader = new TreeReader(tree, { complete: true });
  const isOther = (path: string): boolean =>
    clusterFit(reader, cluster, [path], { templates, below: '', asNamespace: new Set(), namespace: undefined }) ===
    'other';
  const deliveries = deliveriesIn(reader, tree.texts.keys()).filter(({ path }) => !isOther(path));
  const { quotas, notes } = resolve(reader, {
    kustomizations: reader.index.kustomizations,
    manifests: [
      ...[...tree.texts].flatMap(([path, text]) =>
        text !== null && isManifestFile(path) && text.includes('ResourceQuota') ? [path] : [],
      ),
      ...unreadManifests(tree),
    ],
    values: valuesFilesIn(reader, [...tree.texts.keys()]),
    deliveries,
  });
  const identified = identify(reader, quotas, options);
  if (reader.missing.size > 0) {
    return { kind: 'missingFiles', paths: [...reader.missing].toSorted() };
  }
  const asNamespace = foldersOfNamespace(quotas, cluster);
  return {
    kind: 'inventory',
    deliveries,
    quotas: identified.filter(({ quota, identity }) => {
      const fitOptions = { templates, below: '', asNamespace, namespace: identity?.namespace };
      return clusterFit(reader, cluster, quota.paths, fitOptions) !== 'other';
    }),
    notes,
  };
}

/** Files that may have quotas and are not read. A symbolic link is only said where something refers to it. */
function unreadManifests({ unread = new Map<string, UnreadFile>() }: TreeSnapshot): readonly string[] {
  return [...unread].flatMap(([path, { why, hasNoQuota }]) =>
    why !== 'NoFile' && hasNoQuota !== true && isManifestFile(path) ? [path] : [],
  );
}

/** Each quota with its namespace. A quota whose path fits several namespaces is returned once for each. */
function identify(
  reader: TreeReader,
  quotas: readonly ResolvedQuota[],
  { cluster, templates, namespaces }: InventoryOptions,
): readonly IdentifiedQuota[] {
  // By their order, which is that of the result.
  let declared: ReadonlyMap<string, number> | undefined;
  return quotas.flatMap((quota): readonly IdentifiedQuota[] => {
    if (quota.namespace !== undefined) {
      return [{ quota, identity: { namespace: quota.namespace, by: '' } }];
    }
    const byTemplate = namespaceByTemplate(templates, quota.paths, cluster);
    if (byTemplate !== undefined) {
      return [{ quota, identity: byTemplate }];
    }
    declared ??= new Map([...new Set([...namespaces, ...declaredNamespaces(reader)])].map((one, at) => [one, at]));
    // Each namespace is tried alone, because a search for one namespace does not know the others either.
    const byFolder = namesIn(quota.paths, declared).flatMap(
      (namespace) => namespaceByFolder(new Set([namespace]), quota.paths, { cluster, quota: quota.name }) ?? [],
    );
    return byFolder.length === 0 ? [{ quota, identity: undefined }] : byFolder.map((identity) => ({ quota, identity }));
  });
}

/** The namespaces that a folder or a file of the paths is called like; no other one can be that of the paths. */
function namesIn(paths: readonly string[], declared: ReadonlyMap<string, number>): readonly string[] {
  const named = new Set(paths.flatMap(wordsOf).filter((word) => declared.has(word)));
  return [...named].toSorted((a, b) => (declared.get(a) ?? 0) - (declared.get(b) ?? 0));
}

function declaredNamespaces(reader: TreeReader): readonly string[] {
  return [...reader.tree.texts].flatMap(([path, text]) =>
    text !== null && isManifestFile(path) && DECLARES_NAMESPACE.test(text)
      ? reader
          .documents(path, 'Namespace')
          .flatMap((document) =>
            textAt(document, ['kind']) === 'Namespace' ? (textAt(document, ['metadata', 'name']) ?? []) : [],
          )
      : [],
  );
}

/** The source candidates of a quota, derived from the tree as the worker derives them from the cluster. */
import type { ManifestDocument } from '../../yaml/documents.ts';
import { textAt } from '../../yaml/documents.ts';
import { plainValue } from '../../yaml/value.ts';
import { type AppliedSource, argoSources, candidateOfSource, fluxSource } from '../delivery/applied-source.ts';
import { readApplication } from '../delivery/argo-application.ts';
import { readKustomization } from '../delivery/flux-kustomization.ts';
import { configuredCandidates } from '../candidate/configured-candidates.ts';
import { AppliedFolders } from '../delivery/applied-folders.ts';
import { type Delivery, mayBeOfOneTree, sourceKey } from '../delivery/delivery.ts';
import type { Inventory } from './inventory.ts';
import type { TreeSnapshot } from '../location/location.ts';
import { pathFrom } from '../tree/paths.ts';
import type { WantedQuota } from '../search/search.ts';
import type { SourceCandidate } from '../candidate/source-candidate.ts';
import { TreeReader } from '../tree/tree-reader.ts';

/**
 * First the object that applies the quota, then the path template, then the whole tree; and everything that may apply the
 * same files.
 */
export function candidatesInTree(
  tree: TreeSnapshot,
  { quotas, deliveries: all }: Inventory,
  { namespace, name, cluster }: WantedQuota,
  template: string,
): { readonly candidates: readonly SourceCandidate[]; readonly applied: AppliedFolders } {
  const deliveries = new Map<ManifestDocument, Delivery>();
  for (const { quota } of identified(quotas).get(keyOf(namespace, name)) ?? []) {
    if (quota.delivery?.document !== undefined) {
      deliveries.set(quota.delivery.document, quota.delivery);
    }
  }
  const [delivery, second] = deliveries.values();
  // If two objects apply the quota, only the cluster knows which one counts.
  const sources = delivery === undefined || second !== undefined ? [] : sourcesOf(delivery);
  const reader = new TreeReader(tree);
  const applied = sources.filter((source) => isInTree(reader, source)).map(candidateOfSource);
  return {
    candidates: [...applied, ...configuredCandidates(template, { cluster, namespace, quota: name })],
    applied: appliedBeside(all, delivery),
  };
}

const appliedFolders = new WeakMap<readonly Delivery[], Map<string, AppliedFolders>>();

/** What applies files of the tree that a delivery, where one is known, applies too. Made once for all quotas of a repository. */
function appliedBeside(all: readonly Delivery[], delivery: Delivery | undefined): AppliedFolders {
  const cache = appliedFolders.get(all) ?? new Map<string, AppliedFolders>();
  appliedFolders.set(all, cache);
  const key = delivery === undefined ? '' : sourceKey(delivery);
  const cached = cache.get(key);
  if (cached !== undefined) return cached;
  const ofTree = delivery === undefined ? all : all.filter((other) => mayBeOfOneTree(delivery, other));
  const folders = new AppliedFolders(
    ofTree.filter(({ namespace }) => namespace !== undefined),
    key,
  );
  cache.set(key, folders);
  return folders;
}

type QuotasByKey = ReadonlyMap<string, Inventory['quotas']>;

const byKey = new WeakMap<Inventory['quotas'], QuotasByKey>();

function identified(quotas: Inventory['quotas']): QuotasByKey {
  const groups = byKey.get(quotas) ?? Map.groupBy(quotas, (one) => keyOf(one.identity?.namespace, one.quota.name));
  byKey.set(quotas, groups);
  return groups;
}

function keyOf(namespace: string | undefined, name: string): string {
  return JSON.stringify([namespace ?? null, name]);
}

function sourcesOf({ document, learntFrom, folder, namespace, path }: Delivery): readonly AppliedSource[] {
  if (document === undefined) {
    return [];
  }
  const { value } = plainValue(document.syntax);
  switch (textAt(document, ['kind'])) {
    case 'Application':
      return argoSourcesOf(learntFrom, value);
    case 'Kustomization': {
      const kustomization = readKustomization(value);
      return kustomization === null ? [] : [fluxSource(learntFrom, kustomization)];
    }
    case 'HelmRelease': {
      const name = textAt(document, ['metadata', 'name']);
      return name === undefined || namespace === undefined
        ? []
        : [{ from: 'flux', learntFrom, path: folder, release: { name, namespace, path } }];
    }
    default:
      return [];
  }
}

function argoSourcesOf(learntFrom: string, object: unknown): readonly AppliedSource[] {
  const application = readApplication(object);
  return application === null ? [] : argoSources(learntFrom, application, (url) => url);
}

/** A path that the tree does not have belongs to another repository. */
function isInTree(reader: TreeReader, { path = '', otherwise }: AppliedSource): boolean {
  const location = pathFrom('', path);
  return otherwise === undefined && location !== undefined && (reader.isFile(location) || reader.isFolder(location));
}

/** Applies Argo CD's and Flux's settings to the quotas that they deliver. */
import type { Delivery } from './delivery.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { folderOf } from '../tree/paths.ts';
import type { RenderedQuota } from '../resolve/rendered-quota.ts';

/** The quotas as they are delivered: one copy for every namespace that a quota is delivered into. */
export function delivered(
  rendered: readonly RenderedQuota[],
  deliveries: readonly Delivery[],
): readonly RenderedQuota[] {
  if (deliveries.length === 0) {
    return rendered;
  }
  const byFolder = new Map<string, Delivery[]>();
  for (const delivery of deliveries) {
    const there = byFolder.get(delivery.folder) ?? [];
    there.push(delivery);
    byFolder.set(delivery.folder, there);
  }
  return rendered.flatMap((quota) => {
    const root = quota.chain.at(-1)?.path ?? quota.object.document.path;
    const here = deliveriesOfRoot(byFolder, root, quota.chain.length > 0);
    const results = new Map(here.map((delivery) => [delivery.namespace, into(quota, delivery)]));
    return results.size === 0
      ? [quota]
      : [...new Map([...results.values()].map((result) => [result.namespace, result])).values()];
  });
}

/**
 * A kustomization is delivered by the object that names exactly its folder; a plain file by the object that names the
 * nearest folder above it.
 */
function deliveriesOfRoot(
  byFolder: ReadonlyMap<string, readonly Delivery[]>,
  root: string,
  exact: boolean,
): readonly Delivery[] {
  let folder = folderOf(root);
  for (;;) {
    const there = byFolder.get(folder);
    if (there !== undefined || exact || folder === '') {
      return there ?? [];
    }
    folder = folderOf(folder);
  }
}

function into(quota: RenderedQuota, delivery: Delivery): RenderedQuota {
  const { namespace, overrides, opaque, learntFrom, path, line } = delivery;
  const note: SourceNote | undefined =
    opaque === undefined ? undefined : { path, line, message: `${learntFrom} ${opaque}` };
  const changed = { ...quota, delivery, opaque: note === undefined ? quota.opaque : [...quota.opaque, note] };
  return namespace === undefined || (quota.namespace !== undefined && !overrides)
    ? changed
    : { ...changed, namespace, namespaceBy: learntFrom };
}

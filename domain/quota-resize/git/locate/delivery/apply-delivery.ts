/** Applies Argo CD's and Flux's settings to the quotas that they deliver. */
import type { Delivery } from './delivery.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { folderOf } from '../tree/paths.ts';
import type { RenderedQuota } from '../resolve/rendered-quota.ts';

type DeliveriesAt = (folder: string) => readonly Delivery[];

/**
 * The quotas as they are delivered: one copy for every namespace that a quota is delivered into.
 *
 * @param deliveriesAt the deliveries of exactly a folder.
 */
export function delivered(rendered: readonly RenderedQuota[], deliveriesAt: DeliveriesAt): readonly RenderedQuota[] {
  return rendered.flatMap((quota) => {
    const root = quota.chain.at(-1)?.path ?? quota.object.document.path;
    const here = deliveriesOfRoot(deliveriesAt, root, quota.chain.length > 0);
    const results = new Map(here.map((delivery) => [delivery.namespace, into(quota, delivery)]));
    return results.size === 0
      ? [quota]
      : [...new Map([...results.values()].map((result) => [result.namespace, result])).values()];
  });
}

/**
 * A kustomization is delivered by the objects that name exactly its folder; a plain file by the objects that name the
 * nearest folder above it, and by those above that apply into a namespace what is below their folder.
 */
function deliveriesOfRoot(deliveriesAt: DeliveriesAt, root: string, exact: boolean): readonly Delivery[] {
  const found: Delivery[] = [];
  for (let folder = folderOf(root); ; folder = folderOf(folder)) {
    const there = deliveriesAt(folder);
    found.push(
      ...(found.length === 0 ? there : there.filter(({ recurses, namespace }) => recurses && namespace !== undefined)),
    );
    if (exact || folder === '') {
      return found;
    }
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

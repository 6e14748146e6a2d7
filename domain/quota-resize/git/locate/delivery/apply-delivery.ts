/** Applies Argo CD's and Flux's settings to the quotas that they deliver. */
import type { Delivery } from './delivery.ts';
import type { SourceNote } from '../location/limit-location.ts';
import { folderOf } from '../tree/paths.ts';
import type { RenderedQuota } from '../resolve/rendered-quota.ts';

interface AppliedTree {
  /** The deliveries of exactly a folder. */
  readonly deliveriesAt: (folder: string) => readonly Delivery[];
  /** Whether a kustomization says what is applied of a folder. */
  readonly isBuilt: (folder: string) => boolean;
}

/** The quotas as they are delivered: one copy for every namespace that a quota is delivered into. */
export function delivered(rendered: readonly RenderedQuota[], tree: AppliedTree): readonly RenderedQuota[] {
  return rendered.flatMap((quota) => {
    const root = quota.chain.at(-1)?.path ?? quota.object.document.path;
    const here = deliveriesOfRoot(tree, root, quota.chain.length > 0);
    const results = new Map(here.map((delivery) => [delivery.namespace, into(quota, delivery)]));
    return results.size === 0
      ? [quota]
      : [...new Map([...results.values()].map((result) => [result.namespace, result])).values()];
  });
}

/**
 * A kustomization is delivered by the objects that name exactly its folder; a plain file by the objects that name the
 * nearest folder above it. Either is also delivered by those above that apply into a namespace what is below their folder:
 * without a kustomization there, Argo CD takes all plain files, and Flux goes on until it meets a kustomization, which it
 * builds.
 */
function deliveriesOfRoot({ deliveriesAt, isBuilt }: AppliedTree, root: string, exact: boolean): readonly Delivery[] {
  const found: Delivery[] = [];
  const own = folderOf(root);
  let isCut = false;
  for (let folder = own; ; folder = folderOf(folder)) {
    const there = deliveriesAt(folder);
    const built = folder !== own && isBuilt(folder);
    const isAbove = ({ recurses, overrides, namespace }: Delivery): boolean =>
      recurses && namespace !== undefined && !built && (overrides ? !isCut : !exact);
    found.push(...(found.length === 0 ? there : there.filter(isAbove)));
    if (folder === '' || (exact && found.length === 0)) {
      return found;
    }
    isCut ||= built;
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

/** Reads and writes the marks of drains on nodes. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { EpochMs } from '../../../domain/kernel/time.ts';
import { markOf, markPatch, type NodePatch, unmarkPatch } from '../../../domain/node-group/drain/marks.ts';
import type { Node } from '../../../domain/node-group/model/node.ts';
import { readNode } from '../../../domain/node-group/scheduling/read-objects.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { retryOnConflict } from '../../kubernetes/retry-on-conflict.ts';
import type { Marked } from '../../../domain/node-group/drain/answers.ts';

export interface MarkOptions {
  readonly kubernetes: Pick<Kubernetes, 'core'>;
  readonly now: () => EpochMs;
  /** @throws while nothing may be written for the node. */
  readonly guard: (target: DrainTarget) => Promise<void>;
  /** @throws where the node is not to be drained: `ordered.ts`. */
  readonly ensureOrdered: (target: DrainTarget, node: Node, isMarked: boolean) => Promise<void>;
}

/** A node of which the resourceVersion is known, so that a write can be bound to it. */
interface ReadNode {
  readonly node: Node;
  readonly resourceVersion: string;
}

export type MarkedNode =
  | { readonly kind: 'marked'; readonly node: Node; readonly drainBegan: EpochMs }
  | Exclude<Marked, { kind: 'marked' }>;

const MERGE_PATCH = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** Puts the marks of a drain on its node where they are not; see `DrainActivities.ensureDrainMarked`. */
export async function ensureMarked(options: MarkOptions, target: DrainTarget): Promise<MarkedNode> {
  const drain = nodeDrainId(target);
  return await retryOnConflict(`the Node ${target.node}`, async () => {
    const read = await nodeOf(options.kubernetes, target);
    if (read === null) return { kind: 'nodeGone' };
    const { node } = read;
    const mark = markOf(node);
    if (mark !== null && mark.drain !== drain) return { kind: 'foreign', drain: mark.drain };
    // Whoever made it schedulable again wants it to stay.
    if (mark !== null && !node.isCordoned) return { kind: 'uncordoned' };
    await options.ensureOrdered(target, node, mark !== null);
    if (mark !== null) return { kind: 'marked', node, drainBegan: mark.startedAt };
    await options.guard(target);
    const at = options.now();
    await patchNode(options.kubernetes, read, markPatch(node, drain, at));
    return { kind: 'marked', node, drainBegan: at };
  });
}

/**
 * Takes exactly the marks of one drain off a node; nothing where it has none of it. For a drain of which it is certain that it
 * does not run and will not be started: its own workflow, or whoever finds marks that a terminated one has left.
 *
 * @param drain the workflow id of the drain that the marks name.
 * @returns whether there were any.
 */
export async function ensureUnmarked(
  options: Omit<MarkOptions, 'ensureOrdered'>,
  target: DrainTarget,
  drain: string,
): Promise<boolean> {
  return await retryOnConflict(`the Node ${target.node}`, async () => {
    const read = await nodeOf(options.kubernetes, target);
    const patch = read === null ? null : unmarkPatch(read.node, drain);
    if (read === null || patch === null) return false;
    await options.guard(target);
    await patchNode(options.kubernetes, read, patch);
    return true;
  });
}

/** Null where it does not exist any more, or another one has its name. */
async function nodeOf({ core }: Pick<Kubernetes, 'core'>, { node, uid }: DrainTarget): Promise<ReadNode | null> {
  const object = await orNull(core.readNode({ name: node }));
  const { metadata, spec, status } = object ?? {};
  if (metadata?.uid !== uid) return null;
  return { node: readNode({ metadata, spec, status }), resourceVersion: metadata.resourceVersion ?? '' };
}

/** One write, to exactly the node that was read: otherwise it is a conflict (409). */
async function patchNode(
  { core }: Pick<Kubernetes, 'core'>,
  { node: { name, uid }, resourceVersion }: ReadNode,
  patch: NodePatch,
): Promise<void> {
  const body = { ...patch, metadata: { ...patch.metadata, uid, resourceVersion } };
  // A node that has gone meanwhile has no marks.
  await orNull(core.patchNode({ name, body }, MERGE_PATCH));
}

/** The marks of a drain on its node: who drains it, and the cordon. They are written, and taken back, in one patch. */
import { isRecord } from '../../kernel/record.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { Node } from '../model/node.ts';

/** Who drains the node, and whether it was cordoned before: JSON of `DrainMark`. */
export const DRAIN_MARK = 'autoscaler.vpsie.com/drain';
/** The VPSie autoscaler's: others read them. */
const DRAIN_STARTED = 'autoscaler.vpsie.com/drain-start-time';
const DRAIN_STATUS = 'autoscaler.vpsie.com/drain-status';

/** Every annotation that a drain writes on its node. */
export const DRAIN_ANNOTATIONS: readonly string[] = [DRAIN_MARK, DRAIN_STARTED, DRAIN_STATUS];

export interface DrainMark {
  /** The workflow id of the drain. */
  readonly drain: string;
  /** Somebody else had cordoned the node before, so the cordon stays when the drain is undone. */
  readonly wasCordoned: boolean;
  readonly startedAt: EpochMs;
}

type MarkedNode = Pick<Node, 'annotations' | 'isCordoned'>;

/** The change of a Node that is written as a merge patch. */
export interface NodePatch {
  readonly metadata: { readonly annotations: Readonly<Record<string, string | null>> };
  readonly spec?: { readonly unschedulable: boolean | null };
}

/** The mark on a node; null where there is none, or one that nobody can read. */
export function markOf({ annotations }: Pick<Node, 'annotations'>): DrainMark | null {
  try {
    const mark: unknown = JSON.parse(annotations[DRAIN_MARK] ?? 'null');
    if (!isRecord(mark) || typeof mark['drain'] !== 'string') return null;
    const startedAt = Date.parse(String(mark['startedAt']));
    return {
      drain: mark['drain'],
      // A cordon of which it is not known whose it is stays.
      wasCordoned: mark['wasCordoned'] !== false,
      startedAt: Number.isFinite(startedAt) ? startedAt : 0,
    };
  } catch {
    return null;
  }
}

/** Marks a node that has no mark, and cordons it. */
export function markPatch({ isCordoned }: MarkedNode, drain: string, at: EpochMs): NodePatch {
  const startedAt = formatInstant(at);
  const annotations = {
    [DRAIN_MARK]: JSON.stringify({ drain, wasCordoned: isCordoned, startedAt }),
    [DRAIN_STARTED]: startedAt,
    [DRAIN_STATUS]: 'draining',
  };
  return { metadata: { annotations }, spec: { unschedulable: true } };
}

/** Takes back the marks of a drain; null where the node has none of it. */
export function unmarkPatch(node: MarkedNode, drain: string): NodePatch | null {
  const mark = markOf(node);
  if (mark === null || mark.drain !== drain) return null;
  const annotations = { [DRAIN_MARK]: null, [DRAIN_STARTED]: null, [DRAIN_STATUS]: null };
  return mark.wasCordoned || !node.isCordoned
    ? { metadata: { annotations } }
    : { metadata: { annotations }, spec: { unschedulable: null } };
}

/** The plan of a command is of one moment. */
import type { KeptNode } from '../../../domain/node-group/model/plan.ts';

/** What a reader of a command's plan should know. */
export const ONE_MOMENT =
  'A command sees one moment: the starter alone knows since when a node has been unneeded and what it used before, and workflows which nodes people want drained and which drains failed lately. "headroom node-groups status GROUP" shows what comes of that.';

/** Whether nothing needs the node, and it only waits for that to have been so for long enough. */
export function isOnlyWaiting({ reason }: Pick<KeptNode, 'reason'>): boolean {
  return reason === 'NotUnneededLongEnough';
}

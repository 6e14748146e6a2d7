import type { EpochMs } from '../../kernel/time.ts';

/** A node that came for pods which did not get it: evidence against its type for pods of this kind, whatever the model believes. */
export interface InVain {
  readonly instanceType: string;
  /** The kind of the pods (`podKind`), or of the node in whose place it came (`kindOfNode`). */
  readonly kind: string;
  /** `<namespace>/<name>` of one of the pods, or the name of that node. */
  readonly pod: string;
  /** The VPSieNode of the last such node. */
  readonly machine: string;
  /** When that was found, in whole seconds. */
  readonly at: EpochMs;
  /** When a pod of the kind waited last, to the hour. */
  readonly waited: EpochMs;
  /** What the type and the group promised then (`promiseOf`). */
  readonly promise: string;
  /** How many nodes in a row that was so of. */
  readonly tries: number;
  /** Whether it says something about the type: a node that is cordoned, or not ready, says only that it is itself no good. */
  readonly isFirm: boolean;
}

/** For so long after a pod of the kind waited last: a CronJob makes the next one a day later. */
export const REMEMBERED_MS = 2 * 86_400_000;

/** There is one for each. */
export function inVainKey({ instanceType, kind }: Pick<InVain, 'instanceType' | 'kind'>): string {
  return `${instanceType} ${kind}`;
}

const NODE = 'node/';

/** What a node in whose place another one comes has as its kind. */
export function kindOfNode({ uid }: { readonly uid: string }): string {
  return `${NODE}${uid}`;
}

export function isKindOfNode(kind: string): boolean {
  return kind.startsWith(NODE);
}

/** Whether no more nodes of the type are asked for such pods: at once where it is about the type, otherwise with the second node. */
export function stops({ isFirm, tries }: InVain): boolean {
  return isFirm || tries > 1;
}

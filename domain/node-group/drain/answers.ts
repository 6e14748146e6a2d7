/** What the activities of a drain answer. */
import type { DrainProgress, LookVerdict } from './drain-progress.ts';

export type Marked =
  /** The marks are on the node, and it is cordoned. */
  | { readonly kind: 'marked' }
  /** It does not exist any more, or another one has its name. */
  | { readonly kind: 'nodeGone' }
  /** Somebody made it schedulable again after it was marked. */
  | { readonly kind: 'uncordoned' }
  /** Another drain has its marks on it. */
  | { readonly kind: 'foreign'; readonly drain: string };

export type Evicted =
  | Exclude<Marked, { kind: 'marked' }>
  /** Nothing is left on the node that leaves with a drain, or nothing more can be evicted. */
  | Exclude<LookVerdict, { kind: 'wait' }>
  /** Others refuse evictions now than the caller shows. To be called again. */
  | {
      readonly kind: 'refused';
      readonly by: readonly string[];
      readonly progress: DrainProgress;
      readonly detail: string;
    };

export type Replacement =
  | { readonly kind: 'ready' }
  /** It will not become a node. `detail`: a sentence. */
  | { readonly kind: 'failed'; readonly detail: string };

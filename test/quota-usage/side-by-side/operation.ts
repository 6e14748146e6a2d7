/** One thing that is done to both clusters. A stream of operations is data: it is made before anything runs. */
import type { PatchKind } from './api.ts';

/** What breaks, or comes back, in the middle of a stream. */
export type Fault = 'starterKilled' | 'starterStarted' | 'workerKilled' | 'workerStarted' | 'apiServersRestarted';

export type Operation = { readonly words: string } & (
  | {
      readonly kind: 'create';
      /** Of the collection: `/api/v1/namespaces/team-a/pods`. */
      readonly path: string;
      readonly body: object;
    }
  /** `path` is of the object or of one of its subresources. */
  | { readonly kind: 'patch'; readonly path: string; readonly body: object; readonly patch: PatchKind }
  | {
      readonly kind: 'delete';
      readonly path: string;
      /** Of the deletion, in seconds; Kubernetes' default unless given. */
      readonly graceSeconds?: number;
    }
  /** Both clusters have a number for a resource of a quota: only then do they know the resource. */
  | { readonly kind: 'counted'; readonly path: string; readonly resource: string; readonly used?: string }
  | { readonly kind: 'fault'; readonly fault: Fault }
);

/** The namespace that an operation is about; null for one of the whole cluster. */
export function namespaceOf(operation: Operation): string | null {
  if (operation.kind === 'fault') return null;
  return /\/namespaces\/([^/]+)/.exec(operation.path)?.[1] ?? null;
}

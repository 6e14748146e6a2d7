import type { ChildKind } from '../children/children.ts';
import type { LiveObject } from './live.ts';

/** What became of an object, as metrics count it. */
export type WriteResult = 'created' | 'updated' | 'unchanged';

/** What a write did to an object; null where there was none before. */
export function writeResult(before: LiveObject | null, after: LiveObject): WriteResult {
  if (before === null) return 'created';
  return before.metadata?.['resourceVersion'] === after.metadata?.['resourceVersion'] ? 'unchanged' : 'updated';
}

/** The Event of a write; null where nothing was written. */
export function writeEvent(
  result: WriteResult,
  kind: ChildKind,
  name: string,
): { readonly type: 'Normal'; readonly reason: 'Created' | 'Updated'; readonly message: string } | null {
  if (result === 'unchanged') return null;
  const reason = result === 'created' ? 'Created' : 'Updated';
  return { type: 'Normal', reason, message: `${reason} ${kind} ${name}` };
}

import type { Mergeability } from '../../../domain/kernel/forge.ts';
import type { PullData } from './responses.ts';

/** Reads `draft`, `mergeable` and `mergeable_state` as GitHub documents them. */
export function mergeabilityOf({
  draft,
  mergeable,
  mergeable_state: state,
}: Pick<PullData, 'draft' | 'mergeable' | 'mergeable_state'>): Mergeability {
  if (draft === true || state === 'draft') return 'draft';
  if (mergeable === null || state === 'unknown') return 'computing';
  if (!mergeable || state === 'dirty') return 'conflict';
  switch (state) {
    case 'clean':
    case 'has_hooks':
      return 'clean';
    case 'behind':
    case 'blocked':
    case 'unstable':
      return state;
    default:
      return 'unrecognised';
  }
}

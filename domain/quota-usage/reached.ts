/** How far caches have come, by resource. */
import { hasReached } from '../kernel/resource-version.ts';
import type { Reached } from './observation.ts';

/** The later version of each resource of both. */
export function furthest(a: Reached, b: Reached): Reached {
  const later = Object.entries(b).filter(([resource, version]) => {
    const known = a[resource];
    return known === undefined || !hasReached(known, version);
  });
  return later.length === 0 ? a : { ...a, ...Object.fromEntries(later) };
}

/** The resourceVersions that caches have reached. */
import { isAtLeast } from '../kernel/resource-version.ts';
import type { ObservedVersions } from './observation.ts';

/** The later version of each resource of both. */
export function newestVersions(a: ObservedVersions, b: ObservedVersions): ObservedVersions {
  const later = Object.entries(b).filter(([resource, version]) => {
    const existing = a[resource];
    return existing === undefined || !isAtLeast(existing, version);
  });
  return later.length === 0 ? a : { ...a, ...Object.fromEntries(later) };
}

import type { WatchedQuota } from '../kernel/stack/watched-quota.ts';

/** The raises that the quota's Lease counts for its growth. */
export async function raisesOf(quota: WatchedQuota): Promise<readonly Record<string, unknown>[]> {
  const lease = await quota.lease();
  return JSON.parse(lease?.annotations['resizer.io/unattended-raises'] ?? '[]') as Record<string, unknown>[];
}

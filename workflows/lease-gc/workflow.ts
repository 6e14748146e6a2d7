import type { LeaseGcActivities, LeaseGcResult } from '../../activities/lease-gc/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';
import { createPublisher } from '../kernel/visibility.ts';

const { ensureOldLeasesCollected } = controllerActivities<LeaseGcActivities>('lease-gc', {
  // A list of every Lease and namespace, then one delete for each old Lease.
  startToCloseTimeout: '10 minutes',
  // Workers send a heartbeat every 3 s, so that another worker soon takes over the activity of a killed one.
  heartbeatTimeout: '10 seconds',
  // Retried without a limit: the next run of the Schedule is 12 hours away, and an unreachable cluster comes back.
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/** One garbage collection of a cluster's Leases; started by a Temporal Schedule, or by hand. */
export async function leaseGc(input: { readonly cluster: string }): Promise<LeaseGcResult> {
  const publish = createPublisher(
    { controller: 'lease-gc', target: input.cluster, cluster: input.cluster },
    { Collecting: { whom: 'Headroom', until: 'all Leases are checked' }, Ended: null },
  );
  publish(
    {
      phase: 'Collecting',
      reason: 'Scheduled',
      detail: 'Headroom looks for Leases whose namespace is gone',
      facts: [],
    },
    Date.now(),
  );
  const { cluster } = input;
  const result = await ensureOldLeasesCollected.executeWithOptions({ summary: `Leases of ${cluster}` }, [{ cluster }]);
  const facts = [
    ...result.deleted.map((name) => `deleted ${name}`),
    ...result.unlocked.map((name) => `unlocked ${name}`),
  ];
  const detail = `kept ${result.kept}, deleted ${result.deleted.length}, unlocked ${result.unlocked.length}`;
  publish({ phase: 'Ended', reason: 'Collected', detail, facts }, Date.now());
  return result;
}

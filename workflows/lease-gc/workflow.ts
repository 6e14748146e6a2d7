import type { LeaseGcActivities, LeaseGcResult } from '../../activities/lease-gc/interface.ts';
import { controllerActivities } from '../kernel/activities.ts';
import { createPublisher } from '../kernel/visibility.ts';

const { ensureOldLeasesCollected } = controllerActivities<LeaseGcActivities>('lease-gc', {
  // A list of every Lease and namespace, then one delete for each old Lease.
  startToCloseTimeout: '10 minutes',
  // The workers send a heartbeat every 3 s, so that the round of a killed one is taken over soon.
  heartbeatTimeout: '10 seconds',
  // Without a limit: the next round is only due in 12 hours, and a cluster that is away comes back.
  retry: { initialInterval: '5 seconds', backoffCoefficient: 2, maximumInterval: '5 minutes' },
});

/** One round of Lease garbage collection of a cluster; started by its Schedule, or by hand. */
export async function leaseGc(input: { readonly cluster: string }): Promise<LeaseGcResult> {
  const publish = createPublisher({ controller: 'lease-gc', target: input.cluster, cluster: input.cluster });
  publish(
    { phase: 'Collecting', reason: 'Scheduled', detail: 'looking for Leases whose namespace is gone', facts: [] },
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

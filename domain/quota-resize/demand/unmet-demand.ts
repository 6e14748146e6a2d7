/** The demand of an observation that counts now, and its sum. */
import { addLists, quantityIn, type ResourceList, resourceEntries } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { QuotaObservation, WorkloadDemand } from '../model/observation.ts';
import { type Assessment, assess, rulesOf } from '../sizing/recommend.ts';

/**
 * A denial whose owner was read is what still misses now, however old its Event; a denial known by its message alone
 * counts only when it was seen after `since`, the last change of ours: older ones are old news.
 */
export function unmetDemand(observation: QuotaObservation, since: EpochMs | null): readonly WorkloadDemand[] {
  return observation.demand.filter(
    (demand) => demand.basis === 'workload' || since === null || demand.lastSeen > since,
  );
}

/** The limits that ask to be raised where this much is used. Nothing for a quota that is gone. */
export function assessWith(
  observation: QuotaObservation,
  demand: readonly WorkloadDemand[],
  used: ResourceList,
): readonly Assessment[] {
  if (observation.quota === null) return [];
  const total = demand.reduce<ResourceList>((sum, one) => addLists(sum, one.total), {});
  return assess({ hard: observation.quota.hard, used, demand: total, policy: rulesOf(observation.policy) });
}

/** Whether a quota lacks room for what was refused. */
export function isExceeded(
  { hard, used }: { readonly hard: ResourceList; readonly used: ResourceList },
  demand: readonly WorkloadDemand[],
): boolean {
  const total = demand.reduce<ResourceList>((sum, one) => addLists(sum, one.total), {});
  return resourceEntries(total).some(
    ([resource, amount]) =>
      amount.nano > 0n && amount.nano + quantityIn(used, resource).nano > quantityIn(hard, resource).nano,
  );
}

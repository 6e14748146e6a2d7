/** The demand of an observation that still counts, and its sum. */
import { addLists, quantityIn, type ResourceList, resourceEntries } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { DemandFacts, WorkloadDemand } from '../model/observation.ts';
import { type Assessment, assess, rulesOf } from '../sizing/recommend.ts';

/**
 * A denial whose owner was read counts by what the owner lacks now, however old its Event is. A denial that is known
 * only by its message counts only if it was seen after `since`, Headroom's last change.
 */
export function unmetDemand(observation: DemandFacts, since: EpochMs | null): readonly WorkloadDemand[] {
  return observation.demand.filter(
    (demand) => demand.basis === 'workload' || since === null || demand.lastSeen > since,
  );
}

/** The limits that have to be raised at this usage. None for a quota that is gone. */
export function assessWith(
  observation: DemandFacts,
  demand: readonly WorkloadDemand[],
  used: ResourceList,
): readonly Assessment[] {
  if (observation.quota === null) return [];
  const total = demand.reduce<ResourceList>((sum, workload) => addLists(sum, workload.total), {});
  return assess({ hard: observation.quota.hard, used, demand: total, policy: rulesOf(observation.policy) });
}

/** Whether a quota lacks room for what was denied. */
export function isExceeded(
  { hard, used }: { readonly hard: ResourceList; readonly used: ResourceList },
  demand: readonly WorkloadDemand[],
): boolean {
  const total = demand.reduce<ResourceList>((sum, workload) => addLists(sum, workload.total), {});
  return resourceEntries(total).some(
    ([resource, amount]) =>
      amount.nano > 0n && amount.nano + quantityIn(used, resource).nano > quantityIn(hard, resource).nano,
  );
}

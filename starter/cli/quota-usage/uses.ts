/** What uses a quota: of each limit, the workloads that are charged most of it. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import type { ObjectsOf } from '../../../domain/quota-usage/calculate.ts';
import type { Evaluator, UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { requirementsOf } from '../../../domain/quota-usage/scopes.ts';
import { type TopUsage, topUsage, type WorkloadCharge } from '../../../domain/quota-usage/top.ts';
import { type Between, type Owned, workloadOf } from './workload.ts';

/** Who uses one limit of a quota. Amounts are quantities; a share is that of all that was counted, in percent. */
export interface ResourceUses extends Omit<TopUsage, 'top'> {
  readonly resource: string;
  readonly top: readonly TopWorkload[];
}

type TopWorkload = TopUsage['top'][number] & {
  /** How many objects of it are charged. */
  readonly objects: number;
};

/** As many workloads are named for each limit. */
const MOST = 5;

/** Kinds by resource, for objects that belong to nobody. Of all other resources such objects are counted together. */
const KINDS: Readonly<Record<string, string>> = {
  pods: 'Pod',
  services: 'Service',
  persistentvolumeclaims: 'PersistentVolumeClaim',
  'resourceclaims.resource.k8s.io': 'ResourceClaim',
};

/** @param objectsOf the objects of the quota's namespace; what could not be read has no uses. */
export function usesOf(
  { spec }: V1ResourceQuota,
  evaluators: readonly Evaluator[],
  objectsOf: ObjectsOf,
  between: Between,
  context: UsageContext,
): readonly ResourceUses[] {
  const limits = Object.keys(spec?.hard ?? {});
  const requirements = requirementsOf(spec ?? {});
  const charges = evaluators.flatMap((evaluator) => {
    if (evaluator.matchingResources(limits, context).length === 0) return [];
    const answer = objectsOf(evaluator.resource);
    const objects = 'objects' in answer ? answer.objects : [];
    const resource = groupResourceName(evaluator.resource);
    return objects
      .filter((object) => requirements.every((requirement) => evaluator.matchesScope(requirement, object)))
      .map((object): WorkloadCharge => {
        const workload = nameOf(object, resource, between);
        return { workload, charge: evaluator.usage(object, context) };
      });
  });
  return limits.map((resource) => {
    const own = charges.filter(({ charge }) => Object.hasOwn(charge, resource) && charge[resource] !== '0');
    const objects = Map.groupBy(own, ({ workload }) => workload);
    const { total, top, others } = topUsage(own, resource, MOST);
    const counted = top.map((entry) => ({ ...entry, objects: objects.get(entry.workload)?.length ?? 0 }));
    return { resource, total, top: counted, others };
  });
}

/** `Deployment/web`; `secrets` for all of those that belong to nobody. */
function nameOf(object: Owned, resource: string, between: Between): string {
  const { kind, name } = workloadOf(object, KINDS[resource] ?? '', between);
  return kind === '' ? resource : `${kind}/${name}`;
}

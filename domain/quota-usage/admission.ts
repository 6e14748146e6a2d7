/** Whether a quota admits an object, decided as by the API server's ResourceQuota admission. */
import { groupResourceName } from '../kernel/group-resource.ts';
import { formatQuantity } from '../kernel/quantity.ts';
import {
  addLists,
  exceededKeys,
  maskList,
  negativeKeys,
  type ResourceList,
  resourceEntries,
  subtractListsToZero,
  withoutZeros,
} from '../kernel/resource-list.ts';
import { podConstraints } from './constraints.ts';
import type { CountedObject, Evaluator, UsageContext } from './evaluator.ts';
import type { Pod } from './pod.ts';
import { type QuotaScopes, requirementsOf } from './scopes.ts';

/** A quota as admission uses it: the limits are those of its status, not of its spec. */
export interface AdmittingQuota {
  readonly name: string;
  readonly spec?: QuotaScopes | undefined;
  readonly status?: { readonly hard?: ResourceList | undefined; readonly used?: ResourceList | undefined } | undefined;
}

export type Admission =
  /** `used` is the quota's usage including the object. */
  | { readonly allowed: true; readonly used: ResourceList }
  /** The message is admission's own, after `… is forbidden: `. */
  | { readonly allowed: false; readonly message: string };

/** `cpu=2,memory=1Gi` */
function printed(list: ResourceList): string {
  return resourceEntries(list)
    .map(([name, amount]) => `${name}=${formatQuantity(amount)}`)
    .join(',');
}

function denied(message: string): Admission {
  return { allowed: false, message };
}

/**
 * Whether the quota admits the object. An object that the quota does not count, or that adds nothing to it, is always
 * admitted.
 *
 * @param before for an update, the object before: only the difference is charged.
 */
export function admit(
  quota: AdmittingQuota,
  object: CountedObject,
  evaluator: Evaluator,
  context: UsageContext,
  before?: CountedObject,
): Admission {
  const { hard = {}, used = {} } = quota.status ?? {};
  const requirements = requirementsOf(quota.spec ?? {});
  const inScopes = (counted: CountedObject) => requirements.every((scope) => evaluator.matchesScope(scope, counted));
  const counted = evaluator.matchingResources(Object.keys(hard), context);
  if (counted.length === 0 || !inScopes(object)) {
    return { allowed: true, used };
  }
  const open = groupResourceName(evaluator.resource) === 'pods' ? podConstraints(counted, object as Pod) : null;
  if (open !== null) {
    return denied(`failed quota: ${quota.name}: ${open}`);
  }
  if (counted.some((name) => !Object.hasOwn(used, name))) {
    return denied(`status unknown for quota: ${quota.name}, resources: ${counted.toSorted().join(',')}`);
  }
  const usage = evaluator.usage(object, context);
  const negative = negativeKeys(usage);
  if (negative.length > 0) {
    return denied(`quota usage is negative for resource(s): ${negative.join(',')}`);
  }
  const isMore = before !== undefined && inScopes(before);
  const delta = isMore ? subtractListsToZero(usage, evaluator.usage(before, context)) : usage;
  const requested = maskList(withoutZeros(delta), Object.keys(hard));
  const after = addLists(used, requested);
  const exceeded = exceededKeys(maskList(after, Object.keys(requested)), hard);
  if (exceeded.length === 0) {
    return { allowed: true, used: after };
  }
  const [asked, usedText, limited] = [requested, used, hard].map((list) => printed(maskList(list, exceeded)));
  return denied(`exceeded quota: ${quota.name}, requested: ${asked}, used: ${usedText}, limited: ${limited}`);
}

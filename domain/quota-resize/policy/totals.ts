/** The totals of a guardrail: how much of them the other quotas leave for one quota. */
import { addQuantities, formatQuantity, maxQuantity, parseQuantity, type Quantity } from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import type { EpochMs } from '../../kernel/time.ts';
import { resourceFamily } from './annotations.ts';
import type { GuardrailInForce } from './guardrail.ts';
import type { LimitChange } from '../model/decision.ts';
import type { UnattendedLimit } from './unattended-limit.ts';

/** A quota that counts towards the totals. */
export interface CountedQuota {
  readonly namespace: string;
  readonly quota: string;
  /** The limits in force. */
  readonly hard: ResourceList;
}

/** The limits that a decision gives to a quota once it is merged. */
export interface DecidedRaise extends Pick<CountedQuota, 'namespace' | 'quota'> {
  readonly decision: string;
  readonly decidedAt: EpochMs;
  /** Whether Git has them, and only the cluster may not show them yet. */
  readonly isMerged: boolean;
  readonly limits: ResourceList;
}

/** A quota to be raised, with the decision that raises it if there is one. */
interface RaisedQuota extends CountedQuota {
  readonly decision: {
    readonly id: string;
    readonly decidedAt: EpochMs;
    readonly grownAt?: EpochMs | undefined;
  } | null;
}

/**
 * What the totals leave for each limit of the quota. What its own decision gives to other quotas counts, and all that is
 * merged. Of other decisions those count that were made before its own, or before its growth, and all of them while it
 * has none: of two that do not fit together, the later one waits for a person.
 *
 * @param quotas all quotas that the guardrail holds for. @param decided all decisions that the cluster may not show yet.
 */
export function totalLimits(
  { name, totals }: Pick<GuardrailInForce, 'name' | 'totals'>,
  own: RaisedQuota,
  quotas: readonly CountedQuota[],
  decided: readonly DecidedRaise[],
): readonly UnattendedLimit[] {
  const counted = decided.filter((raise) => !isSame(raise, own) && counts(raise, own.decision));
  const others = quotas.filter((quota) => !isSame(quota, own));
  return Object.keys(own.hard).flatMap((resource): readonly UnattendedLimit[] => {
    const total = [resource, resourceFamily(resource)].map((key) => (key === undefined ? undefined : totals[key]));
    const most = total.find((value) => value !== undefined);
    if (most === undefined) return [];
    const sum = others
      .map((other) => limitOf(other, resource, counted))
      .reduce<Quantity>(addQuantities, parseQuantity('0'));
    const { nano, format } = parseQuantity(most);
    const left = formatQuantity({ nano: nano > sum.nano ? nano - sum.nano : 0n, format });
    const why = `what guardrail ${name} leaves of its total of ${quantityText(resource, most)} for all its namespaces`;
    return [{ resource, limit: left, why, isShared: true }];
  });
}

function limitOf(quota: CountedQuota, resource: string, decided: readonly DecidedRaise[]): Quantity {
  return decided
    .filter((raise) => isSame(raise, quota))
    .map(({ limits }) => quantityIn(limits, resource))
    .reduce(maxQuantity, quantityIn(quota.hard, resource));
}

function isSame(a: Pick<CountedQuota, 'namespace' | 'quota'>, b: Pick<CountedQuota, 'namespace' | 'quota'>): boolean {
  return a.namespace === b.namespace && a.quota === b.quota;
}

/**
 * Whether a raise of another quota counts for a decision. Decisions between the start and the growth of a decision were
 * checked with less of it than it has now, and one of them may have been merged without its Lease showing that yet.
 */
function counts({ decision, decidedAt, isMerged }: DecidedRaise, own: RaisedQuota['decision']): boolean {
  if (own === null || isMerged || decision === own.id) return true;
  if (own.grownAt !== undefined && decidedAt <= own.grownAt) return true;
  return decidedAt === own.decidedAt ? decision < own.id : decidedAt < own.decidedAt;
}

/**
 * The policy of a quota whose decision raises other quotas too: what it gives to them is not left of the totals.
 *
 * @param given the raises of the other quotas that the totals in the policy were counted without.
 */
export function withoutGiven<P extends { readonly unattended?: readonly UnattendedLimit[] }>(
  policy: P,
  given: readonly Pick<LimitChange, 'resource' | 'from' | 'to'>[],
): P {
  if (policy.unattended === undefined) return policy;
  const unattended = policy.unattended.map((limit): UnattendedLimit => {
    if (limit.isShared !== true) return limit;
    const amounts = given
      .filter(({ resource }) => resource === limit.resource)
      .map(({ from, to }) => parseQuantity(to).nano - parseQuantity(from).nano)
      .filter((amount) => amount > 0n);
    const { nano, format } = parseQuantity(limit.limit);
    const left = amounts.reduce((rest, amount) => rest - amount, nano);
    return { ...limit, limit: formatQuantity({ nano: left > 0n ? left : 0n, format }) };
  });
  return { ...policy, unattended };
}

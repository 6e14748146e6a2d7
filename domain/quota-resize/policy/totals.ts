/** The totals of a guardrail: how much of them the other quotas leave for one quota. */
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  isQuantity,
  parseQuantity,
  type Quantity,
  quantityOrNull,
} from '../../kernel/quantity.ts';
import { quantityText } from '../../kernel/quantity-text.ts';
import { quantityIn, type ResourceList } from '../../kernel/resource-list.ts';
import { truncate } from '../../kernel/sentence.ts';
import { targetName } from '../../kernel/target.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { GuardrailInForce } from './guardrail.ts';
import type { LimitChange } from '../model/decision.ts';
import type { PolicyWarning } from './policy.ts';
import { amountIn, bounds, sharing, sumOf, sumsOf, totalOf } from './summed-keys.ts';
import type { UnattendedLimit, UnreadableAmount } from './unattended-limit.ts';

/** A quota that counts towards the totals. */
export interface CountedQuota {
  readonly namespace: string;
  readonly quota: string;
  /** The limits in force, as they are written. */
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
 * What the totals leave for each limit of the quota, in each sum that it belongs to. What its own decision gives to other quotas counts, and all that is
 * merged. Of other decisions those count that were made before its own, or before its growth, and all of them while it
 * has none: of two that do not fit together, the later one waits for a person.
 *
 * @param own with the limits that can be read. @param quotas all quotas that the guardrail holds for, as they are written.
 * @param decided all decisions that the cluster may not show yet.
 */
export function totalLimits(
  { name, totals }: Pick<GuardrailInForce, 'name' | 'totals'>,
  own: RaisedQuota,
  quotas: readonly CountedQuota[],
  decided: readonly DecidedRaise[],
): readonly UnattendedLimit[] {
  const counted = decided.filter((raise) => !isSame(raise, own) && counts(raise, own.decision));
  const others = quotas.filter((quota) => !isSame(quota, own));
  const written = quotas.find((quota) => isSame(quota, own))?.hard ?? {};
  const unread = Object.fromEntries(Object.entries(written).filter(([, text]) => !isQuantity(text)));
  return Object.keys(own.hard).flatMap((resource) =>
    sumsOf(resource).flatMap((sum): readonly UnattendedLimit[] => {
      const most = totalOf(totals, sum);
      if (most === undefined || !bounds(own.hard, sum, resource)) return [];
      const why = `what guardrail ${name} leaves of its total of ${quantityText(sum, most)} for all its namespaces`;
      const amounts = others.map((other) => amountOf(other, sum, counted));
      const ofOwn = amountOf({ ...own, hard: { ...unread, ...own.hard } }, sum, []);
      const shared = sharing(own.hard, sum, resource);
      const total = { resource, sum, isShared: true, ...(shared.length === 0 ? {} : { sharedWith: shared }) };
      const { nano, format } = parseQuantity(most);
      const unreadable = [ofOwn, ...amounts].find((amount) => 'value' in amount);
      if (unreadable !== undefined) {
        const limit = formatQuantity({ nano: 0n, format });
        const unbounded = `${writtenAmount(unreadable)} cannot be read and counts as unbounded`;
        return [{ ...total, limit, why: `${why}, as ${unbounded}`, unreadable }];
      }
      const ofShared = shared.map((key) => quantityIn(own.hard, key));
      const taken = [...amounts.filter((amount) => 'nano' in amount), ...ofShared].reduce(
        addQuantities,
        parseQuantity('0'),
      );
      const left = formatQuantity({ nano: nano > taken.nano ? nano - taken.nano : 0n, format });
      return [{ ...total, limit: left, why }];
    }),
  );
}

/** How much of a sum a quota has, with what decisions give to it; what cannot be read is more than anything. */
function amountOf(
  { namespace, quota, hard }: CountedQuota,
  sum: string,
  decided: readonly DecidedRaise[],
): Quantity | UnreadableAmount {
  const limits: Record<string, string> = { ...hard };
  for (const raise of decided.filter((one) => isSame(one, { namespace, quota }))) {
    for (const [key, text] of Object.entries(raise.limits)) limits[key] = greaterText(limits[key], text);
  }
  const amount = amountIn(limits, sum);
  if (!('unreadable' in amount)) return amount;
  const { unreadable: resource } = amount;
  return { namespace, quota, resource, value: limits[resource] ?? '' };
}

function greaterText(before: string | undefined, after: string): string {
  if (before === undefined) return after;
  const [a, b] = [quantityOrNull(before), quantityOrNull(after)];
  return a === null || (b !== null && compareQuantities(a, b) >= 0) ? before : after;
}

/** The longest amount that is quoted. */
const SHOWN_CHARACTERS = 40;

/** `requests.cpu "1e1002" of quota team-b/compute` */
function writtenAmount({ namespace, quota, resource, value }: UnreadableAmount): string {
  return `${resource} "${truncate(value, SHOWN_CHARACTERS)}" of quota ${targetName({ namespace, quota })}`;
}

/** The warnings about amounts that cannot be read, each named once. */
export function unreadableWarnings(limits: readonly UnattendedLimit[]): readonly PolicyWarning[] {
  const warnings = limits.flatMap(({ unreadable }): readonly PolicyWarning[] => {
    if (unreadable === undefined) return [];
    const what = writtenAmount(unreadable);
    const wanted = 'an amount that is meant';
    const message = `${what} cannot be read and counts as unbounded, so nothing is left of a total of the guardrail; write ${wanted}`;
    return [{ key: what, value: truncate(unreadable.value, SHOWN_CHARACTERS), layer: 'quota', wanted, message }];
  });
  return [...new Map(warnings.map((warning) => [warning.message, warning])).values()];
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

/** What a decision gives to a quota that has these limits. */
export interface GivenRaise {
  readonly hard: ResourceList;
  readonly changes: readonly Pick<LimitChange, 'resource' | 'from' | 'to'>[];
}

/**
 * The policy of a quota whose decision raises other quotas too: what it gives to them is not left of the totals.
 *
 * @param given the raises of the other quotas that the totals in the policy were counted without.
 */
export function withoutGiven<P extends { readonly unattended?: readonly UnattendedLimit[] }>(
  policy: P,
  given: readonly GivenRaise[],
): P {
  if (policy.unattended === undefined) return policy;
  const unattended = policy.unattended.map((limit): UnattendedLimit => {
    if (limit.isShared !== true) return limit;
    const { sum = sumOf(limit.resource) } = limit;
    const { nano, format } = parseQuantity(limit.limit);
    const left = given.map((raise) => amountGiven(raise, sum)).reduce((rest, amount) => rest - amount, nano);
    return { ...limit, limit: formatQuantity({ nano: left > 0n ? left : 0n, format }) };
  });
  return { ...policy, unattended };
}

/** By how much a raise makes a sum greater, in nano; the limits of a raise can be read. */
function amountGiven({ hard, changes }: GivenRaise, sum: string): bigint {
  const withLimits = (side: 'from' | 'to'): Quantity | { readonly unreadable: string } =>
    amountIn({ ...hard, ...Object.fromEntries(changes.map((change) => [change.resource, change[side]])) }, sum);
  const [before, after] = [withLimits('from'), withLimits('to')];
  if ('unreadable' in before || 'unreadable' in after) return 0n;
  return after.nano > before.nano ? after.nano - before.nano : 0n;
}

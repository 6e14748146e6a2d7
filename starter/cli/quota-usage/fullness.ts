/** How full the limits of a quota are. */
import type { V1ResourceQuota } from '@kubernetes/client-node';
import { percentOf } from '../../../domain/kernel/percent.ts';
import { isSameAmount, isZero, quantityOrNull } from '../../../domain/kernel/quantity.ts';

/** One limit of a quota. Amounts are quantities as Kubernetes writes them. */
export interface ResourceUsage {
  readonly resource: string;
  /** What the quota's status says; null while nothing was counted. */
  readonly used: string | null;
  readonly hard: string;
  /**
   * used ÷ hard in percent with two decimals, rounded down; null of a limit of 0, of what cannot be read (1e1002), and
   * while nothing was counted.
   */
  readonly percent: number | null;
  /** The limit that admission uses if it is not `hard`, because the status has not followed the spec yet. */
  readonly enforced: string | null;
}

export interface QuotaUsage {
  readonly namespace: string;
  readonly quota: string;
  /** What limits the quota to some objects: `BestEffort`, `PriorityClass In (high, low)`. */
  readonly scopes: readonly string[];
  /** The fullest first. */
  readonly resources: readonly ResourceUsage[];
}

/** The usage of a quota as its own status tells it. */
export function quotaUsage({ metadata, spec, status }: V1ResourceQuota): QuotaUsage {
  const { used = {}, hard: enforced = {} } = status ?? {};
  const resources = Object.entries(spec?.hard ?? {}).map(([resource, hard]): ResourceUsage => {
    const counted = used[resource] ?? null;
    const stale = enforced[resource];
    const differs = stale !== undefined && !isSameAmount(stale, hard);
    return {
      resource,
      used: counted,
      hard,
      percent: counted === null ? null : percentIn(counted, hard),
      enforced: differs ? stale : null,
    };
  });
  return {
    namespace: metadata?.namespace ?? '',
    quota: metadata?.name ?? '',
    scopes: [
      ...(spec?.scopes ?? []),
      ...(spec?.scopeSelector?.matchExpressions ?? []).map(({ scopeName, operator, values = [] }) =>
        values.length === 0 ? `${scopeName} ${operator}` : `${scopeName} ${operator} (${values.join(', ')})`,
      ),
    ],
    resources: resources.toSorted(byFullness),
  };
}

/** An amount of another in percent, two decimals; null of 0, and of what cannot be read. */
function percentIn(amount: string, whole: string): number | null {
  const [part, of] = [quantityOrNull(amount), quantityOrNull(whole)];
  const percent = part === null || of === null ? null : percentOf(part, of, 2);
  return percent === null ? null : Number(percent);
}

/** The fullest first; then by name. */
function byFullness(a: ResourceUsage, b: ResourceUsage): number {
  return fullness(b) - fullness(a) || (a.resource < b.resource ? -1 : 1);
}

const UNCOUNTED = -2;
const UNUSED_ZERO = -1;

/** Percent; what is used of a limit of 0 is beyond every other, and a limit of 0 that nothing uses is no trouble. */
export function fullness({ used, hard, percent }: ResourceUsage): number {
  const [part, of] = [quantityOrNull(used ?? ''), quantityOrNull(hard)];
  if (part === null || of === null) return UNCOUNTED;
  return percent ?? (isZero(part) ? UNUSED_ZERO : Number.POSITIVE_INFINITY);
}

/** How full the limits of a quota are. */
import { percentOf } from './percent.ts';
import { isSameAmount, isZero, type Quantity, quantityOrNull } from './quantity.ts';
import type { ResourceList } from './resource-list.ts';

/** The fields of a ResourceQuota that are used, in the shape of Kubernetes' JSON. */
export interface QuotaObject {
  readonly metadata?: { readonly namespace?: string | undefined; readonly name?: string | undefined } | undefined;
  readonly spec?:
    | {
        readonly hard?: ResourceList | undefined;
        readonly scopes?: readonly string[] | undefined;
        readonly scopeSelector?:
          | {
              readonly matchExpressions?:
                | readonly {
                    readonly scopeName: string;
                    readonly operator: string;
                    readonly values?: readonly string[] | undefined;
                  }[]
                | undefined;
            }
          | undefined;
      }
    | undefined;
  readonly status?: { readonly used?: ResourceList | undefined; readonly hard?: ResourceList | undefined } | undefined;
}

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

export interface QuotaFullness {
  readonly namespace: string;
  readonly quota: string;
  /** What limits the quota to some objects: `BestEffort`, `PriorityClass In (high, low)`. */
  readonly scopes: readonly string[];
  /** The fullest first. */
  readonly resources: readonly ResourceUsage[];
}

/** The usage of a quota as its own status tells it. */
export function quotaFullness({ metadata, spec, status }: QuotaObject): QuotaFullness {
  const { used = {}, hard: enforced = {} } = status ?? {};
  const resources = Object.entries(spec?.hard ?? {}).map(([resource, hard]) => {
    const counted = used[resource] ?? null;
    const stale = enforced[resource];
    const differs = stale !== undefined && stale !== hard && !isSameAmount(stale, hard);
    const amounts = { part: quantityOrNull(counted ?? ''), whole: quantityOrNull(hard) };
    const percent = counted === null ? null : percentIn(amounts);
    const usage: ResourceUsage = { resource, used: counted, hard, percent, enforced: differs ? stale : null };
    return { usage, fullness: fullnessOf(amounts, percent) };
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
    // The fullest first; then by name.
    resources: resources
      .toSorted((a, b) => b.fullness - a.fullness || (a.usage.resource < b.usage.resource ? -1 : 1))
      .map(({ usage }) => usage),
  };
}

/** What is used, and the limit; null where it cannot be read. */
interface Amounts {
  readonly part: Quantity | null;
  readonly whole: Quantity | null;
}

/** An amount of another in percent, two decimals; null of 0, and of what cannot be read. */
function percentIn({ part, whole }: Amounts): number | null {
  const percent = part === null || whole === null ? null : percentOf(part, whole, 2);
  return percent === null ? null : Number(percent);
}

const UNCOUNTED = -2;
const UNUSED_ZERO = -1;

/** Percent; what is used of a limit of 0 is beyond every other, and a limit of 0 that nothing uses is no trouble. */
export function fullness({ used, hard, percent }: ResourceUsage): number {
  return fullnessOf({ part: quantityOrNull(used ?? ''), whole: quantityOrNull(hard) }, percent);
}

function fullnessOf({ part, whole }: Amounts, percent: number | null): number {
  if (part === null || whole === null) return UNCOUNTED;
  return percent ?? (isZero(part) ? UNUSED_ZERO : Number.POSITIVE_INFINITY);
}

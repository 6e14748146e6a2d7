import { type AuditMemory, auditQuota, emptyAudit } from '../../domain/quota-usage/audit.ts';
import type { StaleValue } from '../../domain/quota-usage/observation.ts';
import type { UsageCount } from '../../domain/quota-usage/calculate.ts';
import type { CachedQuota, UsagePolicy } from '../../domain/quota-usage/observation.ts';

/**
 * Values are remembered for this multiple of the audit's delay, to distinguish a very late controller from a wrong
 * status.
 */
const REMEMBERED_FOR = 10;

export interface WrongQuota {
  readonly namespace: string;
  readonly quota: string;
  readonly resources: number;
}

/** The recent counts and statuses of every quota. */
export class AuditRegistry {
  readonly #policy: UsagePolicy;
  readonly #quotas = new Map<string, { readonly quota: CachedQuota; readonly memory: AuditMemory }>();

  constructor(policy: UsagePolicy) {
    this.#policy = policy;
  }

  /** Adds a count and returns the stale values by it. */
  add(quota: CachedQuota, count: UsageCount): readonly StaleValue[] {
    const { auditAfterMs } = this.#policy;
    const before = this.#quotas.get(keyOf(quota));
    const memory = auditQuota(before?.quota.uid === quota.uid ? before.memory : emptyAudit, quota, {
      counted: count.used,
      now: performance.now(),
      keepMs: REMEMBERED_FOR * auditAfterMs,
    });
    this.#quotas.set(keyOf(quota), { quota, memory });
    return memory.staleValues;
  }

  forget(quota: CachedQuota): void {
    this.#quotas.delete(keyOf(quota));
  }

  /** Quotas with a stale value older than the audit's delay. */
  wrong(): readonly WrongQuota[] {
    const now = performance.now();
    return [...this.#quotas.values()].flatMap(({ quota: { namespace, name }, memory }) => {
      const resources = memory.staleValues.filter(({ since }) => now - since >= this.#policy.auditAfterMs).length;
      return resources === 0 ? [] : [{ namespace, quota: name, resources }];
    });
  }
}

function keyOf({ namespace, name }: CachedQuota): string {
  return `${namespace}/${name}`;
}

import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { createGlobalPauseGuard } from '../kernel/global-pause.ts';
import { ensureQuotaEvent } from '../kernel/quota-event.ts';
import type { Kubernetes } from '../ports/kubernetes.ts';
import { statusCode, withKubernetesFailures } from '../ports/kubernetes-failure.ts';
import type { QuotaUsageActivities, UsageStatusOutcome, UsageStatusWrite } from './interface.ts';

export interface QuotaUsageOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly log: Pick<Logger, 'info'>;
}

/** Who wrote the status, in the quota's managed fields. */
const FIELD_MANAGER = 'headroom';

export function createQuotaUsageActivities(options: QuotaUsageOptions): QuotaUsageActivities {
  const guard = createGlobalPauseGuard(options);
  return {
    ensureUsageStatus: withKubernetesFailures(async (write) => {
      await guard(write.target);
      return await ensureUsageStatus(options, write);
    }),
    ensureUsageEvent: withKubernetesFailures(async (event) => {
      await guard(event.target);
      await ensureQuotaEvent(options, event);
    }),
  };
}

/**
 * A merge patch of the status alone, bound to the version that was counted for: a whole object would take away labels that
 * were set meanwhile, since the status of a quota may carry metadata.
 */
async function ensureUsageStatus(
  { kubernetes }: QuotaUsageOptions,
  { target, quotaUid, resourceVersion, hard, used, without }: UsageStatusWrite,
): Promise<UsageStatusOutcome> {
  const { namespace, quota: name } = target;
  const body = {
    metadata: { uid: quotaUid, resourceVersion },
    status: { hard: { ...hard, ...nulls(without.hard) }, used: { ...used, ...nulls(without.used) } },
  };
  try {
    const written = await kubernetes.core.patchNamespacedResourceQuotaStatus(
      { name, namespace, body, fieldManager: FIELD_MANAGER },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    return { kind: 'written', resourceVersion: written.metadata?.resourceVersion ?? resourceVersion };
  } catch (error) {
    // Also when this very write was made by an attempt whose answer was lost: the next look finds the status true.
    if (statusCode(error) === 409) return { kind: 'conflict' };
    if (statusCode(error) === 404) return { kind: 'gone' };
    throw error;
  }
}

/** In a merge patch, null takes a key away. */
function nulls(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

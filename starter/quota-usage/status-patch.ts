import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { statusCode } from '../../activities/kubernetes/failure.ts';
import type { Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { CachedQuota } from '../../domain/quota-usage/observation.ts';
import type { DesiredStatus } from '../../domain/quota-usage/status.ts';

/** The field manager of the status in the quota's managed fields. */
const FIELD_MANAGER = 'headroom';

/**
 * A merge patch of the status alone, bound to the version that was counted for: replacing the whole object would remove
 * labels that were set meanwhile, because a quota's status update may carry metadata.
 */
export async function patchStatus(
  { core }: Pick<Kubernetes, 'core'>,
  { namespace, name, uid, resourceVersion }: Pick<CachedQuota, 'namespace' | 'name' | 'uid' | 'resourceVersion'>,
  { hard, used, without }: Pick<DesiredStatus, 'hard' | 'used' | 'without'>,
): Promise<{ readonly resourceVersion: string } | 'conflict' | 'gone'> {
  const body = {
    metadata: { uid, resourceVersion },
    status: { hard: { ...hard, ...nulls(without.hard) }, used: { ...used, ...nulls(without.used) } },
  };
  try {
    const written = await core.patchNamespacedResourceQuotaStatus(
      { name, namespace, body, fieldManager: FIELD_MANAGER },
      setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
    );
    return { resourceVersion: written.metadata?.resourceVersion ?? resourceVersion };
  } catch (error) {
    if (statusCode(error) === 409) return 'conflict';
    if (statusCode(error) === 404) return 'gone';
    throw error;
  }
}

/** In a merge patch, null takes a key away. */
function nulls(keys: readonly string[]): Readonly<Record<string, null>> {
  return Object.fromEntries(keys.map((key) => [key, null]));
}

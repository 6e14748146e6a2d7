import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { failure } from './failure.ts';
import { orNull, withKubernetesFailures } from '../kubernetes/failure.ts';

/** The ConfigMap in Headroom's own namespace that stops every write of Headroom in the cluster. */
const PAUSE_CONFIG_MAP = 'headroom-pause';

export interface GlobalPauseOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
}

/**
 * Who paused Headroom in this cluster and why, or null when it is not paused.
 *
 * It is paused while the ConfigMap `headroom-pause` exists, unless its key `paused` is "false": creating it, even empty,
 * is the fastest stop. The keys `by` and `reason` are shown to whoever asks why nothing moves.
 */
export async function readGlobalPause({
  kubernetes,
  systemNamespace,
}: GlobalPauseOptions): Promise<{ readonly by: string; readonly reason: string } | null> {
  const found = await orNull(
    kubernetes.core.readNamespacedConfigMap({ name: PAUSE_CONFIG_MAP, namespace: systemNamespace }),
  );
  if (found === null || found.data?.['paused']?.trim().toLowerCase() === 'false') return null;
  return { by: found.data?.['by'] ?? 'unknown', reason: found.data?.['reason'] ?? '' };
}

/** `Headroom is paused in this cluster by alice: incident 42 (ConfigMap system/headroom-pause)`. */
export function pauseSentence(
  { by, reason }: { readonly by: string; readonly reason: string },
  { systemNamespace }: Pick<GlobalPauseOptions, 'systemNamespace'>,
): string {
  const why = reason === '' ? '' : `: ${reason}`;
  return `Headroom is paused in this cluster by ${by}${why} (ConfigMap ${systemNamespace}/${PAUSE_CONFIG_MAP})`;
}

/**
 * The check that every `ensure…` makes before it writes. When it cannot be made, nothing is written either.
 *
 * @returns a function that throws `GloballyPaused` (not retried) while the cluster is paused; it takes a quota, or words for
 * what nothing is written for.
 */
export function createGlobalPauseGuard(options: GlobalPauseOptions): (target: QuotaTarget | string) => Promise<void> {
  return withKubernetesFailures(async (target: QuotaTarget | string) => {
    const pause = await readGlobalPause(options);
    if (pause === null) return;
    const name = typeof target === 'string' ? target : targetName(target);
    throw failure({
      type: 'GloballyPaused',
      nonRetryable: true,
      message: `nothing is written for ${name}: ${pauseSentence(pause, options)}`,
    });
  });
}

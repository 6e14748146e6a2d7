import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { isSynced } from '../../../domain/quota-resize/decide/merged.ts';
import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { readQuota } from './observe-quota.ts';
import { hardOf } from './policy-of-quota.ts';

/**
 * Returns when spec.hard is at least `limits`, by value, or when the quota is gone or replaced.
 *
 * @throws ApplicationFailure `NotYet` until then.
 */
export async function awaitSync(
  { kubernetes, pace }: { readonly kubernetes: Kubernetes; readonly pace: PollPace },
  {
    target,
    quotaUid,
    limits,
  }: { readonly target: QuotaTarget; readonly quotaUid: string; readonly limits: ResourceList },
): Promise<void> {
  const quota = await readQuota(kubernetes, target);
  if (quota === null || quota.metadata?.uid !== quotaUid) return;
  const hard = hardOf(quota);
  if (isSynced(hard, limits)) return;
  const wanted = Object.entries(limits).map(
    ([resource, limit]) => `${resource} ${hard[resource] ?? 'absent'}, ${limit} wanted`,
  );
  throw notYet(`${targetName(target)} has not followed Git yet: ${wanted.join('; ')}`, pace);
}

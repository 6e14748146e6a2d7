import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { type QuotaTarget, targetName } from '../../../domain/kernel/target.ts';
import { hasFollowed, isSynced } from '../../../domain/quota-resize/decide/merged.ts';
import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { currentAttempt, notLaterThanNow } from '../../kernel/attempt.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { takeTurn } from '../../kernel/turns.ts';
import type { QuotaResizeActivities } from '../interface.ts';
import { observeAfterwards } from './observe-afterwards.ts';
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

/** Observes the quota of a merged decision, and records a sync where there is nothing to decide about it. */
export function syncRecorder({
  observe,
  record,
  log,
}: {
  readonly observe: Parameters<typeof observeAfterwards>[1];
  readonly record: (input: SyncInput) => Promise<void>;
  readonly log: Parameters<typeof observeAfterwards>[2];
}): QuotaResizeActivities['ensureSyncRecorded'] {
  return async ({ target, decision, at }) => {
    await takeTurn();
    const observation = await observe(target);
    // Another attempt may have recorded it.
    if (currentAttempt() > 1 || !hasFollowed(observation, decision)) return { observation, recordedAt: null };
    // It may have waited for its turn: a denial of meanwhile is older than the sync.
    const recordedAt = Math.max(at, notLaterThanNow() ?? at);
    await record({ target, decision, at: recordedAt });
    return { ...(await observeAfterwards({ target, observes: true }, observe, log)), recordedAt };
  };
}

type SyncInput = Parameters<QuotaResizeActivities['ensureSyncRecorded']>[0];

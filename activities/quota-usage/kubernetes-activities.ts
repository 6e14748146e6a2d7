import type { Logger } from 'pino';
import { equalLists, type ResourceList } from '../../domain/kernel/resource-list.ts';
import { rebase } from '../../domain/quota-usage/rebase.ts';
import { currentAttempt } from '../kernel/attempt.ts';
import { createQuotaPauseGuard, type PauseOptions } from '../kernel/pause.ts';
import { ensureQuotaEvent } from '../kernel/quota-event.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull, withKubernetesFailures } from '../kubernetes/failure.ts';
import type { QuotaUsageActivities, UsageStatusOutcome, UsageStatusWrite } from './interface.ts';
import { patchStatus } from './status-patch.ts';

export interface QuotaUsageOptions {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly log: Pick<Logger, 'info'>;
}

export function createQuotaUsageActivities(options: QuotaUsageOptions): QuotaUsageActivities {
  const guard = createQuotaPauseGuard(options, 'quota-usage');
  return {
    ensureUsageStatus: withKubernetesFailures(async (write) => {
      return await ensureUsageStatus(options, guard, write);
    }),
    ensureUsageEvent: withKubernetesFailures(async (event) => {
      await guard(event.target);
      await ensureQuotaEvent(options, event);
    }),
  };
}

/**
 * How often a write is rebased on a newer status before the usage is counted again. Where objects are created all the
 * time, admission changes the quota more often than an episode counts and writes; without rebasing the status would
 * never fall then.
 */
const REBASES = 5;

/**
 * An older count, in milliseconds, is not rebased: after a reset of a run to between its count and its write, a write
 * that was already made would be added again. A first attempt follows its count within a second. If a starter's clock
 * is off by more than this, that costs another count but gives no wrong number.
 */
const MAX_COUNT_AGE_MS = 10_000;

async function ensureUsageStatus(
  { kubernetes }: QuotaUsageOptions,
  guard: ReturnType<typeof createQuotaPauseGuard>,
  write: UsageStatusWrite,
): Promise<UsageStatusOutcome> {
  const { namespace, quota: name } = write.target;
  let { resourceVersion, used, without } = write;
  for (let rebases = 0; ; rebases += 1) {
    await guard(write.target);
    const quota = { namespace, name, uid: write.quotaUid, resourceVersion };
    const outcome = await patchStatus(kubernetes, quota, { hard: write.hard, used, without });
    if (outcome !== 'conflict') {
      return outcome === 'gone'
        ? { kind: 'gone' }
        : { kind: 'written', resourceVersion: outcome.resourceVersion, isRebased: rebases > 0 };
    }
    // The conflict may come from this very write, by an attempt whose response was lost, with later charges on top.
    const mayBeRepeated = currentAttempt() > 1 || Date.now() - write.countedAt > MAX_COUNT_AGE_MS;
    if (rebases === REBASES || mayBeRepeated) return { kind: 'conflict' };
    const now = await orNull(kubernetes.core.readNamespacedResourceQuota({ name, namespace }));
    if (now === null) return { kind: 'gone' };
    const { metadata, spec, status } = now;
    const isSame = metadata?.uid === write.quotaUid && equalLists(spec?.hard ?? {}, write.hard);
    const present = status?.used ?? {};
    const rebased = isSame ? rebase(write.used, write.usedBefore, present) : null;
    if (rebased === null) return { kind: 'conflict' };
    resourceVersion = metadata?.resourceVersion ?? '';
    used = rebased;
    without = { hard: surplus(status?.hard, write.hard), used: surplus(present, used) };
  }
}

function surplus(present: ResourceList | undefined, wanted: ResourceList): readonly string[] {
  return Object.keys(present ?? {}).filter((key) => !Object.hasOwn(wanted, key));
}

import type { QuotaUsageActivities, UsageCacheActivities } from '../../../activities/quota-usage/interface.ts';
import type { UsagePhase, UsageVerdict } from '../../../domain/quota-usage/verdict.ts';
import { coverageOf } from '../coverage.ts';

const NO_FORGE = 'it has nothing to do with GitHub';

export const coverage = {
  quotaUsage: coverageOf<{
    verdict: UsageVerdict['kind'];
    phase: UsagePhase;
    activities: QuotaUsageActivities & UsageCacheActivities;
  }>()({
    decision: { file: 'domain/quota-usage/decide.ts', name: 'decide' },
    verdicts: {
      end: {},
      write: { ensureUsageStatus: { written: true, conflict: true, gone: true } },
      await: {},
      report: {},
    },
    failures: {
      GloballyPaused: true,
      Paused: true,
      PolicyChanged: 'nothing of it is written by a policy',
      ForgeRejected: NO_FORGE,
      InvalidInput: 'what cannot be counted is an answer, and not a failure',
    },
    phases: { Counting: true, Blocked: true, Late: true, Wrong: true, Paused: true, Ended: true },
    continuesAsNew: true,
  }),
};

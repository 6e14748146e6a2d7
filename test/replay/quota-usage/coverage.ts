import type { QuotaUsageActivities, UsageCacheActivities } from '../../../activities/quota-usage/interface.ts';
import type { UsagePhase, UsageVerdict } from '../../../domain/quota-usage/verdict.ts';
import type { RollUpPhase } from '../../../workflows/quota-usage/messages.ts';
import { coverageOf } from '../coverage.ts';

const PAUSED = 'it hears of a pause before it writes an Event';
const BY_STARTER = 'the starter writes it when it starts a run';
const WITHOUT_ACTIVITIES = 'it has no activities';
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
      await: {},
      report: {},
    },
    failures: {
      GloballyPaused: PAUSED,
      Paused: PAUSED,
      PolicyChanged: 'nothing of it is written by a policy',
      ForgeRejected: NO_FORGE,
      InvalidInput: 'what cannot be counted is an answer, and not a failure',
    },
    phases: { Counting: BY_STARTER, Blocked: true, Late: true, Wrong: true, Paused: true, Ended: true },
    continuesAsNew:
      'only after 2,000 events, or where a request comes while it ends (episode-runs.integration.test.ts)',
  }),
  quotaUsageRollUp: coverageOf<{ verdict: never; phase: RollUpPhase; activities: object }>()({
    decision: null,
    verdicts: {},
    failures: {
      GloballyPaused: WITHOUT_ACTIVITIES,
      Paused: WITHOUT_ACTIVITIES,
      PolicyChanged: WITHOUT_ACTIVITIES,
      ForgeRejected: WITHOUT_ACTIVITIES,
      InvalidInput: WITHOUT_ACTIVITIES,
    },
    phases: { Writing: BY_STARTER },
    continuesAsNew: 'only after a day with writes in each of its minutes',
  }),
};

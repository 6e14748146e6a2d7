import type { BudgetPhase } from '../../../domain/github-budget/summary.ts';
import { coverageOf } from '../coverage.ts';

const NO_ACTIVITIES = 'it has no activities';

export const coverage = {
  githubBudget: coverageOf<{ verdict: never; phase: BudgetPhase; activities: object }>()({
    decision: null,
    verdicts: {},
    failures: {
      GloballyPaused: NO_ACTIVITIES,
      Paused: NO_ACTIVITIES,
      PolicyChanged: NO_ACTIVITIES,
      ForgeRejected: NO_ACTIVITIES,
      InvalidInput: NO_ACTIVITIES,
    },
    phases: { Idle: true, Granting: true, Waiting: true, Limited: true, Paused: true },
    continuesAsNew: true,
  }),
};

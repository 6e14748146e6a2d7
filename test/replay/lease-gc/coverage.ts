import type { LeaseGcActivities } from '../../../activities/lease-gc/interface.ts';
import { coverageOf } from '../coverage.ts';

const RETRIED = 'a round has one activity, which is tried again until it succeeds';

export const coverage = {
  leaseGc: coverageOf<{ verdict: never; phase: 'Collecting' | 'Ended'; activities: LeaseGcActivities }>()({
    decision: null,
    verdicts: {},
    failures: {
      GloballyPaused: RETRIED,
      Paused: RETRIED,
      PolicyChanged: RETRIED,
      ForgeRejected: RETRIED,
      InvalidInput: RETRIED,
    },
    phases: { Collecting: true, Ended: true },
    continuesAsNew: 'a round is one activity',
  }),
};

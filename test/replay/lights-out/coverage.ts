import type { LightsOutActivities } from '../../../activities/lights-out/interface.ts';
import type { LightsOutObservation } from '../../../domain/lights-out/decide/observation.ts';
import type { LightsOutPhase, LightsOutVerdict } from '../../../domain/lights-out/decide/verdict.ts';
import { coverageOf } from '../coverage.ts';
import { attributesOf, failedActivities, payloadOf, type RecordedEvent } from '../histories.ts';

export const coverage = {
  lightsOut: coverageOf<{
    verdict: LightsOutVerdict['kind'];
    phase: LightsOutPhase;
    activities: LightsOutActivities;
  }>()({
    decision: { file: 'domain/lights-out/decide/decide.ts', name: 'decide' },
    verdicts: {
      end: {},
      approve: { ensureApproved: { approved: true, outdated: true } },
      finalizer: {},
      scale: {
        ensureScaled: {
          skipped: true,
          failed: true,
          unstarted: 'only of more than ten workloads at a time some wait for their turn',
        },
      },
      wait: {},
    },
    failures: {
      /** Workloads that are not ready in time. */
      NotYet: true,
      GloballyPaused: true,
      Paused: 'met only between an observation and its write, where GloballyPaused takes the same way',
      PolicyChanged: 'nothing of it is written by a policy',
      ForgeRejected: 'it has nothing to do with GitHub',
      InvalidInput: 'what is wrong about a schedule is an answer, and not a failure',
    },
    phases: {
      Starting: true,
      Up: true,
      Down: true,
      ScalingUp: true,
      ScalingDown: true,
      AwaitingApproval: true,
      DryRun: true,
      Suspended: true,
      Paused: true,
      Invalid: true,
      CleaningUp: true,
      Ended: true,
    },
    continuesAsNew: true,
    ways: {
      'a look that failed': (runs: readonly (readonly RecordedEvent[])[]) =>
        runs.some((events) => failedActivities(events).includes('observeSchedule' satisfies keyof LightsOutActivities)),
      'a schedule that was made anew under its name': (runs: readonly (readonly RecordedEvent[])[]) =>
        new Set(runs.flatMap(schedulesSeen)).size > 1,
    },
  }),
};

/** The UIDs of the schedules that a run looked at. */
function schedulesSeen(events: readonly RecordedEvent[]): string[] {
  return events.flatMap((event) => {
    const seen = payloadOf(attributesOf(event)['result']) as Partial<LightsOutObservation> | undefined;
    return seen?.schedule?.uid === undefined ? [] : [seen.schedule.uid];
  });
}

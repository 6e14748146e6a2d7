import { pauseSentence } from '../../domain/kernel/pause.ts';
import type { PollPace } from '../../domain/kernel/poll-pace.ts';
import { withKubernetesFailures } from '../kubernetes/failure.ts';
import type { PauseActivities } from './interface.ts';
import { notYet } from './not-yet.ts';
import { JUST_READ_MS, type PauseOptions, readPauses, writePause } from './pause.ts';

/** The process watches the pauses itself, so most attempts make no request. */
const PACE: PollPace = { first: 1_000, last: 15_000, ramp: 10 * 60_000 };

export function createPauseActivities(options: PauseOptions, pace: PollPace = PACE): PauseActivities {
  return {
    // What this process has read may be older than the change that is asked about.
    observePause: withKubernetesFailures(async ({ subject }) => (await readPauses(options, 0))(subject)),
    awaitResume: withKubernetesFailures(async ({ subject }) => {
      // During a pause the cached state suffices; the end of a pause is confirmed by a fresh read.
      const pause = (await readPauses(options))(subject) ?? (await readPauses(options, JUST_READ_MS))(subject);
      if (pause !== null) throw notYet(pauseSentence(pause), pace);
    }),
    ensurePauseKept: withKubernetesFailures(async ({ scope, pause }) => await writePause(options, scope, pause)),
  };
}

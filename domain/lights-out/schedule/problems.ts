/** What is wrong with a schedule whose fields are of the right types. Whoever reads a schedule asks the same: Kubernetes' own rules are in definition.ts. */
import { parseDuration } from '../../kernel/duration.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import { timingProblems } from './period.ts';
import type { RateLimit, ScheduleSpec } from './schedule.ts';
import { selectorProblems } from './selector.ts';

/** The longest spans that make sense: a batch that waits longer is not done by the next transition. */
export const LONGEST_WAIT = '24h';
/** Longer than any sleep between two transitions of a week. */
export const LONGEST_GRACE = '168h';

/** Where nothing would be selected. */
export const NO_NAMESPACES =
  'selects no namespace: expected names in namespaces, or a namespaceSelector (an empty one, {}, selects all)';

/** Everything that keeps a schedule from being followed; empty where it is fine. Never throws. */
export function scheduleProblems(spec: ScheduleSpec): readonly ScheduleProblem[] {
  const { upscaleRateLimit, downscaleRateLimit, priorities, namespaceSelector, excludeLabels } = spec;
  return [
    ...timingProblems(spec),
    ...namespaceProblems(spec),
    ...selectorProblems(namespaceSelector, 'spec.namespaceSelector'),
    ...selectorProblems(excludeLabels, 'spec.excludeLabels'),
    ...priorities.flatMap(({ selector }, index) => selectorProblems(selector, `spec.priorities[${index}].selector`)),
    ...rateLimitProblems('spec.upscaleRateLimit', upscaleRateLimit),
    ...rateLimitProblems('spec.downscaleRateLimit', downscaleRateLimit),
    ...durationProblems('spec.readinessTimeout', spec.readinessTimeout, LONGEST_WAIT),
    ...durationProblems('spec.newWorkloadGrace', spec.newWorkloadGrace, LONGEST_GRACE),
  ];
}

function namespaceProblems({ namespaces, namespaceSelector }: ScheduleSpec): readonly ScheduleProblem[] {
  return namespaces.length > 0 || namespaceSelector !== undefined ? [] : [{ field: 'spec', message: NO_NAMESPACES }];
}

function rateLimitProblems(field: string, limit: RateLimit | undefined): readonly ScheduleProblem[] {
  const delay = limit?.delayBetweenBatches;
  return delay === undefined ? [] : durationProblems(`${field}.delayBetweenBatches`, delay, LONGEST_WAIT);
}

function durationProblems(field: string, text: string, longest: string): readonly ScheduleProblem[] {
  try {
    if (parseDuration(text) <= parseDuration(longest)) return [];
    return [{ field, message: `"${text}" is too long: expected at most ${longest}` }];
  } catch (error) {
    return [{ field, message: `"${text}": ${error instanceof Error ? error.message : String(error)}` }];
  }
}

/**
 * Semantic validation of a schedule that matches the schema; used by every reader of schedules. The rules for
 * Kubernetes are in definition.ts.
 */
import { parseDuration } from '../../kernel/duration.ts';
import type { ScheduleProblem } from './schedule-problem.ts';
import { timingProblems } from './period.ts';
import type { RateLimit, ScheduleSpec } from './schedule.ts';
import { selectorProblems } from '../../kernel/label-selector.ts';

/**
 * The longest delay between batches that makes sense: with a longer one, scaling would not finish before the next
 * transition.
 */
export const LONGEST_WAIT = '24h';
/** Longer than any sleep in a weekly schedule. */
export const LONGEST_GRACE = '168h';
/** Nodes that stand ready for longer cost more than they are worth. */
export const LONGEST_PREWARM = '1h';

/** The problem of a schedule that selects nothing. */
export const NO_NAMESPACES =
  'selects no namespace: expected names in namespaces, or a namespaceSelector (an empty one, {}, selects all)';

/** The problem of a window with no count, or with two. */
export const WINDOW_COUNT = 'expected either replicas or percent: how much a window keeps';

/** Everything that makes a schedule invalid; empty when it is valid. Never throws. */
export function scheduleProblems(spec: ScheduleSpec): readonly ScheduleProblem[] {
  const { upscaleRateLimit, downscaleRateLimit, priorities, namespaceSelector, excludeLabels } = spec;
  return [
    ...timingProblems(spec),
    ...windowProblems(spec),
    ...namespaceProblems(spec),
    ...selectorProblems(namespaceSelector, 'spec.namespaceSelector'),
    ...selectorProblems(excludeLabels, 'spec.excludeLabels'),
    ...priorities.flatMap(({ selector }, index) => selectorProblems(selector, `spec.priorities[${index}].selector`)),
    ...rateLimitProblems('spec.upscaleRateLimit', upscaleRateLimit),
    ...rateLimitProblems('spec.downscaleRateLimit', downscaleRateLimit),
    ...durationProblems('spec.readinessTimeout', spec.readinessTimeout, LONGEST_WAIT),
    ...durationProblems('spec.newWorkloadGrace', spec.newWorkloadGrace, LONGEST_GRACE),
    ...durationProblems('spec.prewarm', spec.prewarm, LONGEST_PREWARM),
  ];
}

function namespaceProblems({ namespaces, namespaceSelector }: ScheduleSpec): readonly ScheduleProblem[] {
  return namespaces.length > 0 || namespaceSelector !== undefined ? [] : [{ field: 'spec', message: NO_NAMESPACES }];
}

function windowProblems({ windows }: ScheduleSpec): readonly ScheduleProblem[] {
  return windows.flatMap(({ replicas, percent }, index) =>
    (replicas === undefined) === (percent === undefined)
      ? [{ field: `spec.windows[${index}]`, message: WINDOW_COUNT }]
      : [],
  );
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

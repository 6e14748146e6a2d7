import { sentence } from '../../kernel/sentence.ts';
import { notYetEmitted } from './events.ts';
import type { LightsOutMemory } from './memory.ts';
import type { SeenSchedule } from './observation.ts';
import type { LightsOutVerdict } from './verdict.ts';

/** Adds what is wrong with the calendars: to the facts, as an Event, and to the condition Ready where nothing else fails. */
export function withCalendarProblems(
  verdict: LightsOutVerdict,
  { calendars }: Pick<SeenSchedule, 'calendars'>,
  memory: LightsOutMemory,
): LightsOutVerdict {
  const { digest = '', problems = [] } = calendars ?? {};
  if (problems.length === 0) return verdict;
  const { ready, facts, events } = verdict;
  const message = `${sentence(problems.join('; '))} The schedule goes by its patterns and by what can be read`;
  const warning = { type: 'Warning', reason: 'CalendarInvalid', message, key: `CalendarInvalid ${digest}` } as const;
  return {
    ...verdict,
    facts: [...facts, ...problems.map((problem) => `Calendar: ${problem}`)],
    ready: ready?.status === 'True' ? { status: 'False', reason: 'CalendarInvalid', message } : ready,
    events: [...events, ...notYetEmitted(memory, [warning])],
  };
}

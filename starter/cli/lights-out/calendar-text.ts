/** What exceptions and calendars change of schedules, in words, for a terminal. */
import type { EpochMs } from '../../../domain/kernel/time.ts';
import type { ChangedDays } from '../../../domain/lights-out/schedule/changed-days.ts';
import { formatMoment } from '../../../domain/lights-out/schedule/moment.ts';
import { columns } from '../columns.ts';
import { coloured, type Terminal } from '../terminal.ts';
import type { ScheduleReport } from './preview-report.ts';
import { DAY_LENGTH, hoursText, invalidLines, shareText, warningLines } from './preview-text.ts';

export function calendarText(reports: readonly ScheduleReport[], terminal: Terminal): string {
  return `${reports.map((report) => reportLines(report, terminal).join('\n')).join('\n\n')}\n`;
}

function reportLines(report: ScheduleReport, terminal: Terminal): readonly string[] {
  const { schedule, spec, preview, days } = report;
  if (spec === null || preview === null) return invalidLines(report, terminal);
  const { timezone: zone } = spec;
  const { from, until } = preview;
  const span = `${dayOf(from, zone)} to ${dayOf(until - 1, zone)}, ${zone}`;
  return [
    coloured(`${schedule}: ${span}`, 'bold', terminal),
    ...(days.length === 0 ? ['  no exception and no calendar has a day in that time'] : table(days, zone, terminal)),
    `  ${shareText(preview)}`,
    ...(preview.isCut
      ? ['  There are more changes of state than one preview counts: leave a part out with --next']
      : []),
    ...warningLines(report, terminal),
  ];
}

function table(days: readonly ChangedDays[], zone: string, terminal: Terminal): readonly string[] {
  const [heading = '', ...lines] = columns(
    [
      [{ text: 'DAYS' }, { text: 'STATE' }, { text: 'WHY' }, { text: 'CHANGES' }],
      ...days.map((each) => [
        { text: daysText(each, zone) },
        { text: each.state },
        { text: each.label },
        { text: changeText(each) },
      ]),
    ],
    2,
  );
  return [coloured(heading, 'dim', terminal), ...lines, ''];
}

/** `Thu 2026-12-24`, or `Thu 2026-12-24 to Sat 2026-12-26`. */
function daysText({ from, until }: ChangedDays, zone: string): string {
  const [first, last] = [dayOf(from, zone), dayOf(until - 1, zone)];
  return first === last ? first : `${first} to ${last}`;
}

function dayOf(at: EpochMs, zone: string): string {
  return formatMoment(at, zone).slice(0, DAY_LENGTH);
}

function changeText({ state, changed }: ChangedDays): string {
  const way = state === 'Down' ? 'down' : 'up';
  return changed === 0 ? `nothing: ${way} by the patterns anyway` : `${way} for ${hoursText(changed)} more`;
}

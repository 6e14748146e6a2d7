/** What schedules would do, in words, for a terminal. */
import { formatInstant, MINUTE_MS } from '../../../domain/kernel/time.ts';
import { type Level, levelText } from '../../../domain/lights-out/schedule/level.ts';
import { formatMoment } from '../../../domain/lights-out/schedule/moment.ts';
import { type ClockChange, formatOffset, type Preview } from '../../../domain/lights-out/schedule/preview.ts';
import type { ScheduleState } from '../../../domain/lights-out/schedule/names.ts';
import { columns } from '../columns.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import type { ScheduleReport } from './preview-report.ts';

export function previewText(reports: readonly ScheduleReport[], terminal: Terminal): string {
  return `${reports.map((report) => reportLines(report, terminal).join('\n')).join('\n\n')}\n`;
}

function reportLines(report: ScheduleReport, terminal: Terminal): readonly string[] {
  const { schedule, spec, preview } = report;
  if (spec === null || preview === null) return invalidLines(report, terminal);
  return [
    coloured(`${schedule}: ${nowText(preview, spec.timezone)}`, 'bold', terminal),
    ...table(preview, spec.timezone, terminal),
    `  ${shareText(preview)}, up to ${formatMoment(preview.until, spec.timezone)}`,
    ...(preview.isCut
      ? [`  There are more changes than one preview shows: go on with --from ${formatInstant(preview.until)}`]
      : []),
    ...warningLines(report, terminal),
  ];
}

export function invalidLines(
  { schedule, problems }: Pick<ScheduleReport, 'schedule' | 'problems'>,
  terminal: Terminal,
): readonly string[] {
  return [
    coloured(`${schedule === '' ? '(without a name)' : schedule}: invalid`, 'bold', terminal),
    ...problems.flatMap(({ field, message }) => wrapped(`${field}: ${message}`, 2, terminal, 4)),
  ];
}

export function warningLines({ warnings }: Pick<ScheduleReport, 'warnings'>, terminal: Terminal): readonly string[] {
  return warnings.flatMap((warning) => wrapped(`warning: ${warning}`, 2, terminal, 4));
}

/** `Up since Mon 2026-11-23 06:00 +01:00, Europe/Berlin`. */
function nowText({ from, period: { state, since, level }, exceptions }: Preview, zone: string): string {
  const why = exceptions.length === 0 ? '' : ` (${exceptions.join(', ')})`;
  const begin = since === null ? `at ${formatMoment(from, zone)}` : `since ${formatMoment(since, zone)}`;
  return `${stateText(state, level)} ${begin}${why}, ${zone}`;
}

/** `Down`, or `Down to 50 %` where something is kept by a window. */
function stateText(state: ScheduleState, level: Level | undefined): string {
  const kept = level === undefined ? null : levelText(level);
  return kept === null ? state : `${state} to ${kept}`;
}

/** A row for each change, weeks apart from each other, and the changes of the clocks where they fall. */
function table({ rows, until, clockChanges }: Preview, zone: string, terminal: Terminal): readonly string[] {
  if (rows.length === 0) {
    return [`  no change up to ${formatMoment(until, zone)}`, ...clockChanges.map(clockLine)];
  }
  const [heading = '', ...lines] = columns(
    [
      [{ text: 'LOCAL TIME' }, { text: 'UTC' }, { text: 'STATE' }, { text: 'FOR', right: true }, { text: 'WHY' }],
      ...rows.map(({ at, state, level, lasts, exceptions }) => [
        { text: formatMoment(at, zone) },
        { text: formatInstant(at) },
        { text: stateText(state, level) },
        { text: lasts === null ? 'ever' : hoursText(lasts), right: true },
        { text: exceptions.join(', ') },
      ]),
    ],
    2,
  );
  const body = rows.flatMap(({ local, clockChanges: before }, at) => {
    const last = rows[at - 1]?.local;
    return [
      ...(last !== undefined && weekOf(last) !== weekOf(local) ? [''] : []),
      ...before.map(clockLine),
      lines[at] ?? '',
    ];
  });
  return [coloured(heading, 'dim', terminal), ...body, ...clockChanges.map(clockLine), ''];
}

const MS_PER_DAY = 86_400_000;
/** `Sun 2026-03-29`. */
export const DAY_LENGTH = 14;
/** 1970-01-01 was a Thursday. */
const FIRST_MONDAY = -3;

/** Weeks since 1970, beginning on Mondays, of a local time. */
function weekOf(local: string): number {
  return Math.floor((Date.parse(`${local.slice(0, 10)}T00:00:00Z`) / MS_PER_DAY - FIRST_MONDAY) / 7);
}

/** `Sun 2026-03-29: clocks go forward at 02:00, to 03:00 (+01:00 -> +02:00)`: by the clock as it was before. */
function clockLine({ at, before, after }: ClockChange): string {
  const wall = (offset: number): string => formatMoment(at + offset * MINUTE_MS, 'UTC');
  const day = wall(before).slice(0, DAY_LENGTH);
  const time = (offset: number): string => wall(offset).slice(DAY_LENGTH + 1, DAY_LENGTH + 6);
  const direction = after > before ? 'forward' : 'back';
  return `  ${day}: clocks go ${direction} at ${time(before)}, to ${time(after)} (${formatOffset(before)} -> ${formatOffset(after)})`;
}

/** `down 118 h of 336 h, 35.1 %`. */
export function shareText({ from, until, down, downShare }: Preview): string {
  return `down ${hoursText(down)} of ${hoursText(until - from)}, ${(downShare * 100).toFixed(1)} %`;
}

/** `59 h`, `10 h 30 min`, `30 min`: never days, because savings are reckoned in hours. */
export function hoursText(ms: number): string {
  const minutes = Math.round(ms / MINUTE_MS);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  if (hours === 0) return `${rest} min`;
  return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
}

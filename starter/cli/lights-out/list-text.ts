/** The schedules of a cluster in words, for a terminal. */
import { columns } from '../columns.ts';
import { coloured, type Terminal, wrapped } from '../terminal.ts';
import type { ScheduleRow } from './rows.ts';

export function listText(cluster: string, rows: readonly ScheduleRow[], terminal: Terminal): string {
  if (rows.length === 0) return `${cluster} has no LightsOutSchedule.\n`;
  const [heading = '', ...lines] = columns(
    [
      [
        { text: 'SCHEDULE' },
        { text: 'STATE' },
        { text: 'PHASE' },
        { text: 'NEXT' },
        { text: 'MANAGED', right: true },
        { text: 'DOWN', right: true },
        { text: 'SAVED', right: true },
        { text: 'READY' },
      ],
      ...rows.map(({ schedule, state, phase, next, managed, scaled, ready, savedReplicaHours }) => [
        { text: schedule },
        { text: state ?? '-' },
        { text: phase ?? '-' },
        { text: nextText(next) },
        { text: String(managed), right: true },
        { text: String(scaled), right: true },
        { text: savedReplicaHours, right: true },
        { text: ready?.status ?? '-' },
      ]),
    ],
    0,
  );
  const body = rows.flatMap(({ notes, ready }, at) => [
    coloured(lines[at] ?? '', ready?.status === 'False' ? 'red' : undefined, terminal),
    ...notes.flatMap((note) => wrapped(note, 2, terminal)),
  ]);
  const legend = 'SAVED is in replica-hours. headroom lights-out status SCHEDULE says more.';
  return `${[coloured(heading, 'bold', terminal), ...body, '', coloured(legend, 'dim', terminal)].join('\n')}\n`;
}

function nextText(next: ScheduleRow['next']): string {
  if (next === null) return '-';
  const why = next.exception === null ? '' : ` (${next.exception})`;
  const keeps = next.keeps === undefined ? '' : `, keeps ${next.keeps}`;
  return `${next.state} ${next.local}${keeps}, in ${next.in}${why}`;
}

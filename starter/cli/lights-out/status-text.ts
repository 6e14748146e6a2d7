/** What the workflow of a schedule says of itself, in words. */
import { type EpochMs, formatSpan } from '../../../domain/kernel/time.ts';
import type { LightsOutStatus } from '../../../workflows/lights-out/messages.ts';
import { withoutLinks } from '../shared.ts';

export function statusText(seen: LightsOutStatus, now: EpochMs): string {
  const lines = [
    `${seen.target.schedule}: ${seen.phase} (${seen.reason}) since ${seen.since}`,
    withoutLinks(seen.detail),
    ...[
      ...seen.facts.map(withoutLinks),
      ...timetable(seen, now),
      ...seen.overrides.map((one) => override(one, now)),
      ...progress(seen),
      ...seen.failing.map(({ workload, message }) => `fails: ${workload}: ${message}`),
      `saved so far: ${seen.savedReplicaHours} replica-hours`,
      ...paused(seen),
      ...(seen.lastCommand === null ? [] : [`last command: ${seen.lastCommand}`]),
    ].map((line) => `  ${line}`),
  ];
  return `${lines.join('\n')}\n`;
}

/** What the crons and exceptions say. */
function timetable({ state, nextUpscale, nextDownscale }: LightsOutStatus, now: EpochMs): readonly string[] {
  const next = [
    { at: nextUpscale, what: 'Up' },
    { at: nextDownscale, what: 'Down' },
  ]
    .flatMap(({ at, what }) => (at === null ? [] : [{ at, what }]))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .map(({ at, what }) => `${what} at ${at} (${fromNow(at, now)})`);
  const says = state === null ? [] : [`the schedule says ${state}`];
  const fires = next.length === 0 ? [] : [`its crons next say ${next.join(', ')}`];
  const line = [...says, ...fires].join('; ');
  return line === '' ? [] : [line];
}

function override({ kind, namespace, until, by, reason }: LightsOutStatus['overrides'][number], now: EpochMs): string {
  const what = kind === 'wake' ? 'awake' : 'asleep';
  const where = namespace === null ? '' : ` in ${namespace}`;
  return `${what}${where} until ${until} (${fromNow(until, now)}), by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

function progress({ progress: now }: LightsOutStatus): readonly string[] {
  if (now === null) return [];
  const failed = now.failed === 0 ? '' : `, ${now.failed} failed`;
  return [`under way: ${now.completed} of ${now.total} done${failed}`];
}

function paused({ paused: by }: LightsOutStatus): readonly string[] {
  if (by === null) return [];
  return [`paused by ${by.by} since ${by.at}${by.reason === '' ? '' : `: ${by.reason}`}`];
}

/** `in 3 h 20 min`, or `2 min ago`. */
export function fromNow(moment: string, now: EpochMs): string {
  const span = Date.parse(moment) - now;
  return span < 0 ? `${formatSpan(-span)} ago` : `in ${formatSpan(span)}`;
}

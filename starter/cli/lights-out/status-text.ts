/** What the workflow of a schedule says of itself, in words. */
import { sentence } from '../../../domain/kernel/sentence.ts';
import { type EpochMs, withRelativeTimes } from '../../../domain/kernel/time.ts';
import type { LightsOutStatus } from '../../../workflows/lights-out/messages.ts';
import { withoutLinks } from '../shared.ts';

export function statusText(seen: LightsOutStatus, now: EpochMs): string {
  const lines = [
    `${seen.target.schedule}: ${seen.phase} (${seen.reason}) since ${seen.since}`,
    sentence(withoutLinks(seen.detail)),
    ...[
      ...seen.facts.map(withoutLinks),
      ...timetable(seen),
      ...seen.overrides.map(override),
      ...progress(seen),
      ...seen.failing.map(({ workload, message }) => `Fails: ${workload}: ${message}`),
      `Every workload, and why: headroom lights-out preview ${seen.target.schedule} --workloads`,
      `Saved so far: ${seen.savedReplicaHours} replica-hours`,
      ...(seen.lastCommand === null ? [] : [`Last command: ${seen.lastCommand}`]),
    ].map((line) => `  ${line}`),
  ];
  return withRelativeTimes(lines.join('\n'), now);
}

/** What the crons and exceptions say. */
function timetable({ state, nextUpscale, nextDownscale }: LightsOutStatus): readonly string[] {
  const next = [
    { at: nextUpscale, what: 'Up' },
    { at: nextDownscale, what: 'Down' },
  ]
    .flatMap(({ at, what }) => (at === null ? [] : [{ at, what }]))
    .toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))
    .map(({ at, what }) => `${what} at ${at}`);
  return [
    ...(state === null ? [] : [`The schedule says ${state}.`]),
    ...(next.length === 0 ? [] : [`Next: ${next.join(', then ')}.`]),
  ];
}

function override({ kind, namespace, until, by, reason }: LightsOutStatus['overrides'][number]): string {
  const what = kind === 'wake' ? 'Awake' : 'Asleep';
  const where = namespace === null ? '' : ` in ${namespace}`;
  return `${what}${where} until ${until}, by ${by}${reason === '' ? '' : `: ${reason}`}`;
}

function progress({ progress: now }: LightsOutStatus): readonly string[] {
  if (now === null) return [];
  const failed = now.failed === 0 ? '' : `, ${now.failed} failed`;
  return [`Under way: ${now.completed} of ${now.total} done${failed}`];
}

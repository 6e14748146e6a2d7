/**
 * When merging is allowed: freezes, and windows as cron and time zone. Only code outside of workflows may import this: the
 * cron library reads the zones of the platform.
 */
import { Cron } from 'croner';
import { formatDuration, parseDuration } from '../../kernel/duration.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { MergeHold } from '../model/observation.ts';
import type { MergeWindow, PolicySource, ResizePolicy } from './policy.ts';
import { WrongValue } from './values.ts';

export const WINDOWS_FORM =
  '"always", or windows as "<cron> for <duration> in <time zone>", parted by semicolons, such as "0 9 * * 1-5 for 8h in Europe/Berlin"';

const WINDOW = /^(\S+(?:\s+\S+){4})\s+for\s+(\S+)(?:\s+in\s+(\S+))?$/i;

const MINUTE_MS = 60_000;
/** They are carried in the history of every look. */
const MAX_WINDOWS = 20;
/** A month: whoever means more means always. */
const MAX_OPEN_MS = 31 * 86_400_000;
/** Any moment before a leap day: a pattern that never comes from here on never comes at all. */
const SOME_MOMENT = new Date(Date.UTC(2024, 0, 1));

/**
 * Reads `0 9 * * 1-5 for 8h in Europe/Berlin; …`; without a zone it is UTC. No window for `always`.
 *
 * @throws {WrongValue} that also says what exactly is wrong: the cron pattern, the duration, the zone, or a pattern that
 * never comes, such as the 30th of February.
 */
export function readMergeWindows(text: string): readonly MergeWindow[] {
  if (text.toLowerCase() === 'always') return [];
  const parts = text.replace(/;\s*$/, '').split(';');
  if (parts.length > MAX_WINDOWS) throw wrong(`there are ${parts.length} windows, more than ${MAX_WINDOWS}`);
  return parts.map((part) => readWindow(part.trim()));
}

function readWindow(text: string): MergeWindow {
  const [, pattern, span, zone = 'UTC'] = WINDOW.exec(text) ?? [];
  if (pattern === undefined || span === undefined) throw wrong(`${JSON.stringify(text)} has another form`);
  const window = { cron: pattern.replaceAll(/\s+/g, ' '), duration: durationOf(span), zone: knownZone(zone) };
  if (nextOpening(window, SOME_MOMENT.getTime()) === null) throw wrong(`"${window.cron}" never comes`);
  return window;
}

function durationOf(text: string): number {
  let duration: number;
  try {
    duration = parseDuration(text);
  } catch {
    throw wrong(`"${text}" is not a duration such as "90m", "8h" or "2d"`);
  }
  if (duration < MINUTE_MS || duration > MAX_OPEN_MS) throw wrong(`"${text}" is not between 1m and 31d`);
  return duration;
}

/** The zone as it was written. An offset such as +02:00 is none: it would be wrong for half of the year. */
function knownZone(zone: string): string {
  try {
    if (/^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '') return zone;
  } catch {
    // Not one that the platform knows.
  }
  throw wrong(`"${zone}" is not an IANA time zone such as "Europe/Berlin" or "UTC"`);
}

function wrong(reason: string): WrongValue {
  return new WrongValue(WINDOWS_FORM, reason);
}

/** A window as people write it. */
export function formatWindow({ cron, duration, zone }: MergeWindow): string {
  return `${cron} for ${formatDuration(duration)} in ${zone}`;
}

/**
 * Why nothing may be merged at this moment; null when it may.
 *
 * A window is open from the moment that its cron names, for its duration in real time, whatever the clocks do meanwhile. An
 * opening in the hour that is skipped in spring comes right after it; one in the hour that comes twice in autumn is the
 * first of the two.
 */
export function mergeHold(policy: ResizePolicy, now: EpochMs): MergeHold | null {
  const { freezeUntil, mergeWindows } = policy;
  if (freezeUntil !== null && now < freezeUntil) {
    const detail = `merging is frozen until ${formatInstant(freezeUntil)} (${layerOf(policy, 'freeze-until')})`;
    return { reason: 'Frozen', until: freezeUntil, detail };
  }
  if (mergeWindows.length === 0 || mergeWindows.some((window) => isOpen(window, now))) return null;
  const openings = mergeWindows.map((window) => nextOpening(window, now)).filter((at) => at !== null);
  const until = openings.length === 0 ? null : Math.min(...openings);
  const next = until === null ? 'none opens any more' : `the next opens at ${formatInstant(until)}`;
  const windows = mergeWindows.map(formatWindow).join('; ');
  const detail = `it is outside of the merge windows (${layerOf(policy, 'merge-windows')}: ${windows}); ${next}`;
  return { reason: 'OutsideMergeWindow', until, detail };
}

function isOpen(window: MergeWindow, now: EpochMs): boolean {
  const opened = nextOpening(window, now - window.duration);
  return opened !== null && opened <= now;
}

/** The first opening after a moment. */
function nextOpening({ cron, zone }: MergeWindow, after: EpochMs): EpochMs | null {
  try {
    const pattern = new Cron(cron, { timezone: zone, mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true });
    return pattern.nextRun(new Date(after))?.getTime() ?? null;
  } catch (error) {
    throw wrong(
      `the cron pattern "${cron}" is not understood: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

const OPTIONS: Readonly<Record<'freeze-until' | 'merge-windows', string>> = {
  'freeze-until': 'FREEZE_UNTIL',
  'merge-windows': 'MERGE_WINDOWS',
};

function layerOf(policy: ResizePolicy, setting: keyof typeof OPTIONS): string {
  const source: PolicySource = policy.sources[setting] ?? 'default';
  return source === 'default'
    ? `${OPTIONS[setting]} in Headroom's configuration`
    : `resizer.io/${setting} on the ${source}`;
}

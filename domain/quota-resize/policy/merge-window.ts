/**
 * When merging is allowed: freezes, and windows by cron pattern and time zone. Workflow code must not import this
 * module, because the cron library reads the time zones of the platform.
 */
import { Cron } from 'croner';
import { formatDuration, parseDuration } from '../../kernel/duration.ts';
import { type EpochMs, formatInstant, MINUTE_MS } from '../../kernel/time.ts';
import type { MergeHold } from '../model/observation.ts';
import type { MergeWindow } from './merge-rules.ts';
import type { PolicySource, ResizePolicy } from './policy.ts';
import { WrongValue } from './values.ts';

export const WINDOWS_FORM =
  '"always", or windows as "<cron> for <duration> in <time zone>", parted by semicolons, such as "0 9 * * 1-5 for 8h in Europe/Berlin"';

const WINDOW = /^(\S+(?:\s+\S+){4})\s+for\s+(\S+)(?:\s+in\s+(\S+))?$/i;

/** The windows are part of the history of every observation. */
const MAX_WINDOWS = 20;
/** A month; for a longer window `always` is the right setting. */
const MAX_OPEN_MS = 31 * 86_400_000;
/** Any moment before a leap day: a pattern without a match from here on never matches. */
const SOME_MOMENT = new Date(Date.UTC(2024, 0, 1));

/**
 * Parses `0 9 * * 1-5 for 8h in Europe/Berlin; …`; without a zone it is UTC. `always` gives no window.
 *
 * @throws {WrongValue} which names the exact problem: the cron pattern, the duration, the zone, or a pattern that never
 *   matches, such as the 30th of February.
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

/** Returns the zone as written. An offset such as +02:00 is rejected: it would be wrong for half of the year. */
function knownZone(zone: string): string {
  try {
    if (/^[A-Za-z]/.test(zone) && new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '') return zone;
  } catch {
    // The platform does not know the zone.
  }
  throw wrong(`"${zone}" is not an IANA time zone such as "Europe/Berlin" or "UTC"`);
}

function wrong(reason: string): WrongValue {
  return new WrongValue(WINDOWS_FORM, reason);
}

/** A window in the notation of the setting. */
export function formatWindow({ cron, duration, zone }: MergeWindow): string {
  return `${cron} for ${formatDuration(duration)} in ${zone}`;
}

/**
 * Why nothing may be merged at this moment; null when merging is allowed.
 *
 * A window is open from the moment that its cron pattern names, for its duration in elapsed time, regardless of clock
 * changes. An opening in the hour that is skipped in spring happens directly after it; one in the hour that is repeated
 * in autumn happens in the first of the two.
 */
export function mergeHold(policy: ResizePolicy, now: EpochMs): MergeHold | null {
  const { freezeUntil, mergeWindows } = policy;
  if (freezeUntil !== null && now < freezeUntil) {
    const detail = `merging is frozen until ${formatInstant(freezeUntil)} (${layerOf(policy, 'freeze-until')})`;
    return { reason: 'Frozen', until: freezeUntil, detail };
  }
  const { guardrail } = policy;
  return (
    outsideOf(guardrail.mergeWindows, `guardrail ${guardrail.name}`, now) ??
    outsideOf(mergeWindows, layerOf(policy, 'merge-windows'), now)
  );
}

/** When the next of the open windows closes, after which merging may be held; null where none is open. */
export function nextClosing({ guardrail, mergeWindows }: ResizePolicy, now: EpochMs): EpochMs | null {
  const closings = [...guardrail.mergeWindows, ...mergeWindows].flatMap((window) => {
    const opened = nextOpening(window, now - window.duration);
    return opened !== null && opened <= now ? [opened + window.duration] : [];
  });
  return closings.length === 0 ? null : Math.min(...closings);
}

/** Null when one of the windows is open, or there are none. */
function outsideOf(mergeWindows: readonly MergeWindow[], setBy: string, now: EpochMs): MergeHold | null {
  if (mergeWindows.length === 0 || mergeWindows.some((window) => isOpen(window, now))) return null;
  const openings = mergeWindows.map((window) => nextOpening(window, now)).filter((at) => at !== null);
  const until = openings.length === 0 ? null : Math.min(...openings);
  const next = until === null ? 'none opens any more' : `the next opens at ${formatInstant(until)}`;
  const windows = mergeWindows.map(formatWindow).join('; ');
  const detail = `it is outside of the merge windows (${setBy}: ${windows}); ${next}`;
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
  return source === 'default' || source === 'guardrail'
    ? `${OPTIONS[setting]} in Headroom's configuration`
    : `resizer.io/${setting} on the ${source}`;
}

import { listText } from '../kernel/sentence.ts';
import { quantityText } from '../kernel/quantity-text.ts';
import { type EpochMs, formatInstant, formatSpan } from '../kernel/time.ts';
import { LIMITS } from './audit.ts';
import type { StaleValue } from './observation.ts';
import type { UsageObservation } from './observation.ts';
import type { Reported, UsageVerdict } from './verdict.ts';

/** What a usage episode remembers between passes and through continue-as-new. */
export interface UsageMemory {
  readonly version: 1;
  /** What was last reported as wrong; null when the quota's Events report nothing wrong. */
  readonly reported: Reported | null;
  /** In mode `own`: what the API server said when it refused a write, for people; null when it refused none. */
  readonly refused: string | null;
}

export const freshMemory: UsageMemory = { version: 1, reported: null, refused: null };

/** The memory of a run of any earlier release; missing fields get their initial values. */
export function upgradeMemory(carried: UsageMemory | undefined): UsageMemory {
  return { ...freshMemory, ...carried, version: 1 };
}

/** Decides what to tell about a quota's status. Pure; the time is part of the observation. */
export function decide(seen: UsageObservation, memory: UsageMemory): UsageVerdict {
  const { quota } = seen;
  if (quota === null) {
    return { kind: 'end', phase: 'Ended', reason: 'QuotaGone', detail: 'The quota no longer exists.' };
  }
  if (memory.refused !== null && seen.staleValues.length > 0) {
    const detail = `The status is wrong, and cannot be written: ${memory.refused}`;
    return { kind: 'await', phase: 'Blocked', reason: 'WriteFailed', detail };
  }
  const { auditAfterMs } = seen.policy;
  // A report about an earlier quota of the same name does not apply.
  const reported = memory.reported?.quotaUid === quota.uid ? memory.reported : null;
  const wrong = seen.staleValues.filter(({ since }) => seen.at - since >= auditAfterMs);
  if (wrong.length > 0) {
    const resources = wrong.map(({ resource }) => resource).toSorted();
    const message = wrong.map((stale) => staleValueSentence(stale, seen.at)).join(' ');
    const status = { phase: 'Wrong', reason: 'UsageWrong', detail: message } as const;
    // Reported again only if other resources are wrong, because the numbers may change all the time.
    if (JSON.stringify(reported?.resources) === JSON.stringify(resources)) return { kind: 'await', ...status };
    const since = Math.min(...wrong.map((stale) => stale.since));
    const key = `${quota.uid} ${resources.join(' ')} ${since}`;
    return { kind: 'report', ...status, reported: { quotaUid: quota.uid, resources, key }, message };
  }
  if (seen.staleValues.length > 0) {
    const first = Math.min(...seen.staleValues.map(({ since }) => since));
    const until = first + auditAfterMs;
    const detail = `${seen.staleValues.map((stale) => staleValueSentence(stale, seen.at)).join(' ')} Headroom reports this if it is still so at ${formatInstant(until)}.`;
    return { kind: 'await', phase: 'Late', reason: 'StatusLate', detail, until };
  }
  // A reported error is not over while the resource cannot be counted; in mode `own` nobody else counts it either.
  if ((reported !== null || seen.policy.mode === 'own') && seen.count.unmeasured.length > 0) {
    return { kind: 'await', phase: 'Blocked', reason: 'Unmeasured', detail: unmeasuredSentence(seen) };
  }
  const detail = `The status agrees with Headroom's count: ${listed(seen.count.used)}.`;
  return {
    kind: 'end',
    phase: 'Ended',
    reason: 'UsageTrue',
    detail,
    ...(reported === null ? {} : { event: detail }),
  };
}

/** `requests.cpu: the status says 2 CPU, but Headroom counted 1.5 CPU. It has been wrong for 3 min.` */
function staleValueSentence({ resource, shown, counted, since }: StaleValue, now: EpochMs): string {
  if (resource === LIMITS)
    return `The limits of the status have differed from those of the spec for ${formatSpan(now - since)}.`;
  const sentence = shown === null ? 'the status has no number' : `the status says ${quantityText(resource, shown)}`;
  return `${resource}: ${sentence}, but Headroom counted ${quantityText(resource, counted)}. It has been wrong for ${formatSpan(now - since)}.`;
}

function unmeasuredSentence({ count }: UsageObservation): string {
  const parts = count.unmeasured.map(({ keys, reason }) => `${keys.join(', ')} (${reason})`);
  return `The status keeps its numbers for what Headroom cannot count now: ${parts.join('; ')}.`;
}

/** The part of an observation that a wait for changes compares; the moment and the count alone do not matter. */
export function fingerprint(seen: UsageObservation): string {
  const { quota, count, staleValues } = seen;
  return JSON.stringify([
    quota === null ? null : quota.resourceVersion,
    count.unmeasured.map(({ keys, reason }) => [keys, reason]),
    staleValues.map(({ resource, shown, counted }) => [resource, shown, counted]),
  ]);
}

/** At most so many resources are named in a sentence. */
const NAMED = 8;

function listed(list: Readonly<Record<string, string>>): string {
  const entries = Object.entries(list).map(([resource, amount]) => `${resource} ${amount}`);
  if (entries.length === 0) return 'nothing, because the quota limits nothing';
  return listText(entries, NAMED);
}

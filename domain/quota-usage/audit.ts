/** Distinguishes a late status from a wrong one. */
import { formatQuantity, quantityOrNull } from '../kernel/quantity.ts';
import { equalLists, type ResourceList } from '../kernel/resource-list.ts';
import type { MonotonicMs } from '../kernel/time.ts';
import type { CachedQuota, StaleValue } from './observation.ts';

/** A counted amount, in canonical form, so that equal amounts are equal texts. */
interface Counted {
  readonly amount: string;
  readonly lastTrueAt: MonotonicMs;
}

/** A value of the status that differed from the count. */
interface FalseNumber {
  /** Null when the status had no value. */
  readonly amount: string | null;
  /** When it was first seen. */
  readonly from: MonotonicMs;
  /** When the value was last right before that; `from` when unknown. */
  readonly trueAt: MonotonicMs;
}

/** Recently counted amounts and differing values of a quota's status, by resource. JSON only. */
export interface AuditMemory {
  /** The latest first: the first one is from the last audit. */
  readonly counts: Readonly<Record<string, readonly Counted[]>>;
  /** The differing values since the status was last right, the oldest first; empty while it is right. */
  readonly falseNumbers: Readonly<Record<string, readonly FalseNumber[]>>;
  readonly staleValues: readonly StaleValue[];
}

export const emptyAudit: AuditMemory = { counts: {}, falseNumbers: {}, staleValues: [] };

/** How many amounts, and how many differing values, are remembered per resource. */
const REMEMBERED = 64;

interface AuditInput {
  readonly counted: ResourceList;
  readonly status: { readonly used?: ResourceList | undefined };
  readonly now: MonotonicMs;
  /**
   * Milliseconds after which old entries are forgotten. Greater than the time after which a value counts as wrong, by
   * the lag at which a controller is still recognized as late.
   */
  readonly keepMs: number;
}

/** Equal texts for equal amounts; one that cannot be read stays as it is. */
function comparable(text: string): string {
  const amount = quantityOrNull(text);
  return amount === null ? text : formatQuantity({ nano: amount.nano, format: 'DecimalSI' });
}

/** The last counted amount was right until now: if it had changed in between, there would have been another count. */
function remembered(before: readonly Counted[], amount: string, { now, keepMs }: AuditInput): readonly Counted[] {
  const ended = before.map((counted, at) => (at === 0 ? { ...counted, lastTrueAt: now } : counted));
  const others = ended.filter((counted) => counted.amount !== amount && now - counted.lastTrueAt <= keepMs);
  return [{ amount, lastTrueAt: now }, ...others].slice(0, REMEMBERED);
}

/**
 * The values of the status since it was last right, including the present one. A value that becomes right later was
 * early and not wrong.
 */
function falseSinceTrue(
  before: readonly FalseNumber[],
  shown: string | null,
  counts: readonly Counted[],
  { now, keepMs }: AuditInput,
): readonly FalseNumber[] {
  const counted = counts[0]?.amount;
  if (shown === counted) return [];
  const open = before.slice(before.findLastIndex(({ amount }) => amount === counted) + 1);
  const trueAt = counts.find(({ amount }) => amount === shown)?.lastTrueAt ?? now;
  const falseNumbers = open.at(-1)?.amount === shown ? open : [...open, { amount: shown, from: now, trueAt }];
  // An entry ends where the next one begins.
  const remaining = falseNumbers.filter((_, at) => now - (falseNumbers[at + 1]?.from ?? now) <= keepMs);
  return remaining.slice(-REMEMBERED);
}

function sinceOf(falseNumbers: readonly [FalseNumber, ...(readonly FalseNumber[])]): MonotonicMs {
  return Math.max(falseNumbers[0].from, ...falseNumbers.map(({ trueAt }) => trueAt));
}

function isSome(
  falseNumbers: readonly FalseNumber[],
): falseNumbers is readonly [FalseNumber, ...(readonly FalseNumber[])] {
  return falseNumbers.length > 0;
}

/**
 * Adds a count and a status at a moment; must be called when either of them changed, and periodically.
 *
 * Every status differs from the count for a while after a change. A status that was right a little earlier is late; one
 * that becomes right a little later is early, because admission charges an object before it exists. The age of a stale
 * value is therefore the time since any value of the status since then was right. A controller that lags by less than
 * `after` is never reported, and a status that does not move is reported once its value has been wrong for `after`.
 *
 * A forgotten entry counts from when the status was observed, which is never earlier. Forgetting may therefore report a
 * wrong value late, but never a late value as wrong. A resource that cannot be counted now is forgotten completely,
 * because its right value is unknown meanwhile.
 */
export function audit(memory: AuditMemory, input: AuditInput): AuditMemory {
  const { counted, status } = input;
  const counts: [string, readonly Counted[]][] = [];
  const falseNumbers: [string, readonly FalseNumber[]][] = [];
  const staleValues: StaleValue[] = [];
  for (const [resource, amount] of Object.entries(counted)) {
    const text = status.used?.[resource] ?? null;
    const existing = remembered(memory.counts[resource] ?? [], comparable(amount), input);
    const sinceTrue = falseSinceTrue(
      memory.falseNumbers[resource] ?? [],
      text === null ? null : comparable(text),
      existing,
      input,
    );
    counts.push([resource, existing]);
    if (isSome(sinceTrue)) {
      falseNumbers.push([resource, sinceTrue]);
      staleValues.push({ resource, shown: text, counted: amount, since: sinceOf(sinceTrue) });
    }
  }
  return { counts: Object.fromEntries(counts), falseNumbers: Object.fromEntries(falseNumbers), staleValues };
}

/** The stale values that are at least `afterMs` old: wrong, and not only late. */
export function wrongFor(memory: AuditMemory, now: MonotonicMs, afterMs: number): readonly StaleValue[] {
  return memory.staleValues.filter(({ since }) => now - since >= afterMs);
}

/** Stands for the limits of the status in an audit; no resource has this name. */
export const LIMITS = 'hard';

/**
 * The audit of a quota: its values, and as one more entry the limits in its status, which admission uses. Limits that
 * differ from the spec, and values for resources that the spec does not limit, are one stale value together.
 */
export function auditQuota(
  memory: AuditMemory,
  { spec, status }: Pick<CachedQuota, 'spec' | 'status'>,
  { counted, now, keepMs }: { readonly counted: ResourceList; readonly now: MonotonicMs; readonly keepMs: number },
): AuditMemory {
  const { hard = {} } = spec;
  const isSame = equalLists(hard, status.hard ?? {}) && Object.keys(status.used ?? {}).every((key) => key in hard);
  const used = { ...status.used, [LIMITS]: isSame ? '1' : '0' };
  return audit(memory, { counted: { ...counted, [LIMITS]: '1' }, status: { used }, now, keepMs });
}

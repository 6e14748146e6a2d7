/** Tells a status that is late from one that is wrong. */
import { formatQuantity, parseQuantity } from '../kernel/quantity.ts';
import { equalLists, type ResourceList } from '../kernel/resource-list.ts';
import type { EpochMs } from '../kernel/time.ts';
import type { CachedQuota, StaleValue } from './observation.ts';

/** An amount that was counted. Amounts of the memory are written in one way only, so that equal ones are equal texts. */
interface Counted {
  readonly amount: string;
  readonly lastTrueAt: EpochMs;
}

/** A number that the status said while it was not true. */
interface FalseNumber {
  /** Null for no number. */
  readonly amount: string | null;
  /** When it was first seen. */
  readonly from: EpochMs;
  /** When it was last true before that; `from` where nobody knows. */
  readonly trueAt: EpochMs;
}

/** What was true of a quota lately, and what its status said meanwhile, by resource. JSON only. */
export interface AuditMemory {
  /** The latest first: the first one was counted at the last audit. */
  readonly counts: Readonly<Record<string, readonly Counted[]>>;
  /** The untrue numbers since the status was last true, the oldest first; none while it is true. */
  readonly falseNumbers: Readonly<Record<string, readonly FalseNumber[]>>;
  readonly staleValues: readonly StaleValue[];
}

export const emptyAudit: AuditMemory = { counts: {}, falseNumbers: {}, staleValues: [] };

/** So many amounts, and so many untrue numbers, are remembered of each resource. */
const REMEMBERED = 64;

interface AuditInput {
  readonly counted: ResourceList;
  readonly status: { readonly used?: ResourceList | undefined };
  readonly now: EpochMs;
  /**
   * Milliseconds: what was true, or said, longer ago is forgotten. More than the time after which a number is wrong, by as much
   * as a controller may be late and still be recognised as that.
   */
  readonly keepMs: number;
}

function comparable(text: string): string {
  return formatQuantity({ nano: parseQuantity(text).nano, format: 'DecimalSI' });
}

/** The amount that was counted last time was true until now: had it moved in between, there would have been a count. */
function remembered(before: readonly Counted[], amount: string, { now, keepMs }: AuditInput): readonly Counted[] {
  const ended = before.map((one, at) => (at === 0 ? { ...one, lastTrueAt: now } : one));
  const others = ended.filter((one) => one.amount !== amount && now - one.lastTrueAt <= keepMs);
  return [{ amount, lastTrueAt: now }, ...others].slice(0, REMEMBERED);
}

/** What the status has said since it was last true, with what it says now. A number that comes true later was early, not wrong. */
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

function sinceOf(falseNumbers: readonly [FalseNumber, ...(readonly FalseNumber[])]): EpochMs {
  return Math.max(falseNumbers[0].from, ...falseNumbers.map(({ trueAt }) => trueAt));
}

function isSome(
  falseNumbers: readonly FalseNumber[],
): falseNumbers is readonly [FalseNumber, ...(readonly FalseNumber[])] {
  return falseNumbers.length > 0;
}

/**
 * Takes in a count and a status at a moment; to be called whenever either of them changed, and now and then.
 *
 * Every status is untrue for a while after a change; one that was true a little earlier is late, and one that becomes true a
 * little later, because admission charges an object before it is there, is early. So an staleValue is as old as the last moment
 * when anything that the status said since was true: a controller that lags by less than `after` is never wrong for
 * `after`, and a status that stands still is, once its number has not been true for so long.
 *
 * Whatever is forgotten, by age or number, counts from when the status was seen to say it, which is never earlier: forgetting
 * may call a wrong number late, never a late one wrong. A resource that is not counted now is forgotten altogether, because
 * nobody sees what is true of it meanwhile.
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

/** The staleValues that are `afterMs` old or older: those that are wrong, and not only late. */
export function wrongFor(memory: AuditMemory, now: EpochMs, afterMs: number): readonly StaleValue[] {
  return memory.staleValues.filter(({ since }) => now - since >= afterMs);
}

/** Stands for the limits of the status in an audit; no resource has this name. */
export const LIMITS = 'hard';

/**
 * The audit of a quota: its numbers, and as one more its limits, which admission goes by. Limits of the status that are not
 * the spec's, or numbers for what the spec does not limit any more, are one staleValue together.
 */
export function auditQuota(
  memory: AuditMemory,
  { spec, status }: Pick<CachedQuota, 'spec' | 'status'>,
  { counted, now, keepMs }: { readonly counted: ResourceList; readonly now: EpochMs; readonly keepMs: number },
): AuditMemory {
  const { hard = {} } = spec;
  const isSame = equalLists(hard, status.hard ?? {}) && Object.keys(status.used ?? {}).every((key) => key in hard);
  const used = { ...status.used, [LIMITS]: isSame ? '1' : '0' };
  return audit(memory, { counted: { ...counted, [LIMITS]: '1' }, status: { used }, now, keepMs });
}

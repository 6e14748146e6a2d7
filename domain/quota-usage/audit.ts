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
interface Said {
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
  readonly said: Readonly<Record<string, readonly Said[]>>;
  readonly staleValues: readonly StaleValue[];
}

export const emptyAudit: AuditMemory = { counts: {}, said: {}, staleValues: [] };

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
function saidSinceTrue(
  before: readonly Said[],
  says: string | null,
  counts: readonly Counted[],
  { now, keepMs }: AuditInput,
): readonly Said[] {
  const counted = counts[0]?.amount;
  if (says === counted) return [];
  const open = before.slice(before.findLastIndex(({ amount }) => amount === counted) + 1);
  const trueAt = counts.find(({ amount }) => amount === says)?.lastTrueAt ?? now;
  const said = open.at(-1)?.amount === says ? open : [...open, { amount: says, from: now, trueAt }];
  // An entry ends where the next one begins.
  const kept = said.filter((_, at) => now - (said[at + 1]?.from ?? now) <= keepMs);
  return kept.slice(-REMEMBERED);
}

function sinceOf(said: readonly [Said, ...(readonly Said[])]): EpochMs {
  return Math.max(said[0].from, ...said.map(({ trueAt }) => trueAt));
}

function isSomeSaid(said: readonly Said[]): said is readonly [Said, ...(readonly Said[])] {
  return said.length > 0;
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
  const said: [string, readonly Said[]][] = [];
  const staleValues: StaleValue[] = [];
  for (const [resource, amount] of Object.entries(counted)) {
    const text = status.used?.[resource] ?? null;
    const known = remembered(memory.counts[resource] ?? [], comparable(amount), input);
    const untrue = saidSinceTrue(memory.said[resource] ?? [], text === null ? null : comparable(text), known, input);
    counts.push([resource, known]);
    if (isSomeSaid(untrue)) {
      said.push([resource, untrue]);
      staleValues.push({ resource, says: text, counted: amount, since: sinceOf(untrue) });
    }
  }
  return { counts: Object.fromEntries(counts), said: Object.fromEntries(said), staleValues };
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

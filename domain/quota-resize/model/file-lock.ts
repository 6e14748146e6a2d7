/**
 * The lock of a file: the decisions whose pull requests change it, and the quotas that wait for it. It is kept in the
 * file's Lease: the first holder is the Lease's own, and annotations have the others and the queue.
 */
import * as z from 'zod';
import { readJsonText } from '../../kernel/json-text.ts';
import { parseQuantity } from '../../kernel/quantity.ts';
import { isSameQuota, type QuotaTarget } from '../../kernel/target.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import type { DecisionFacts } from './decision.ts';
import { instant, rfc3339 } from './lease-instant.ts';

type QuotaName = Pick<QuotaTarget, 'namespace' | 'quota'>;

/** A decision whose pull request changes the file, or is about to be opened. */
export interface LockHolder extends QuotaName {
  /** The decision's name in Leases. */
  readonly holder: string;
  /** When it locked the file, or began its latest attempt to open the pull request. */
  readonly at: EpochMs;
  /**
   * The name of another holder whose pull request it joined; it holds the file for as long as that one does, and `at` is
   * since when it has waited for it.
   */
  readonly joins?: string;
}

/** How urgently a quota needs the file. */
interface Urgency {
  /** Whether workloads were denied, and not only a threshold reached. */
  readonly denied: boolean;
  /** The greatest share of a limit, in percent, that is used and denied together. */
  readonly share: number;
}

interface FileWaiter extends QuotaName, Urgency {
  readonly since: EpochMs;
  /** It asks again before this moment, as long as it waits. */
  readonly until: EpochMs;
}

export interface FileLock {
  readonly holders: readonly LockHolder[];
  readonly queue: readonly FileWaiter[];
}

/** Who asks for a file. */
export interface LockRequest extends QuotaName, Urgency {
  readonly holder: string;
  /**
   * `ifFree`: it does not wait in the queue. `inQueue`: when it is free and nobody more urgent waits, or when it has
   * waited for long enough. `always`: its pull request is open and changes the file already.
   */
  readonly take: 'ifFree' | 'inQueue' | 'always';
}

export interface QueueTimings {
  /** For how long an entry of the queue counts after it was renewed, in milliseconds. */
  readonly renewWithin: number;
  /** After how many milliseconds a quota does not wait any longer. */
  readonly longestWait: number;
  /** After how many milliseconds a lock that is kept is as young as a new one again. */
  readonly refreshAfter: number;
}

/** A quota's place in the queue. */
export interface QueuePlace {
  readonly since: EpochMs;
  /** From 1 on. */
  readonly number: number;
  /** How many wait. */
  readonly of: number;
  /** The waiting quotas that go first. */
  readonly ahead: readonly FileWaiter[];
  /** When it gets the file although others have it. */
  readonly ownAt: EpochMs;
}

export type LockAnswer =
  /** `wasHeld`: it had the lock before. */
  | { readonly kind: 'taken'; readonly wasHeld: boolean; readonly lock: FileLock }
  | { readonly kind: 'waits'; readonly lock: FileLock; readonly place: QueuePlace }
  /** It has joined the pull request of another holder, who writes to it. */
  | { readonly kind: 'joined'; readonly lock: FileLock; readonly owner: LockHolder };

export const NO_LOCK: FileLock = { holders: [], queue: [] };

/** How many of the queue are recorded with how urgent they are. */
const MAX_URGENT = 100;

/** The annotations of one object share 256 KiB. An entry takes 130 to 450 characters. */
const MAX_QUEUE_LENGTH = 128 * 1024;

/** A limit of 0 is exceeded by any share. */
const SHARE_OF_NOTHING = 100_000;

/** How urgently a decision needs its files, by the most urgent of all limits that it raises. */
export function urgencyOf({ changes, batchedQuotas = [] }: Pick<DecisionFacts, 'changes' | 'batchedQuotas'>): Urgency {
  const all = [...changes, ...batchedQuotas.flatMap((other) => other.changes)];
  const shares = all.map(({ used, demand, from }) => {
    const limit = parseQuantity(from).nano;
    const share =
      limit <= 0n ? SHARE_OF_NOTHING : ((parseQuantity(used).nano + parseQuantity(demand).nano) * 100n) / limit;
    return Math.min(Number(share), SHARE_OF_NOTHING);
  });
  return { denied: all.some(({ demand }) => parseQuantity(demand).nano > 0n), share: Math.max(0, ...shares) };
}

/**
 * Asks for a file.
 *
 * @returns the lock afterwards, also where it stays with others: the queue has the request then.
 */
export function askForFile(given: FileLock, request: LockRequest, now: EpochMs, timings: QueueTimings): LockAnswer {
  const { namespace, quota, holder, take } = request;
  const lock: FileLock = { ...given, holders: withoutLeft(given.holders) };
  const held = lock.holders.find((other) => isSameQuota(other, request) && other.holder === holder);
  const owner = lock.holders.find((other) => other.holder === held?.joins);
  // Whoever joined and is not in the pull request after all that time waits no longer.
  const isIn = held !== undefined && owner !== undefined && (take === 'always' || now < held.at + timings.longestWait);
  if (isIn) return take === 'always' ? { kind: 'taken', wasHeld: true, lock } : { kind: 'joined', lock, owner };
  const waiting = lock.queue.find((waiter) => isSameQuota(waiter, request));
  const others = lock.queue.filter((waiter) => !isSameQuota(waiter, request));
  // A quota has one decision at a time, so an earlier lock of its own is left over from a terminated run.
  const wasHeld = held !== undefined && owner === undefined;
  const before = lock.holders.filter((other) => !isSameQuota(other, request));
  const joinedAt = owner === undefined ? undefined : held?.at;
  const taken = (holders: readonly LockHolder[]): LockAnswer => ({
    kind: 'taken',
    wasHeld,
    lock: { holders, queue: others },
  });
  const own: LockHolder = { namespace, quota, holder, at: now };
  if (lock.holders.some((other) => isSameQuota(other, request) && other.joins === undefined)) {
    const isYoung = ({ at }: LockHolder): boolean => wasHeld && now - at < timings.refreshAfter;
    return taken(lock.holders.map((other) => (isSameQuota(other, request) && !isYoung(other) ? own : other)));
  }
  const since = waiting?.since ?? joinedAt ?? now;
  const ownAt = since + timings.longestWait;
  const entry: FileWaiter = {
    namespace,
    quota,
    denied: request.denied,
    share: request.share,
    since,
    until: now + timings.renewWithin,
  };
  const ahead = others.filter((other) => other.until > now && compareWaiters(other, entry) < 0);
  const isFree = before.length === 0;
  const hasWaited = waiting !== undefined || joinedAt !== undefined;
  if (take === 'always' || (isFree && ahead.length === 0) || (hasWaited && now >= ownAt)) {
    return taken([...before, own]);
  }
  const kept = others.filter((other) => other.until + timings.longestWait > now);
  const queue = take === 'ifFree' ? lock.queue : bounded([...kept, entry], now);
  const of = others.filter((other) => other.until > now).length + 1;
  return {
    kind: 'waits',
    lock: { holders: before, queue },
    place: { since, number: ahead.length + 1, of, ahead, ownAt },
  };
}

/** The holders without those that joined a pull request whose owner does not hold the file any more. */
function withoutLeft(holders: readonly LockHolder[]): readonly LockHolder[] {
  return holders.filter(({ joins }) => joins === undefined || holders.some(({ holder }) => holder === joins));
}

/**
 * Lets a decision join the pull request of the file's holder.
 *
 * @param ownerHolder the decision whose pull request it is.
 * @returns null where it cannot: the owner does not hold the file, or others do, or the decision holds it for itself.
 *   `wasAsking`: it waited for the file, or had joined before.
 */
export function joinFile(
  lock: FileLock,
  joining: Omit<LockHolder, 'at' | 'joins'>,
  ownerHolder: string,
  now: EpochMs,
): { readonly lock: FileLock; readonly wasAsking: boolean } | null {
  const holders = withoutLeft(lock.holders);
  const isOfOwner = ({ holder, joins }: LockHolder): boolean => holder === ownerHolder || joins === ownerHolder;
  if (!holders.some(({ holder }) => holder === ownerHolder) || !holders.every(isOfOwner)) return null;
  const before = holders.find((other) => isSameQuota(other, joining));
  if (before !== undefined) return before.holder === joining.holder ? { lock, wasAsking: true } : null;
  const { namespace, quota, holder } = joining;
  const queue = lock.queue.filter((waiter) => !isSameQuota(waiter, joining));
  const since = lock.queue.find((waiter) => isSameQuota(waiter, joining))?.since ?? now;
  const joined: LockHolder = { namespace, quota, holder, at: since, joins: ownerHolder };
  return { lock: { holders: [...holders, joined], queue }, wasAsking: queue.length < lock.queue.length };
}

/**
 * The queue, most urgent first, as far as it can be recorded. Everybody keeps the moment since when they wait, by which they
 * get the file in the end: those who are far from it lose how urgent they are, which they say again when they ask next.
 * Beyond that, whoever does not ask any more is left out, and then whoever came last.
 */
function bounded(queue: readonly FileWaiter[], now: EpochMs): readonly FileWaiter[] {
  const sorted = queue
    .toSorted(compareWaiters)
    .map((waiter, index) => (index < MAX_URGENT ? waiter : { ...waiter, denied: false, share: 0 }));
  const isAsking = ({ until }: FileWaiter): number => (until > now ? 0 : 1);
  const kept = new Set<FileWaiter>();
  let length = 0;
  for (const waiter of sorted.toSorted((a, b) => isAsking(a) - isAsking(b) || a.since - b.since)) {
    length += JSON.stringify(shortWaiter(waiter)).length + 1;
    if (length > MAX_QUEUE_LENGTH) break;
    kept.add(waiter);
  }
  return sorted.filter((waiter) => kept.has(waiter));
}

/** The lock without a decision, and without its quota in the queue. Null: nobody has it, and nobody waits for it. */
export function withoutHolder(
  lock: FileLock,
  left: QuotaName & { readonly holder: string },
  now: EpochMs,
): FileLock | null {
  const holders = withoutLeft(lock.holders.filter(({ holder }) => holder !== left.holder));
  const queue = lock.queue.filter((waiter) => !isSameQuota(waiter, left));
  return holders.length === 0 && !queue.some(({ until }) => until > now) ? null : { holders, queue };
}

/** Who goes first: denied workloads, then the greater share of a limit, then whoever has waited for longer. */
function compareWaiters(a: FileWaiter, b: FileWaiter): number {
  if (a.denied !== b.denied) return a.denied ? -1 : 1;
  if (a.share !== b.share) return b.share - a.share;
  if (a.since !== b.since) return a.since - b.since;
  return nameOf(a) < nameOf(b) ? -1 : 1;
}

function nameOf({ namespace, quota }: QuotaName): string {
  return `${namespace}/${quota}`;
}

/**
 * What is in the way of a file; a clause.
 *
 * @param changedBy who changes it, in words; null: the file is free, and others go first.
 */
export function busyDetail(path: string, { ahead: [first] }: QueuePlace, changedBy: string | null): string {
  if (changedBy !== null) return `${path} is being changed by ${changedBy}`;
  return `${path} is free, and ${first === undefined ? 'another quota' : describeWaiter(first)} goes first`;
}

/** Since when a quota waits for a file, at which place, and until when at most; a sentence. */
export function queueDetail({ since, number, of, ownAt }: QueuePlace): string {
  const place = of === 1 ? 'alone' : `as number ${number} of ${of}`;
  return `This quota has waited for the file since ${formatInstant(since)}, ${place}; from ${formatInstant(ownAt)} on it gets a pull request of its own.`;
}

function describeWaiter(waiter: FileWaiter): string {
  const need = waiter.denied ? 'denied workloads' : 'a threshold';
  return `${nameOf(waiter)} (${need}, ${waiter.share} % of a limit)`;
}

/** The other holders and the queue as texts for annotations; null where there are none. */
export function writeFileLock({ holders, queue }: FileLock): {
  readonly others: string | null;
  readonly queue: string | null;
} {
  const others = holders.slice(1).map((holder) => ({ ...holder, at: rfc3339(holder.at) }));
  const waiters = queue.map(shortWaiter);
  return {
    others: others.length === 0 ? null : JSON.stringify(others),
    queue: waiters.length === 0 ? null : JSON.stringify(waiters),
  };
}

/** Without what `waiterSchema` assumes. */
function shortWaiter({ namespace, quota, denied, share, since, until }: FileWaiter): object {
  return {
    namespace,
    quota,
    ...(denied ? { denied } : {}),
    ...(share === 0 ? {} : { share }),
    since: rfc3339(since),
    until: rfc3339(until),
  };
}

/** Reads what `writeFileLock` has written; what cannot be read counts as absent, because it can be written again. */
export function readFileLock(
  first: LockHolder | null,
  texts: { readonly others: string | undefined; readonly queue: string | undefined },
): FileLock {
  const others = first === null ? [] : parse(texts.others, z.array(holderSchema));
  return { holders: first === null ? [] : [first, ...others], queue: parse(texts.queue, z.array(waiterSchema)) };
}

const holderSchema = z.object({
  namespace: z.string(),
  quota: z.string(),
  holder: z.string(),
  at: instant,
  joins: z.string().exactOptional(),
});

const waiterSchema = z.object({
  namespace: z.string(),
  quota: z.string(),
  denied: z.boolean().default(false),
  share: z.number().default(0),
  since: instant,
  until: instant,
});

function parse<T>(text: string | undefined, schema: z.ZodType<readonly T[]>): readonly T[] {
  return text === undefined ? [] : (readJsonText(schema, text) ?? []);
}

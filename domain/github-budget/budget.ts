/** The budget's state and what changes it. Pure: time is an argument. */
import { requireVersion } from '../kernel/carried-version.ts';
import { type EpochMs, formatInstant } from '../kernel/time.ts';
import type { Answer, Ask, Asked, Limited } from './ask.ts';
import { type BudgetLimits, longestSpan, spanOf } from './limits.ts';
import { writePriorities } from './write-priority.ts';

/** A writer that waits for a permit. */
interface WaitingWriter extends Omit<Ask, 'call'> {
  readonly since: EpochMs;
  /** The order of arrival: several may arrive in one millisecond. */
  readonly arrival: number;
  /** A writer that has not asked again by then loses its place. */
  readonly askBy: EpochMs;
}

interface Grant {
  readonly at: EpochMs;
  readonly call: string;
}

/** What a budget remembers, and carries through continue-as-new. JSON only. */
export interface BudgetState {
  readonly version: 2;
  readonly limits: BudgetLimits;
  /** The permits that still count in a window, the oldest first. */
  readonly grants: readonly Grant[];
  /** In the order of their turn. */
  readonly queue: readonly WaitingWriter[];
  readonly arrivals: number;
  /** No writes before this moment, because of GitHub's rate limit. */
  readonly limited: { readonly until: EpochMs; readonly words: string } | null;
  /** An operator's pause of all writes. */
  readonly paused: { readonly by: string; readonly reason: string; readonly at: EpochMs } | null;
}

/** The longest wait in milliseconds before asking again, so that a raised limit or the end of a pause is noticed. */
const LONGEST_WAIT_MS = 600_000;
/** How soon to ask again during a pause, in milliseconds. */
const PAUSED_WAIT_MS = 30_000;
/**
 * How late a writer may ask again, in milliseconds: the activity of a killed worker is retried after its heartbeat
 * timeout of 10 s.
 */
const LATENESS_MS = 30_000;
/** Characters of GitHub's message that are kept; every answer repeats them. */
const LONGEST_WORDS = 200;
/** Keeps the carried state far below 2 MB, at about 300 bytes per entry. */
const LONGEST_QUEUE = 2_000;

export function freshBudget(limits: BudgetLimits): BudgetState {
  return { version: 2, limits, grants: [], queue: [], arrivals: 0, limited: null, paused: null };
}

/**
 * Reads the state that the run before carried.
 *
 * @throws Error for the state of a later version: the workflow task fails, and a worker of the newer release takes it
 *   over.
 */
export function readBudget(carried: BudgetState): BudgetState {
  requireVersion('the state of a GitHub budget', carried, 2);
  return carried;
}

/**
 * Answers questions for permits. All questions are queued first, so that the most urgent of those that arrive together
 * go first. A question is granted if there are enough permits for it and for everybody before it. A writer that is told
 * to wait asks again; one that does not is removed.
 *
 * @returns an answer for each question, in the order of the questions.
 */
export function grantPermits(
  before: BudgetState,
  { asks, limits }: Asked,
  now: EpochMs,
): readonly [BudgetState, readonly Answer[]] {
  let state = pruned({ ...before, limits }, now);
  const held = reasonToHold(state);
  /** The calls that get a permit. */
  const granted = new Set<string>();
  for (const ask of asks) {
    const given = held === null ? givenAgain(state, ask, now) : null;
    if (given !== null) granted.add(ask.call);
    state = given ?? enqueued(state, ask, now);
  }

  const callOf = new Map(asks.filter(({ call }) => !granted.has(call)).map(({ id, call }) => [id, call]));
  const turnOf = turnsOfQueue(state, now);
  const grants = [...state.grants];
  const queue: WaitingWriter[] = [];
  const waits = new Map<string, { readonly position: number; readonly waitMs: number }>();
  for (const [index, entry] of state.queue.entries()) {
    const call = callOf.get(entry.id);
    const turn = turnOf[index] ?? now;
    if (call === undefined) {
      queue.push(entry);
    } else if (held === null && turn <= now) {
      for (let permit = 0; permit < permitsOf(entry, limits); permit += 1) grants.push({ at: now, call });
      granted.add(call);
    } else {
      const waitMs = state.paused === null ? Math.min(turn - now, LONGEST_WAIT_MS) : PAUSED_WAIT_MS;
      queue.push({ ...entry, askBy: now + waitMs + LATENESS_MS });
      waits.set(entry.id, { position: queue.length, waitMs });
    }
  }
  const because = held === null ? {} : { because: held };
  const answers = asks.map(({ id, call }): Answer => {
    if (granted.has(call)) return { granted: true };
    // Another attempt at the same write asked at the same moment and got the permit.
    const { position, waitMs } = waits.get(id) ?? { position: queue.length + 1, waitMs: limits.validMs };
    return { granted: false, position, of: Math.max(position, queue.length), waitMs, ...because };
  });
  return [{ ...state, grants, queue: queue.slice(0, LONGEST_QUEUE) }, answers];
}

/**
 * Gives the permit of the same call again, valid from now on, because it did not reach its caller in time. It still
 * counts in every window, so the number of permits does not change. Null when there is none.
 */
function givenAgain(state: BudgetState, { call }: Ask, now: EpochMs): BudgetState | null {
  const given = state.grants.filter((grant) => grant.call === call && now - grant.at <= state.limits.validMs);
  if (given.length === 0) return null;
  const others = state.grants.filter((grant) => !given.includes(grant));
  return { ...state, grants: [...others, ...given.map(() => ({ at: now, call }))] };
}

/**
 * Records a rate limit of GitHub: nobody writes during it. A limit that ends earlier than a known one changes nothing.
 */
export function limit(before: BudgetState, { waitMs, words }: Limited, now: EpochMs): BudgetState {
  const state = pruned(before, now);
  const until = now + Math.max(0, waitMs);
  if (until <= Math.max(now, state.limited?.until ?? 0)) return state;
  return { ...state, limited: { until, words: words.slice(0, LONGEST_WORDS) } };
}

export function pause(
  state: BudgetState,
  word: { readonly by: string; readonly reason: string },
  now: EpochMs,
): BudgetState {
  return state.paused === null ? { ...state, paused: { ...word, at: now } } : state;
}

export function resume(state: BudgetState): BudgetState {
  return { ...state, paused: null };
}

/**
 * The state without expired entries: permits that no longer count, writers that did not ask again, a limit that is
 * over.
 */
export function pruned(state: BudgetState, now: EpochMs): BudgetState {
  const oldest = now - longestSpan(state.limits);
  return {
    ...state,
    grants: state.grants.filter(({ at }) => at > oldest),
    queue: state.queue.filter(({ askBy }) => askBy > now),
    limited: state.limited !== null && state.limited.until > now ? state.limited : null,
  };
}

/**
 * When the next `count` permits can be given, in order. A pause is ignored, because its end is unknown.
 *
 * The rule: a permit given at the moment g is used in [g, g + valid]. If more than `most` were used within `ms`, the
 * first and the last of them would have been given within ms + valid. So at most `most` are given in any such span.
 */
export function turns({ grants, limits, limited }: BudgetState, now: EpochMs, count: number): readonly EpochMs[] {
  const given = grants.map(({ at }) => at);
  const found: EpochMs[] = [];
  let earliest = Math.max(now, limited?.until ?? now);
  for (let index = 0; index < count; index += 1) {
    for (const window of limits.windows) {
      const first = given.at(-window.most);
      if (first !== undefined) earliest = Math.max(earliest, first + spanOf(window, limits));
    }
    given.push(earliest);
    found.push(earliest);
  }
  return found;
}

/** When each writer of the queue has all of its permits. */
function turnsOfQueue(state: BudgetState, now: EpochMs): readonly EpochMs[] {
  const counts = state.queue.map((entry) => permitsOf(entry, state.limits));
  const all = turns(
    state,
    now,
    counts.reduce((sum, count) => sum + count, 0),
  );
  let last = -1;
  return counts.map((count) => all[(last += count)] ?? now);
}

/** A write that needs more permits than a window has would never get them. */
function permitsOf({ permits = 1 }: Pick<Ask, 'permits'>, { windows }: BudgetLimits): number {
  return Math.min(permits, ...windows.map(({ most }) => most));
}

/** How many permits count in each window now. */
export function used(state: BudgetState, now: EpochMs): readonly number[] {
  return state.limits.windows.map(
    (window) => state.grants.filter(({ at }) => at > now - spanOf(window, state.limits)).length,
  );
}

function reasonToHold({ paused, limited }: BudgetState): string | null {
  if (paused !== null) return `paused by ${paused.by}${paused.reason === '' ? '' : `: ${paused.reason}`}`;
  if (limited !== null) return `GitHub allows no writes until ${formatInstant(limited.until)}: ${limited.words}`;
  return null;
}

/**
 * The state with the question in the queue: by priority, then by arrival. A known writer keeps its arrival, even if it
 * became more urgent. The queue may then be one entry too long.
 */
function enqueued(
  state: BudgetState,
  { id, priority, target, cluster, write, permits }: Ask,
  now: EpochMs,
): BudgetState {
  const existing = state.queue.find((other) => other.id === id);
  const entry: WaitingWriter = {
    id,
    priority,
    target,
    cluster,
    write,
    ...(permits === undefined ? {} : { permits }),
    since: existing?.since ?? now,
    arrival: existing?.arrival ?? state.arrivals,
    askBy: existing?.askBy ?? now,
  };
  const queue = state.queue.filter((other) => other !== existing);
  const before = queue.findIndex((other) => isBefore(entry, other));
  return {
    ...state,
    arrivals: existing === undefined ? state.arrivals + 1 : state.arrivals,
    queue: queue.toSpliced(before < 0 ? queue.length : before, 0, entry),
  };
}

function isBefore(first: WaitingWriter, other: WaitingWriter): boolean {
  const byPriority = writePriorities.indexOf(first.priority) - writePriorities.indexOf(other.priority);
  return byPriority === 0 ? first.arrival < other.arrival : byPriority < 0;
}

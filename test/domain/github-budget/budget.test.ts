import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import type { Answer, Ask } from '../../../domain/github-budget/ask.ts';
import {
  type BudgetState,
  freshBudget,
  limit,
  pause,
  resume,
  pruned,
  grantPermits as takeAll,
  turns,
  readBudget,
  used,
} from '../../../domain/github-budget/budget.ts';
import { type BudgetLimits, budgetLimits, GITHUB_WRITES } from '../../../domain/github-budget/limits.ts';
import { type WritePriority, writePriorities } from '../../../domain/github-budget/write-priority.ts';

const T = Date.UTC(2026, 10, 20);
/** Two in ten seconds, five in a minute, and a second to use a permit in. */
const LIMITS: BudgetLimits = {
  windows: [
    { ms: 10_000, most: 2 },
    { ms: 60_000, most: 5 },
  ],
  validMs: 1_000,
  takenWithinMs: 500,
};

function ask(id: string, priority: WritePriority = 'threshold', call = `call of ${id}`): Ask {
  return { id, call, priority, target: `team-a/${id}`, cluster: 'c1', write: 'open pull request' };
}

/** One question alone. */
function grantPermits(state: BudgetState, asked: Ask, now: number, limits = LIMITS): [BudgetState, Answer] {
  const [after, [answer]] = takeAll(state, { asks: [asked], limits }, now);
  if (answer === undefined) throw new Error('there was no answer');
  return [after, answer];
}

/** Asks one after the other at the same moment; the answers by id. */
function askAll(state: BudgetState, asks: readonly Ask[], now: number): [BudgetState, Map<string, Answer>] {
  const answers = new Map<string, Answer>();
  let after = state;
  for (const asked of asks) {
    const [next, answer] = grantPermits(after, asked, now);
    after = next;
    answers.set(asked.id, answer);
  }
  return [after, answers];
}

function locationOf(answer: Answer | undefined): string {
  if (answer === undefined) throw new Error('there was no answer');
  return answer.granted ? 'granted' : `${answer.position} of ${answer.of}, ${answer.waitMs} ms`;
}

/** A budget whose permits of ten seconds are used up at T. */
function exhausted(): BudgetState {
  return askAll(freshBudget(LIMITS), [ask('used-1'), ask('used-2')], T)[0];
}

describe('a question for a permit', () => {
  it('is granted at once while there are permits', () => {
    const [, answers] = askAll(freshBudget(LIMITS), [ask('a'), ask('b'), ask('c')], T);
    expect([...answers.values()].map(locationOf)).toEqual(['granted', 'granted', '1 of 1, 11000 ms']);
  });

  it('is granted when the wait that was told is over, and not a millisecond earlier', () => {
    const [queued] = grantPermits(exhausted(), ask('a'), T);
    const [, early] = grantPermits(queued, ask('a'), T + 10_999);
    expect(locationOf(early)).toBe('1 of 1, 1 ms');
    const [after, granted] = grantPermits(queued, ask('a'), T + 11_000);
    expect(granted.granted).toBe(true);
    expect(after.queue).toEqual([]);
  });

  it('tells the wait of the hour where that is the longer one', () => {
    let state = freshBudget(LIMITS);
    for (let index = 0; index < 5; index += 1) [state] = grantPermits(state, ask(`w${index}`), T + index * 6_000);
    const [, answer] = grantPermits(state, ask('a'), T + 40_000);
    expect(locationOf(answer)).toBe('1 of 1, 21000 ms');
  });

  it('has its place by urgency first and by arrival second', () => {
    const asks = [ask('t1'), ask('d1', 'demand'), ask('a1', 'approved'), ask('t2'), ask('d2', 'demand')];
    const [state] = askAll(exhausted(), asks, T);
    expect(state.queue.map(({ id }) => id)).toEqual(['a1', 'd1', 'd2', 't1', 't2']);
    const [later, answers] = askAll(state, asks, T + 11_000);
    expect([...answers].filter(([, { granted }]) => granted).map(([id]) => id)).toEqual(['d1', 'a1']);
    expect(later.queue.map(({ id }) => id)).toEqual(['d2', 't1', 't2']);
  });

  it('of those that are asked together is granted to the most urgent', () => {
    const asks = [ask('t'), ask('d', 'demand'), ask('a', 'approved')];
    const [, answers] = takeAll(freshBudget(LIMITS), { asks, limits: LIMITS }, T);
    expect(answers.map(locationOf)).toEqual(['1 of 1, 11000 ms', 'granted', 'granted']);
  });

  it('of two attempts at the same write, asked together, is granted to one', () => {
    const asks = [ask('a', 'demand', 'first attempt'), ask('a', 'demand', 'second attempt')];
    const [state, answers] = takeAll(freshBudget(LIMITS), { asks, limits: LIMITS }, T);
    expect(answers.map(locationOf)).toEqual(['1 of 1, 1000 ms', 'granted']);
    expect(used(state, T)).toEqual([1, 1]);
  });

  it('keeps its arrival in every attempt, and also when it has become more urgent', () => {
    const [state] = askAll(exhausted(), [ask('a'), ask('b'), ask('d', 'demand')], T);
    const [again] = askAll(state, [ask('b', 'threshold', 'another attempt'), ask('a', 'demand')], T + 5_000);
    expect(again.queue.map(({ id, since }) => [id, since])).toEqual([
      ['a', T],
      ['d', T],
      ['b', T],
    ]);
  });

  it('leaves the permits to those before it, also when they come later', () => {
    const [state] = askAll(exhausted(), [ask('a'), ask('b'), ask('c')], T);
    const [, answers] = askAll(state, [ask('c'), ask('b'), ask('a')], T + 11_000);
    expect([...answers].map(([id, answer]) => `${id}: ${locationOf(answer)}`)).toEqual([
      'c: 3 of 3, 11000 ms',
      'b: granted',
      'a: granted',
    ]);
  });

  it('is forgotten when nobody asks again, so that the place of the dead is free', () => {
    const [state] = askAll(exhausted(), [ask('dead'), ask('also-dead')], T);
    // Told to wait for 11 s, and 30 s late.
    const [alive] = grantPermits(state, ask('alive'), T + 30_000);
    expect(locationOf(grantPermits(alive, ask('alive'), T + 40_999)[1])).toBe('3 of 3, 11000 ms');
    expect(locationOf(grantPermits(alive, ask('alive'), T + 41_000)[1])).toBe('granted');
  });

  it('of the same attempt gets the same permit again, counted from then on', () => {
    const [first] = grantPermits(freshBudget(LIMITS), ask('a'), T);
    const [again, answer] = grantPermits(first, ask('a'), T + 1_000);
    expect(answer.granted).toBe(true);
    expect(used(again, T + 1_000)).toEqual([1, 1]);
    expect(used(again, T + 11_500)).toEqual([1, 1]);
  });

  it('of another attempt at the same write needs another permit, because the write may have happened', () => {
    const [first] = grantPermits(freshBudget(LIMITS), ask('a'), T);
    const [second, answer] = grantPermits(first, ask('a', 'threshold', 'second attempt'), T + 500);
    expect(answer.granted).toBe(true);
    expect(used(second, T + 500)).toEqual([2, 2]);
  });

  it('of the same attempt needs another permit once the first was valid no longer', () => {
    const [first] = grantPermits(freshBudget(LIMITS), ask('a'), T);
    const [second] = grantPermits(first, ask('a'), T + 1_001);
    expect(used(second, T + 1_001)).toEqual([2, 2]);
  });

  it('changes the limits for all: the newest configuration holds', () => {
    const [state] = grantPermits(exhausted(), ask('a'), T);
    const generous = { ...LIMITS, windows: [{ ms: 10_000, most: 100 }] };
    const [after, answer] = grantPermits(state, ask('b', 'approved'), T, generous);
    expect(answer.granted).toBe(true);
    expect(after.limits).toEqual(generous);
    expect(grantPermits(after, ask('a'), T, generous)[1].granted).toBe(true);
  });

  it('is not queued behind two thousand, unless it is more urgent than the last of them', () => {
    let state = exhausted();
    for (let index = 0; index < 2_000; index += 1) [state] = grantPermits(state, ask(`w${index}`), T);
    const [full, last] = grantPermits(state, ask('one-more'), T);
    expect(last).toMatchObject({ position: 2_001, of: 2_001, waitMs: 600_000 });
    expect(full.queue.length).toBe(2_000);
    const [displaced] = grantPermits(full, ask('urgent', 'approved'), T);
    expect(displaced.queue.map(({ id }) => id).filter((id) => id === 'urgent' || id === 'w1999')).toEqual(['urgent']);
  });
});

describe('a limit of GitHub', () => {
  it('stops everybody until it is over, and tells GitHub’s words', () => {
    const state = limit(freshBudget(LIMITS), { waitMs: 60_000, words: 'secondary rate limit' }, T);
    const [queued, answer] = grantPermits(state, ask('a', 'approved'), T + 1_000);
    expect(answer).toEqual({
      granted: false,
      position: 1,
      of: 1,
      waitMs: 59_000,
      because: 'GitHub allows no writes until 2026-11-20T00:01:00Z: secondary rate limit',
    });
    expect(grantPermits(queued, ask('a', 'approved'), T + 60_000)[1].granted).toBe(true);
  });

  it('is not shortened by a later refusal that names a shorter time', () => {
    const long = limit(freshBudget(LIMITS), { waitMs: 60_000, words: 'long' }, T);
    expect(limit(long, { waitMs: 1_000, words: 'short' }, T + 1_000).limited).toEqual(long.limited);
    expect(limit(long, { waitMs: 60_000, words: 'longer' }, T + 1_000).limited?.words).toBe('longer');
  });

  it('takes back a permit that did not reach its asker yet', () => {
    const [granted] = grantPermits(freshBudget(LIMITS), ask('a'), T);
    const state = limit(granted, { waitMs: 60_000, words: 'enough' }, T + 100);
    expect(grantPermits(state, ask('a'), T + 200)[1].granted).toBe(false);
  });
});

describe('a pause by an operator', () => {
  it('stops everybody, who ask again every half a minute, until it is over', () => {
    const paused = pause(freshBudget(LIMITS), { by: 'alice', reason: 'an incident' }, T);
    const [queued, answer] = grantPermits(paused, ask('a'), T + 1_000);
    expect(answer).toEqual({
      granted: false,
      position: 1,
      of: 1,
      waitMs: 30_000,
      because: 'paused by alice: an incident',
    });
    expect(grantPermits(resume(queued), ask('a'), T + 2_000)[1].granted).toBe(true);
  });
});

describe('the carried state', () => {
  it('of a later release is refused, so that a worker of that release takes it', () => {
    const later = { ...freshBudget(LIMITS), version: 3 } as unknown as BudgetState;
    expect(() => readBudget(later)).toThrow(
      'the state of a GitHub budget has version 3: run a worker of the newer release',
    );
  });

  it('with everything that it may hold is far below what Temporal carries', () => {
    const limits = budgetLimits(GITHUB_WRITES);
    const long = { ...ask('x'.repeat(100)), target: 'y'.repeat(120) };
    let state = freshBudget(limits);
    for (let index = 0; index < 3_000; index += 1)
      [state] = grantPermits(state, { ...long, id: `${long.id}${index}` }, T, limits);
    expect(JSON.stringify(state).length).toBeLessThan(1_000_000);
  });
});

/** Askers as they are: each comes when it likes, does what it is told, is late now and then, and some die. */
interface Asker {
  readonly arrives: number;
  readonly priority: WritePriority;
  readonly lateMs: number;
  readonly diesAfter: number;
  /** Milliseconds from the grant to the use. */
  readonly usesAfter: number;
}

const windows = fc
  .uniqueArray(fc.record({ ms: fc.integer({ min: 100, max: 5_000 }), most: fc.integer({ min: 1, max: 6 }) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ ms }) => ms,
  })
  .map((list) => list.toSorted((a, b) => a.ms - b.ms));
const anyLimits = fc.record({ windows, validMs: fc.integer({ min: 1, max: 1_000 }), takenWithinMs: fc.constant(1) });
const askers = (limits: BudgetLimits) =>
  fc.array(
    fc.record({
      arrives: fc.integer({ min: 0, max: 10_000 }),
      priority: fc.constantFrom(...writePriorities),
      lateMs: fc.integer({ min: 0, max: 300 }),
      diesAfter: fc.oneof({ weight: 4, arbitrary: fc.constant(1_000_000) }, fc.integer({ min: 1, max: 3 })),
      usesAfter: fc.integer({ min: 0, max: limits.validMs }),
    }),
    { minLength: 1, maxLength: 40 },
  );
const world = anyLimits.chain((limits) => fc.record({ limits: fc.constant(limits), askers: askers(limits) }));

interface Played {
  readonly uses: readonly number[];
  readonly granted: readonly { readonly index: number; readonly at: number }[];
}

/** Plays a world to its end: everybody alive has written, in the order of their questions. */
function play({ limits, askers: all }: { limits: BudgetLimits; askers: readonly Asker[] }): Played {
  let state = freshBudget(limits);
  const uses: number[] = [];
  const granted: { index: number; at: number }[] = [];
  const due = all.map(({ arrives }, index) => ({ at: T + arrives, index, asked: 0 }));
  while (due.length > 0) {
    due.sort((a, b) => a.at - b.at);
    const next = due.shift();
    const asker = all[next?.index ?? -1];
    if (next === undefined || asker === undefined) throw new Error('nobody asks');
    const { at, index } = next;
    const [after, answer] = grantPermits(state, ask(String(index), asker.priority), at, limits);
    state = after;
    if (answer.granted) {
      uses.push(at + asker.usesAfter);
      granted.push({ index, at });
    } else if (next.asked < asker.diesAfter) {
      due.push({ at: at + answer.waitMs + asker.lateMs, index, asked: next.asked + 1 });
    }
  }
  return { uses, granted };
}

describe('whoever asks, and however late permits are used', () => {
  it('no window ever has more writes than it allows', () => {
    fc.assert(
      fc.property(world, (given) => {
        const uses = play(given).uses.toSorted((a, b) => a - b);
        for (const { ms, most } of given.limits.windows) {
          for (const [index, first] of uses.entries()) {
            const tooMany = uses[index + most];
            if (tooMany !== undefined) expect(tooMany - first).toBeGreaterThanOrEqual(ms);
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('everybody who goes on asking gets a permit', () => {
    fc.assert(
      fc.property(world, (given) => {
        const served = new Set(play(given).granted.map(({ index }) => index));
        for (const [index, { diesAfter }] of given.askers.entries()) if (diesAfter > 3) expect(served).toContain(index);
      }),
      { numRuns: 300 },
    );
  });

  it('nobody who comes on time is overtaken by somebody of the same urgency who arrived later', () => {
    // Those who are late let others go first; those who are on time do not wait for others of their own urgency.
    const onTime = world.map(({ limits, askers: all }) => ({
      limits,
      askers: all.map((asker) => ({ ...asker, priority: 'demand' as const, lateMs: 0, diesAfter: 1_000_000 })),
    }));
    fc.assert(
      fc.property(onTime, (given) => {
        const { granted } = play(given);
        const servedAt = new Map(granted.map(({ index, at }) => [index, at]));
        const arrived = given.askers.map(({ arrives }, index) => ({ arrives, at: servedAt.get(index) ?? Infinity }));
        for (const asked of arrived) {
          for (const other of arrived)
            if (asked.arrives < other.arrives) expect(asked.at).toBeLessThanOrEqual(other.at);
        }
      }),
      { numRuns: 200 },
    );
  });

  it('the turns that are told never go down, and are never sooner than a permit is free', () => {
    fc.assert(
      fc.property(anyLimits, fc.array(fc.integer({ min: 0, max: 6_000 }), { maxLength: 20 }), (limits, ago) => {
        const grants = ago.toSorted((a, b) => b - a).map((ms, index) => ({ at: T - ms, call: String(index) }));
        const state = pruned({ ...freshBudget(limits), grants }, T);
        const found = turns(state, T, 10);
        expect(found).toEqual(found.toSorted((a, b) => a - b));
        const next = grantPermits(state, ask('a'), T, limits)[1];
        expect(next.granted ? T : T + next.waitMs).toBe(found[0]);
      }),
    );
  });
});

import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import {
  type ChangeKind,
  type CoalesceState,
  idleState,
  isForgettable,
  noteChange,
  noteDuration,
  noteRecount,
} from '../../../domain/quota-usage/coalesce.ts';

const GAP_MS = 150;
/** The milliseconds after which one more recount has no gap. */
const MS_PER_CREDIT = 500;

interface Change {
  readonly at: number;
  readonly kind: ChangeKind;
}

interface Walk {
  /** The moments of the recounts. */
  readonly recounts: readonly number[];
  /** How long each change waited for its recount, with the longest that it was allowed to. */
  readonly waits: readonly { readonly waited: number; readonly allowed: number }[];
  readonly state: CoalesceState;
}

function debounceOf(kind: ChangeKind): number {
  return { moved: 0, charged: 200, urgent: 0 }[kind];
}

/**
 * Plays changes on a virtual clock, and every recount when it is due, or `late` after that as a busy process would. With
 * `forget` the state is dropped whenever it may be.
 */
function play(changes: readonly Change[], { late = 0, forget = false, from = idleState } = {}): Walk {
  let state = from;
  const recounts: number[] = [];
  const waits: { waited: number; allowed: number }[] = [];
  let waiting: { at: number; allowed: number }[] = [];
  const recountBy = (moment: number): void => {
    if (state.dueAt === null || state.dueAt + late > moment) return;
    const now = state.dueAt + late;
    waits.push(...waiting.map(({ at, allowed }) => ({ waited: now - at, allowed })));
    waiting = [];
    recounts.push(now);
    state = noteRecount(state, now);
  };
  for (const { at, kind } of changes) {
    recountBy(at);
    if (forget && isForgettable(state, at)) state = idleState;
    const gap = kind === 'urgent' ? 0 : state.gapMs;
    waiting.push({ at, allowed: Math.max(debounceOf(kind), gap) + late });
    state = noteChange(state, kind, at);
  }
  recountBy(Number.POSITIVE_INFINITY);
  return { recounts, waits, state };
}

/** So many changes, evenly over a span. */
function spread(count: number, ms: number, kind: ChangeKind = 'moved', from = 0): readonly Change[] {
  return Array.from({ length: count }, (_, index) => ({ at: from + Math.floor((index * ms) / count), kind }));
}

const longest = ({ waits }: Walk): number => Math.max(...waits.map(({ waited }) => waited));

/** Bursts and pauses of all sizes. */
const changes: fc.Arbitrary<readonly Change[]> = fc
  .array(
    fc.record({
      after: fc.oneof(
        fc.integer({ min: 0, max: 40 }),
        fc.integer({ min: 0, max: 3_000 }),
        fc.integer({ max: 60_000, min: 0 }),
      ),
      count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 60 })),
      every: fc.integer({ min: 0, max: 60 }),
      kind: fc.constantFrom<ChangeKind>('moved', 'moved', 'moved', 'charged', 'charged', 'urgent'),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((bursts) => {
    let at = 0;
    return bursts.flatMap(({ after, count, every, kind }) => {
      at += after;
      return Array.from({ length: count }, () => {
        at += every;
        return { at, kind };
      });
    });
  });

describe('the recounts of a namespace', () => {
  it('follow every change, within its settling time or the gap, whichever is longer', () => {
    fc.assert(
      fc.property(changes, fc.integer({ min: 0, max: 50 }), (all, late) => {
        const walk = play(all, { late });
        expect(walk.waits).toHaveLength(all.length);
        for (const { waited, allowed } of walk.waits) {
          expect(waited).toBeGreaterThanOrEqual(0);
          expect(waited).toBeLessThanOrEqual(allowed);
          expect(allowed).toBeLessThanOrEqual(Math.max(debounceOf('charged'), GAP_MS) + late);
        }
      }),
    );
  });

  it('are never more than the changes', () => {
    fc.assert(fc.property(changes, (all) => play(all).recounts.length <= all.length));
  });

  it('come at once after a lone change, and later where admission has charged it', () => {
    expect(play([{ at: 0, kind: 'moved' }]).recounts).toEqual([0]);
    expect(play([{ at: 0, kind: 'charged' }]).recounts).toEqual([200]);
    expect(play([{ at: 0, kind: 'urgent' }]).recounts).toEqual([0]);
  });

  it('come at once again after whatever there was, once it has been quiet for a gap', () => {
    fc.assert(
      fc.property(changes, fc.constantFrom<ChangeKind>('moved', 'charged', 'urgent'), (all, kind) => {
        const before = play(all);
        const at = (before.recounts.at(-1) ?? 0) + GAP_MS;
        const after = play([{ at, kind }], { from: before.state });
        expect(after.recounts).toEqual([at + debounceOf(kind)]);
      }),
    );
  });

  it('have no gap while there are a few of them, and after that gaps that grow', () => {
    const many = spread(42, 420);
    expect(play(many).recounts).toEqual([0, 10, 20, 30, 50, 90, 170, 170 + GAP_MS, 170 + 2 * GAP_MS]);
  });

  it('have no gap again for as many as the time since is worth', () => {
    const flood = spread(100, 1_000);
    const { recounts } = play(flood);
    const quietAt = (recounts.at(-1) ?? 0) + 2 * MS_PER_CREDIT;
    const more = Array.from({ length: 4 }, (_, index) => ({ at: quietAt + 10 * index, kind: 'moved' as const }));
    expect(play([...flood, ...more]).recounts.slice(recounts.length)).toEqual([
      quietAt,
      quietAt + 10,
      quietAt + 10 + 20,
      quietAt + 10 + 20 + 40,
    ]);
  });

  it('are not held back for what is urgent, which takes along what waits', () => {
    const flood = [...spread(1_000, 10_000), { at: 10_000, kind: 'urgent' } as const];
    expect(play(flood).recounts.at(-1)).toBe(10_000);
  });

  it('bring forward what admission charged when something else moves', () => {
    const { recounts } = play([
      { at: 0, kind: 'charged' },
      { at: 100, kind: 'moved' },
    ]);
    expect(recounts).toEqual([100]);
  });
});

describe('a thousand changes of a namespace', () => {
  it.each([
    { ms: 0, recounts: 5, wait: GAP_MS },
    { ms: 1_000, recounts: 13, wait: GAP_MS },
    { ms: 10_000, recounts: 73, wait: GAP_MS },
  ])('in $ms ms are $recounts recounts', ({ ms, recounts, wait }) => {
    const walk = play(spread(1_000, ms));
    expect(walk.recounts).toHaveLength(recounts);
    expect(longest(walk)).toBeLessThanOrEqual(wait);
  });

  it('are as few when admission has charged them', () => {
    expect(play(spread(1_000, 10_000, 'charged')).recounts).toHaveLength(50);
  });
});

describe('a namespace in which little changes', () => {
  it('is recounted after each change when there is one every two seconds, even two at a time', () => {
    const single = play(spread(500, 1_000_000));
    expect(single.recounts).toHaveLength(500);
    expect(longest(single)).toBe(0);
    const pairs = play(spread(500, 1_000_000).flatMap((change) => [change, { ...change, at: change.at + 20 }]));
    expect(pairs.recounts).toHaveLength(1_000);
    expect(longest(pairs)).toBe(0);
  });
});

describe('the state of a namespace', () => {
  it('can be forgotten whenever it says so, without any other recount', () => {
    fc.assert(
      fc.property(changes, (all) => {
        expect(play(all, { forget: true }).recounts).toEqual(play(all).recounts);
      }),
    );
  });

  it('cannot be forgotten while a change waits, or its credit is not whole', () => {
    const waiting = noteChange(idleState, 'moved', 0);
    expect(isForgettable(waiting, 1_000_000)).toBe(false);
    const recounted = noteRecount(waiting, 0);
    expect(isForgettable(recounted, MS_PER_CREDIT - 1)).toBe(false);
    expect(isForgettable(recounted, MS_PER_CREDIT)).toBe(true);
    expect(isForgettable(noteDuration(recounted, 100), MS_PER_CREDIT)).toBe(false);
    expect(isForgettable(idleState, 0)).toBe(true);
  });

  it('is JSON', () => {
    fc.assert(
      fc.property(changes, (all) => {
        const { state } = play(all);
        expect(JSON.parse(JSON.stringify(state))).toEqual(state);
      }),
    );
  });

  it('holds nothing back for longer than the gap when the clock is set back', () => {
    const { state } = play(spread(1_000, 10_000, 'moved', 1_000_000_000));
    expect(noteChange(state, 'moved', 0).dueAt).toBe(GAP_MS);
  });

  it('has a longer gap where a count takes long, so that nine tenths of the time are for others', () => {
    const recounted = noteDuration(noteRecount(noteChange(idleState, 'moved', 0), 0), 200);
    expect(noteChange(recounted, 'moved', 300).dueAt).toBe(2_000);
  });
});

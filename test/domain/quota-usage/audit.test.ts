import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import {
  audit,
  type AuditMemory,
  auditQuota,
  emptyAudit,
  LIMITS,
  wrongFor,
} from '../../../domain/quota-usage/audit.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const KEEP = 15 * MINUTE;

/** One look: what was counted of pods, what the status says, and when. */
type Sample = readonly [now: number, counted: string, says: string | null];

function observed(memory: AuditMemory, [now, counted, shown]: Sample, keepMs = KEEP): AuditMemory {
  const used = shown === null ? {} : { pods: shown };
  return audit(memory, { counted: { pods: counted }, status: { used }, now, keepMs });
}

function auditOf(...all: readonly Sample[]): AuditMemory {
  return all.reduce((memory, observation) => observed(memory, observation), emptyAudit);
}

describe('a number of a status', () => {
  it('is not stale while it equals the count, however it is written', () => {
    const memory = audit(emptyAudit, {
      counted: { memory: '1Gi', cpu: '1500m' },
      status: { used: { memory: '1073741824', cpu: '1.5' } },
      now: 0,
      keepMs: KEEP,
    });
    expect(memory.staleValues).toEqual([]);
  });

  it('is untrue when it cannot be read, and hides no other', () => {
    const hard = { memory: '1e1002', pods: '5' };
    const memory = auditQuota(
      emptyAudit,
      { spec: { hard }, status: { hard, used: { memory: '3e1005', pods: '4' } } },
      { counted: { memory: '1Gi', pods: '5' }, now: 7, keepMs: KEEP },
    );
    expect(memory.staleValues).toEqual([
      { resource: 'memory', shown: '3e1005', counted: '1Gi', since: 7 },
      { resource: 'pods', shown: '4', counted: '5', since: 7 },
    ]);
  });

  it('is untrue since the count went on without it', () => {
    const memory = auditOf([0, '5', '5'], [10 * MINUTE, '6', '5'], [11 * MINUTE, '7', '5']);
    expect(memory.staleValues).toEqual([{ resource: 'pods', shown: '5', counted: '7', since: 10 * MINUTE }]);
    expect(wrongFor(memory, 11 * MINUTE - 1, MINUTE)).toEqual([]);
    expect(wrongFor(memory, 11 * MINUTE, MINUTE)).toHaveLength(1);
  });

  it('is untrue since it was first seen when it never was the count', () => {
    const memory = auditOf([0, '5', '9'], [MINUTE, '6', '9']);
    expect(memory.staleValues).toEqual([{ resource: 'pods', shown: '9', counted: '6', since: 0 }]);
  });

  it('is untrue while there is none', () => {
    const memory = auditOf([0, '0', null], [MINUTE, '0', null]);
    expect(memory.staleValues).toEqual([{ resource: 'pods', shown: null, counted: '0', since: 0 }]);
    expect(auditOf([0, '0', null], [MINUTE, '0', '0']).staleValues).toEqual([]);
  });

  it('starts a new stale value each time: one correct status in between ends the old one', () => {
    const memory = auditOf([0, '5', '4'], [50 * SECOND, '4', '4'], [51 * SECOND, '5', '4'], [80 * SECOND, '5', '4']);
    expect(memory.staleValues).toMatchObject([{ since: 51 * SECOND }]);
  });

  it('is not stale when admission has charged an object that is counted a moment later', () => {
    const before = auditOf([0, '7', '7'], [SECOND, '6', '6'], [5 * MINUTE, '6', '7']);
    expect(wrongFor(before, 5 * MINUTE, MINUTE)).toEqual([]);
    expect(observed(before, [5 * MINUTE + 50, '7', '7']).staleValues).toEqual([]);
  });

  it('is wrong at once where the status follows by more than the time, although it moves all the while', () => {
    // One more pod every ten seconds, and a status that says so two minutes later.
    const all = Array.from({ length: 60 }, (_, at): Sample => [at * 10 * SECOND, `${at}`, `${Math.max(0, at - 12)}`]);
    const memory = auditOf(...all);
    expect(memory.staleValues).toMatchObject([{ shown: '47', counted: '59' }]);
    expect(wrongFor(memory, 590 * SECOND, MINUTE)).toHaveLength(1);
    expect(wrongFor(memory, 590 * SECOND, 3 * MINUTE)).toEqual([]);
  });

  it('is not evaluated while it cannot be counted, nor by an earlier count', () => {
    const before = auditOf([0, '5', '4'], [50 * SECOND, '5', '4']);
    const blind = audit(before, { counted: {}, status: { used: { pods: '4' } }, now: 55 * SECOND, keepMs: KEEP });
    expect(blind).toEqual(emptyAudit);
    expect(observed(blind, [2 * MINUTE, '5', '4']).staleValues).toMatchObject([{ since: 2 * MINUTE }]);
  });

  it('is nobody’s business where the quota does not count it', () => {
    const input = { counted: { pods: '1' }, status: { used: { pods: '1', secrets: '4' } }, now: 0, keepMs: KEEP };
    expect(audit(emptyAudit, input).staleValues).toEqual([]);
  });
});

const TICKS = 150;
/** Of few amounts, so that they come again. */
const truth = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: TICKS, maxLength: TICKS });
/** Mostly as long as before, so that a count stands for a while. */
const steady = fc.array(fc.record({ moves: fc.integer({ min: 0, max: 5 }), to: fc.integer({ min: 0, max: 99 }) }), {
  minLength: TICKS,
  maxLength: TICKS,
});

interface World {
  readonly counts: readonly number[];
  readonly shown: readonly number[];
}

/** A status that is, at any time, the true count of a moment between `lag` ticks before and `ahead` ticks after. */
function world(
  counts: readonly number[],
  moves: readonly { moves: number; to: number }[],
  lag: number,
  ahead: number,
): World {
  const shown: number[] = [];
  for (let at = 0; at < counts.length; at += 1) {
    const around = counts.slice(Math.max(0, at - lag), at + ahead + 1);
    const before = shown.at(-1);
    const { moves: move, to } = moves[at] ?? { moves: 0, to: 0 };
    const stays = before !== undefined && move > 0 && around.includes(before);
    shown.push(stays ? before : (around[to % around.length] ?? 0));
  }
  return { counts, shown };
}

/** Counts that stand for some ticks. */
const held = fc
  .tuple(truth, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: TICKS, maxLength: TICKS }))
  .map(([amounts, spans]) =>
    amounts.flatMap((amount, at) => Array<number>(spans[at] ?? 1).fill(amount)).slice(0, TICKS),
  );

/** Audits at every tick at which something moved, and at the others that `also` names. */
function everWrong({ counts, shown }: World, after: number, also: (at: number) => boolean, keep = 10_000): boolean {
  let memory = emptyAudit;
  return counts.some((count, at) => {
    const moved = at === 0 || count !== counts[at - 1] || shown[at] !== shown[at - 1];
    if (moved || also(at)) memory = observed(memory, [at, `${count}`, `${shown[at]}`], keep);
    return wrongFor(memory, at, after).length > 0;
  });
}

describe('a controller that keeps up', () => {
  const lags = fc.integer({ min: 0, max: 12 });
  const every = fc.integer({ min: 1, max: 20 });

  it('is never called wrong for longer than it lags', () => {
    fc.assert(
      fc.property(fc.oneof(truth, held), steady, lags, every, (counts, moves, lag, often) => {
        expect(everWrong(world(counts, moves, lag, 0), lag + 1, (at) => at % often === 0)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('is never called wrong for longer than it is late and early together', () => {
    fc.assert(
      fc.property(fc.oneof(truth, held), steady, lags, every, (counts, moves, lag, often) => {
        expect(everWrong(world(counts, moves, lag, lag), 2 * lag + 1, (at) => at % often === 0)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it('is never called wrong because too much was true to remember it all', () => {
    fc.assert(
      fc.property(steady, fc.integer({ min: 0, max: 100 }), (moves, lag) => {
        const ever = Array.from({ length: TICKS }, (_, at) => at);
        expect(everWrong(world(ever, moves, lag, 0), lag + 1, () => true)).toBe(false);
        expect(everWrong(world(ever, moves, lag, 0), lag + 1, () => true, 5)).toBe(false);
      }),
    );
  });
});

describe('a status that stands still', () => {
  it('is called wrong as soon as its number has not been true for the time, whatever there was before', () => {
    const sequence = fc.record({
      counts: held,
      moves: steady,
      lag: fc.integer({ min: 0, max: 12 }),
      after: fc.integer({ min: 1, max: 40 }),
      from: fc.integer({ min: 0, max: TICKS - 1 }),
      later: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 40, maxLength: 40 }),
    });
    fc.assert(
      fc.property(sequence, ({ counts, moves, lag, after, from, later }) => {
        const past = world(counts.slice(0, from), moves, lag, lag);
        // Nothing is the count of later on that the status says.
        const then = later.map((amount, at): Sample => [from + at, `${amount}`, '9']);
        const before = past.counts.reduce(
          (memory, count, at) => observed(memory, [at, `${count}`, `${past.shown[at]}`]),
          emptyAudit,
        );
        const memory = then.slice(0, after).reduce((all, observation) => observed(all, observation), before);
        expect(wrongFor(memory, from + after, after)).toMatchObject([{ shown: '9' }]);
        expect(wrongFor(memory, from + after - 1, after)).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  it('is called wrong for what was true once as well', () => {
    fc.assert(
      fc.property(held, fc.integer({ min: 1, max: 40 }), (counts, after) => {
        const stuck = counts[0] ?? 0;
        const shown = counts.map(() => stuck);
        const lastTrue = counts.lastIndexOf(stuck) + 1;
        const memory = counts.reduce((all, count, at) => observed(all, [at, `${count}`, `${shown[at]}`]), emptyAudit);
        const last = counts.length;
        expect(wrongFor(memory, last, after)).toHaveLength(lastTrue < last && last - lastTrue >= after ? 1 : 0);
      }),
    );
  });
});

describe('the memory of an audit', () => {
  const busy = Array.from({ length: 1_000 }, (_, at): Sample => [at, `${at}`, `${at % 7 === 0 ? at + 5 : at - 3}`]);

  it('is bounded, however much was true', () => {
    const { counts, falseNumbers } = auditOf(...busy);
    expect(counts['pods']).toHaveLength(64);
    expect(falseNumbers['pods']?.length).toBeLessThanOrEqual(64);
  });

  it('forgets what was true too long ago', () => {
    const memory = auditOf([0, '1', '1'], [1, '2', '2'], [KEEP + 2, '3', '3']);
    expect(memory.counts['pods']?.map(({ amount }) => amount)).toEqual(['3', '2']);
  });

  it('is JSON', () => {
    const memory = auditOf(...busy.slice(0, 100), [100, '1', null]);
    expect(JSON.parse(JSON.stringify(memory))).toEqual(memory);
  });
});

describe('the audit of a quota', () => {
  const quota = { spec: { hard: { pods: '5' } }, status: { hard: { pods: '5' }, used: { pods: '2' } } };
  const at = (now: number) => ({ counted: { pods: '2' }, now, keepMs: 600_000 });
  const staleValues = (over: Partial<typeof quota>) =>
    auditQuota(emptyAudit, { ...quota, ...over }, at(1_000)).staleValues;

  it('finds nothing where numbers and limits are true', () => {
    expect(staleValues({})).toEqual([]);
    expect(staleValues({ status: { hard: { pods: '5000m' }, used: { pods: '2' } } })).toEqual([]);
  });

  it('finds limits that are not those of the spec, and numbers for what is not limited any more', () => {
    const limits = [expect.objectContaining({ resource: LIMITS, since: 1_000 })];
    expect(staleValues({ status: { hard: { pods: '4' }, used: { pods: '2' } } })).toEqual(limits);
    const surplus = { hard: { pods: '5' }, used: { pods: '2', 'requests.cpu': '1' } };
    expect(staleValues({ status: surplus })).toEqual(limits);
  });
});

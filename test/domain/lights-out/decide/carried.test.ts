import { describe, expect, it } from 'vitest';
import { carriable, MOST_CARRIED } from '../../../../domain/lights-out/decide/carried.ts';
import { freshMemory, type LightsOutMemory, withPendingEvents } from '../../../../domain/lights-out/decide/memory.ts';
import { afterBatch } from '../../../../domain/lights-out/decide/run.ts';
import { MOST_UNMARKED, packUids } from '../../../../domain/lights-out/workload/unmarked.ts';
import { workloadName } from '../../../../domain/lights-out/workload/workload.ts';
import { itemOf, NOON } from '../observations.ts';

const TIMINGS = { retryMin: 15_000, retryMax: 600_000, contestedMin: 60_000, contestedMax: 3_600_000 };
const name = (index: number): string => `${index}`.padStart(240, 'w');
const workload = (index: number) => ({
  kind: 'Deployment' as const,
  namespace: `n-${index}`.padEnd(63, 'n'),
  name: name(index),
});
const item = (index: number) => itemOf('', { workload: workload(index), reason: 'DownAgain' });
const uids = (count: number): string => packUids(Array.from({ length: count }, (_, n) => `${n}`.padStart(8, '0')));

/** A night in which GitOps wakes 1,000 workloads with the longest names, 100 of them cannot be written, and as many join as are kept. */
function worst(): LightsOutMemory {
  const items = Array.from({ length: 1_000 }, (_, index) => item(index));
  const failed = items.slice(0, 100).map((each) => ({
    workload: workloadName(each.workload),
    kind: 'failed' as const,
    detail: 'e'.repeat(1_000),
  }));
  const after = afterBatch(freshMemory, items, failed, { now: NOON, timings: TIMINGS });
  const keys = items.slice(0, 60).map((each) => `ChangedByPerson ${workloadName(each.workload)} ${NOON}`);
  const events = keys.map((key) => ({
    type: 'Warning' as const,
    reason: 'MarkLost',
    message: `${key} ${'m'.repeat(300)}`,
    key,
  }));
  return {
    ...withPendingEvents(after, events),
    emitted: keys,
    unmarked: { at: NOON, uids: uids(MOST_UNMARKED) },
    joinedWorkloads: [{ at: NOON, uids: uids(1_000) }],
    joined: Object.fromEntries(items.map(({ workload: { namespace } }) => [namespace, NOON])),
  };
}

describe('what a run hands on to the next one', () => {
  it('is all of its memory, where that is small', () => {
    const memory = afterBatch(freshMemory, [item(1)], [], { now: NOON, timings: TIMINGS });
    expect(carriable(memory)).toBe(memory);
  });

  it('is never more than 100 KB, whatever a night has been', () => {
    const memory = worst();
    expect(JSON.stringify(memory).length).toBeGreaterThan(400_000);
    const carried = carriable(memory);
    expect(JSON.stringify(carried).length).toBeLessThanOrEqual(MOST_CARRIED);
    // What nobody could find again is all there.
    const { version, uid, overrides, approved, completed, savings, unmarked } = memory;
    expect(carried).toMatchObject({ version, uid, overrides, approved, completed, savings, unmarked });
    expect(carried.retry?.isMany).toBe(true);
    expect(Object.keys(carried.contested).length).toBeGreaterThan(10);
    expect(carried.emitted.at(-1)).toBe(memory.emitted.at(-1));
  });
});

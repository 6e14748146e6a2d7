import { describe, expect, it } from 'vitest';
import { freshSavings } from '../../../../domain/lights-out/decide/savings.ts';
import { freshMemory, type LightsOutMemory } from '../../../../domain/lights-out/decide/memory.ts';
import { afterBatch, completeRun, withRun } from '../../../../domain/lights-out/decide/run.ts';
import { statusOf } from '../../../../domain/lights-out/decide/status.ts';
import { down, HOUR, itemOf, observationOf, NOON, planOf, up } from '../observations.ts';

const { timings } = observationOf();
const web = itemOf('web');
const api = itemOf('api');
const failed = (name: string) => ({ workload: `Deployment team-a/${name}`, kind: 'failed', detail: 'denied' }) as const;

describe('a run', () => {
  it('counts what was done, and shows how far it has come', () => {
    const begun = withRun(freshMemory, 2, NOON);
    const halfway = afterBatch(begun, [web], [], { now: NOON + 1_000, timings });
    expect(statusOf(observationOf({ plan: planOf([web, api]) }), halfway).scalingProgress).toEqual({
      total: 2,
      completed: 1,
      failed: 0,
      inProgress: true,
    });
    // Looked at again in the middle, one more came.
    expect(withRun(halfway, 2, NOON + 2_000).run).toMatchObject({ startedAt: NOON, total: 3, down: 1 });
  });

  it('ends with an Event that says what was done, and with the moment', () => {
    const memory = afterBatch(withRun(freshMemory, 2, NOON), [web, api], [], {
      now: NOON,
      timings,
    });
    const { memory: after, events, finished } = completeRun(memory, observationOf({ at: NOON + 30_000 }), true);
    expect(events).toEqual([
      {
        type: 'Normal',
        reason: 'ScaledDown',
        message: 'Headroom put 2 workloads in 1 namespace to sleep.',
        key: `ScaledDown ${NOON}`,
      },
    ]);
    expect(finished).toEqual({ direction: 'downscale', seconds: 30 });
    expect(after).toMatchObject({
      run: null,
      completed: { state: 'Down', since: down.since },
      lastDownscale: NOON + 30_000,
      lastUpscale: null,
    });
    expect(completeRun(after, observationOf({ at: NOON + 30_000 }), true)).toMatchObject({
      events: [],
      finished: null,
      memory: after,
    });
  });

  it('is not over for the night while a pause of a namespace withholds something', () => {
    const seen = observationOf({ plan: planOf([], { total: 1, withheld: 1 }) });
    expect(completeRun(freshMemory, seen, true).memory.completed).toBeNull();
  });

  it('in which nothing had to be done is a transition all the same', () => {
    const memory: LightsOutMemory = {
      ...freshMemory,
      completed: { state: 'Down', since: down.since, at: NOON - HOUR },
    };
    expect(completeRun(memory, observationOf({ period: up }), true).memory.lastUpscale).toBe(NOON);
    expect(completeRun(memory, observationOf({ period: up }), false).memory).toMatchObject({
      lastUpscale: null,
      completed: memory.completed,
    });
  });

  it('saves from then on what was put to sleep', () => {
    const memory = afterBatch(
      withRun(freshMemory, 2, NOON),
      [web, api],
      [{ workload: 'Deployment team-a/api', kind: 'skipped' }],
      { now: NOON, timings, idle: { 'team-a': [3, 100, 0] } },
    );
    expect(memory.savings).toMatchObject({ idle: { 'team-a': [3, 100, 0] }, at: NOON });
    expect(memory.run).toMatchObject({ down: 1, skipped: 1 });
  });

  it('knows what it has written of a priority until it comes to the next, or is over', () => {
    const atNoon = { now: NOON, timings };
    const first = afterBatch(withRun(freshMemory, 3, NOON), [web], [], atNoon);
    const both = afterBatch(first, [api], [], atNoon);
    expect(both.stage).toMatchObject({ direction: 'Down', priority: 0, waitingSince: null });
    expect(both.stage?.workloads).toEqual(['Deployment team-a/web 3 -> 0', 'Deployment team-a/api 3 -> 0']);
    const database = itemOf('db', { priority: 10 });
    const next = afterBatch(both, [database], [], atNoon);
    expect(next.stage?.workloads).toEqual(['Deployment team-a/db 3 -> 0']);
    expect(completeRun(next, observationOf(), true).memory.stage).toBeNull();
  });
});

describe('the moments of the last transitions', () => {
  it('are those of transitions, and not of a scope that changed or of what GitOps woke', () => {
    const others = [itemOf('a', { direction: 'Up', reason: 'LeftScope' }), itemOf('b', { reason: 'DownAgain' })];
    const memory = afterBatch(withRun(freshMemory, 2, NOON), others, [], { now: NOON, timings });
    expect(completeRun(memory, observationOf(), true).memory).toMatchObject({ lastUpscale: null, lastDownscale: null });
  });

  it('are not moved by an autoscaler that is held again, but by one that is held with its workload', () => {
    const lastDownscale = (from: number) => {
      const memory = afterBatch(withRun(freshMemory, 1, NOON), [itemOf('web', { from })], [], { now: NOON, timings });
      return completeRun(memory, observationOf(), true).memory.lastDownscale;
    };
    expect(lastDownscale(0)).toBeNull();
    expect(lastDownscale(3)).toBe(NOON);
  });

  it('are not moved by a transition of which every write failed', () => {
    const memory: LightsOutMemory = {
      ...freshMemory,
      completed: { state: 'Up', since: up.since, at: NOON - HOUR },
      failing: { 'Deployment team-a/web': 'denied' },
    };
    expect(completeRun(memory, observationOf(), true).memory.lastDownscale).toBeNull();
  });
});

describe('a workload that cannot be written', () => {
  it('is tried again after a while that doubles, up to a limit, and forgotten as soon as it is done', () => {
    let memory: LightsOutMemory = freshMemory;
    const waits: number[] = [];
    let now = NOON;
    for (let round = 0; round < 8; round += 1) {
      memory = afterBatch(memory, [web], [failed('web')], { now, timings });
      waits.push(((memory.retry?.at ?? 0) - now) / 1_000);
      now = memory.retry?.at ?? 0;
    }
    expect(waits).toEqual([15, 30, 60, 120, 240, 480, 600, 600]);
    expect(memory.failing).toEqual({ 'Deployment team-a/web': 'denied' });
    expect(afterBatch(memory, [web], [], { now, timings }).failing).toEqual({});
  });

  it('is one of too many to be remembered from the 101st on', () => {
    const items = Array.from({ length: 101 }, (_, index) => itemOf(`web-${index}`));
    const outcomes = items.map(({ workload }) => failed(workload.name));
    const first = afterBatch(freshMemory, items.slice(0, 100), outcomes, { now: NOON, timings });
    expect(first.retry?.isMany).toBe(false);
    const both = afterBatch(first, items.slice(100), outcomes, { now: NOON + 1, timings });
    expect(both.retry).toEqual({ times: 1, at: NOON + 15_000, isMany: true, direction: 'Down' });
    expect(Object.keys(both.failing)).toHaveLength(100);
  });

  it('counts once, however many batches of one round fail', () => {
    const once = afterBatch(freshMemory, [web], [failed('web')], { now: NOON, timings });
    expect(afterBatch(once, [api], [failed('api')], { now: NOON + 1_000, timings }).retry).toEqual({
      times: 1,
      at: NOON + 15_000,
      isMany: false,
      direction: 'Down',
    });
  });
});

describe('a workload that GitOps scales up again and again', () => {
  it('is put to sleep again less and less often', () => {
    const again = itemOf('web', { reason: 'DownAgain', manager: 'argocd-controller' });
    let memory: LightsOutMemory = freshMemory;
    const rests: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      memory = afterBatch(memory, [again], [], { now: NOON, timings });
      rests.push(((memory.contested['Deployment team-a/web']?.until ?? 0) - NOON) / 60_000);
    }
    expect(rests).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
    expect(afterBatch(freshMemory, [web], [], { now: NOON, timings }).contested).toEqual({});
  });
});

describe('the status', () => {
  it('has every moment and number of a schedule', () => {
    const memory: LightsOutMemory = {
      ...freshMemory,
      lastUpscale: NOON - 12 * HOUR,
      lastDownscale: NOON - HOUR,
      approved: { by: 'alice', at: NOON },
      savings: { ...freshSavings, at: NOON, since: NOON - HOUR, namespaces: { 'team-a': [1.26, 0.5, 2] } },
      overrides: [{ kind: 'wake', namespace: 'team-a', since: NOON, until: NOON + HOUR, by: 'bob', reason: '' }],
    };
    expect(statusOf(observationOf(), memory)).toEqual({
      state: 'Down',
      stateSince: '2026-11-20T11:00:00Z',
      lastUpscaleTime: '2026-11-20T00:00:00Z',
      lastDownscaleTime: '2026-11-20T11:00:00Z',
      nextUpscaleTime: '2026-11-21T00:00:00Z',
      nextDownscaleTime: '2026-11-21T12:00:00Z',
      namespaces: ['team-a'],
      workloadStats: planOf().stats,
      overrides: [
        { kind: 'wake', namespace: 'team-a', since: '2026-11-20T12:00:00Z', until: '2026-11-20T13:00:00Z', by: 'bob' },
      ],
      savedReplicaHours: '1.3',
      savings: {
        since: '2026-11-20T11:00:00Z',
        until: '2026-11-20T12:00:00Z',
        months: [],
        namespaces: [{ namespace: 'team-a', replicaHours: '1.26', cpuCoreHours: '0.50', memoryGiBHours: '2.00' }],
      },
      approved: { by: 'alice', at: '2026-11-20T12:00:00Z' },
    });
  });

  it('of an invalid schedule is unknown', () => {
    expect(statusOf(observationOf({ period: null, inEffect: null, plan: null }), freshMemory)).toEqual({
      state: 'Unknown',
      savedReplicaHours: '0.0',
    });
  });
});

import { describe, expect, it } from 'vitest';
import { afterFailure, type NextStep, nextStep } from '../../../../domain/lights-out/decide/next-step.ts';
import { freshMemory, type LightsOutMemory } from '../../../../domain/lights-out/decide/memory.ts';
import type { LightsOutObservation } from '../../../../domain/lights-out/decide/observation.ts';
import { afterBatch, type Outcome } from '../../../../domain/lights-out/decide/run.ts';
import type { FailedWrite } from '../../../../domain/lights-out/decide/failed-write.ts';
import { HOUR, itemOf, NOON, observationOf, planOf, scheduleOf, specOf } from '../observations.ts';

type Acting = Extract<NextStep, { kind: 'act' }>;

/** The workflow of a schedule without a server: what it remembers, and `reason` of the Events that were written. */
class Played {
  memory: LightsOutMemory;
  readonly said: string[] = [];

  constructor(memory: LightsOutMemory = freshMemory) {
    this.memory = memory;
  }

  observes(seen: Partial<LightsOutObservation>): NextStep {
    const step = nextStep(this.memory, observationOf(seen));
    this.memory = step.memory;
    if (step.kind === 'act') this.#write(step.before);
    return step;
  }

  /** Observes, and has something to do or to wait for. */
  acts(seen: Partial<LightsOutObservation>): Acting['verdict'] {
    const step = this.observes(seen);
    if (step.kind !== 'act') throw new Error('everything is to be observed again');
    return step.verdict;
  }

  /** A batch of what was decided is over, with these that are not as planned. */
  wrote(verdict: Acting['verdict'], outcomes: readonly Outcome[] = []): void {
    if (verdict.kind !== 'scale') throw new Error(`there is nothing to write: ${verdict.kind}`);
    const { timings } = observationOf();
    this.memory = afterBatch(this.memory, verdict.items, outcomes, { now: NOON, timings });
  }

  failed(what: FailedWrite, why: string, seen: Partial<LightsOutObservation> = {}) {
    const failure = afterFailure(this.memory, observationOf(seen), { what, why });
    this.#write(failure.events);
    return failure;
  }

  done(step: NextStep): void {
    if (step.kind === 'act') this.#write(step.after);
  }

  #write(events: Acting['before']): void {
    this.said.push(...events.map(({ reason }) => reason));
    const emitted = [...this.memory.emitted, ...events.map(({ key }) => key)];
    this.memory = { ...this.memory, emitted, pendingEvents: [] };
  }
}

const [web, api] = [itemOf('web'), itemOf('api')];
const up = itemOf('web', { direction: 'Up', reason: 'ScheduleDeleted', from: 0, to: 3 });
const denied = { workload: 'Deployment team-a/web', kind: 'failed', detail: 'the policy freeze denied it' } as const;

describe('a night', () => {
  it('is one scaling run: begun with its first write, and said when nothing is left', () => {
    const played = new Played();
    const verdict = played.acts({ plan: planOf([web, api]) });
    expect([verdict.kind, played.memory.run?.total]).toEqual(['scale', 2]);
    played.wrote(verdict);
    const step = played.observes({ at: NOON + 4_000 });
    expect(step).toMatchObject({ finished: { direction: 'downscale', seconds: 4 }, verdict: { kind: 'wait' } });
    expect([played.said, played.memory.run]).toEqual([['ScaledDown'], null]);
  });

  it('has its status written with the result where it is one batch, and before it where it is more', () => {
    const many = Array.from({ length: 101 }, (_, index) => itemOf(`web-${index}`));
    expect(new Played().observes({ plan: planOf([web, api]) })).toMatchObject({ isStatusWritten: false });
    expect(new Played().observes({ plan: planOf(many) })).toMatchObject({ isStatusWritten: true });
    expect(new Played().observes({ plan: planOf([web, itemOf('api', { priority: 5 })]) })).toMatchObject({
      isStatusWritten: true,
    });
  });

  it.each([
    ['suspended', { schedule: scheduleOf({ spec: specOf({ suspend: true }) }) }, 'Suspended'],
    ['made a dry run', { schedule: scheduleOf({ spec: specOf({ dryRun: true }) }) }, 'DryRun'],
    ['deleted', { schedule: scheduleOf({ isDeleting: true }), plan: planOf([up]) }, 'ScheduleDeleted'],
    ['made invalid', { schedule: scheduleOf({ spec: null }), period: null, plan: null }, 'InvalidSchedule'],
  ])('that is %s in the middle of its run does that at its next observation', (_, seen, reason) => {
    const played = new Played();
    played.wrote(played.acts({ plan: planOf([web], { total: 2 }) }));
    const verdict = played.acts({ plan: planOf([api]), ...seen });
    expect(verdict.reason).toBe(reason);
    if (verdict.kind === 'scale') expect(verdict.items).toEqual([up]);
    else expect(played.memory.completed).toBeNull();
  });

  it('that is paused is not over, and goes on with its run', () => {
    const played = new Played();
    played.wrote(played.acts({ plan: planOf([web], { total: 2 }) }));
    const pause = { scope: 'controller', by: 'alice', reason: '', at: NOON } as const;
    expect(played.acts({ plan: planOf([api]), pause: pause as never }).kind).toBe('wait');
    expect([played.memory.run?.down, played.memory.completed]).toEqual([1, null]);
    expect(played.acts({ plan: planOf([api]) }).kind).toBe('scale');
    expect(played.memory.run).toMatchObject({ down: 1, total: 2 });
  });
});

describe('what cannot be written', () => {
  it('by a policy of one object is tried again later, and holds up nothing else', () => {
    const played = new Played();
    played.wrote(played.acts({ plan: planOf([web, api]) }), [denied]);
    const verdict = played.acts({ plan: planOf([web]) });
    expect(verdict).toMatchObject({ kind: 'wait', reason: 'ScalingFailed', until: NOON + 15_000 });
    expect(verdict.detail).toContain('the policy freeze denied it');
    expect(played.said).toEqual(['ScaledDown', 'ScalingFailed']);
    expect(played.acts({ at: NOON + 15_000, plan: planOf([web]) })).toMatchObject({ kind: 'scale', items: [web] });
  });

  it('as a whole batch is said once for one reason, and the run goes on', () => {
    const played = new Played();
    played.acts({ plan: planOf([web]) });
    const failure = played.failed('batch', 'deployments.apps is forbidden');
    expect(failure).toMatchObject({ reason: 'ScalingFailed', ready: { status: 'False', reason: 'ReconcileFailed' } });
    expect(failure.ready.message).toMatch(/^Workloads cannot be written: deployments\.apps is forbidden/);
    played.failed('batch', 'deployments.apps is forbidden');
    expect(played.said).toEqual(['ScalingFailed']);
    expect(played.acts({ plan: planOf([web]) }).kind).toBe('scale');
    played.failed('batch', 'the namespace is frozen');
    expect(played.said).toEqual(['ScalingFailed', 'ScalingFailed']);
  });

  it('because the finalizer is refused is not begun', () => {
    const played = new Played();
    const seen = { schedule: scheduleOf({ hasFinalizer: false }), plan: planOf([web]) };
    expect(played.acts(seen)).toMatchObject({ kind: 'finalizer', isPresent: true });
    expect(played.failed('hold', 'a policy').detail).toMatch(/^the finalizer cannot be added .*: a policy$/);
    expect(played.acts(seen).kind).toBe('finalizer');
    expect([played.memory.run, played.memory.completed, played.said]).toEqual([null, null, ['ScalingFailed']]);
  });

  it('because an approval cannot be kept is not begun', () => {
    const played = new Played({ ...freshMemory, approving: { by: 'alice', at: NOON, digest: null } });
    const seen = { schedule: scheduleOf({ spec: specOf({ requireApproval: true }) }), plan: planOf([web]) };
    expect(played.acts(seen).kind).toBe('approve');
    expect(played.failed('approval', 'configmaps is forbidden').detail).toContain('until it is, nothing of it is put');
    expect([played.acts(seen).kind, played.memory.run]).toEqual(['approve', null]);
  });

  it('holds up no wake, although what is put to sleep waits for it', () => {
    const approving = { by: 'alice', at: NOON, digest: null };
    const approved = { by: 'alice', at: 0, digest: 'd', workloads: 1 };
    const played = new Played({ ...freshMemory, approved, approving });
    const schedule = scheduleOf({ spec: specOf({ requireApproval: true }) });
    const verdict = played.acts({ schedule, plan: planOf([up, web]) });
    expect(verdict).toMatchObject({ kind: 'scale', items: [up] });
    played.wrote(verdict);
    expect(played.acts({ schedule, plan: planOf([web]) }).kind).toBe('approve');
    const suspended = scheduleOf({ spec: specOf({ requireApproval: true, suspend: true }) });
    expect(played.acts({ schedule: suspended, plan: planOf([up]) }).kind).toBe('approve');
  });
});

describe('a schedule that is deleted', () => {
  const schedule = scheduleOf({ isDeleting: true });

  it('is said to be cleaned up when its finalizer is off, and not before', () => {
    const played = new Played();
    played.wrote(played.acts({ schedule, plan: planOf([up]) }));
    const last = played.observes({ schedule });
    expect(last).toMatchObject({ verdict: { kind: 'finalizer', isPresent: false } });
    expect(played.said).toEqual(['ScaledUp']);
    expect(played.failed('release', 'a policy', { schedule })).toMatchObject({ reason: 'CleanupFailed' });
    expect(played.said).toEqual(['ScaledUp', 'CleanupPartialFailure']);
    played.done(played.observes({ schedule }));
    expect(played.said).toEqual(['ScaledUp', 'CleanupPartialFailure', 'CleanupComplete']);
  });

  it('stays while something of it cannot be woken', () => {
    const played = new Played();
    played.wrote(played.acts({ schedule, plan: planOf([up]) }), [denied]);
    expect(played.acts({ schedule, plan: planOf([up]) })).toMatchObject({ kind: 'wait', reason: 'CleanupFailed' });
    expect(played.said).toContain('CleanupPartialFailure');
  });

  it('and made again has nothing of the one before', () => {
    const memory = { ...freshMemory, uid: 'uid-0', approved: { by: 'alice', at: 0 }, failing: { x: 'y' } };
    expect(nextStep(memory, observationOf())).toEqual({ kind: 'observe', memory: freshMemory });
  });
});

describe('a workflow that was ended', () => {
  it('takes the overrides over from the status, and observes again with them', () => {
    const [since, until] = [NOON - HOUR, NOON + HOUR].map((at) => new Date(at).toISOString());
    const overrides = [{ kind: 'wake', since, until, by: 'alice' }] as never;
    const played = new Played();
    const seen = { schedule: scheduleOf({ status: { overrides } }), plan: planOf([web]) };
    expect(played.observes(seen).kind).toBe('observe');
    expect(played.memory.overrides).toHaveLength(1);
    expect(played.observes(seen).kind).toBe('act');
  });
});

import { describe, expect, it } from 'vitest';
import { WAKE_UNTIL } from '../../../../domain/lights-out/schedule/names.ts';
import type { ScheduleSpec } from '../../../../domain/lights-out/schedule/schedule.ts';
import { foresee, type Foreseen } from '../../../../domain/lights-out/workload/foresee.ts';
import type { Workload } from '../../../../domain/lights-out/workload/workload.ts';
import { asleep, changeBy, contextOf, DUSK, HOUR, namespaceOf, specOf, suspended, workloadOf } from '../planned.ts';

const MINUTE = 60_000;
const DAWN = DUSK + 12 * HOUR;

/** What is foreseen at a moment of the night of 18:00 to 06:00. */
function foreseenAt(now: number, workload: Workload, spec: Partial<ScheduleSpec> = {}): Foreseen | null {
  const contextAt = (at: number) =>
    contextOf({
      now: at,
      spec: specOf(spec),
      completedAt: null,
      period:
        at >= DUSK && at < DAWN ? { state: 'Down', since: DUSK } : { state: 'Up', since: at >= DAWN ? DAWN : null },
    });
  return foresee(workload, namespaceOf(), { now, contextAt, moments: [DUSK, DAWN] });
}

describe('a schedule foresees', () => {
  it('who sleeps within the hour', () => {
    expect(foreseenAt(DUSK - 61 * MINUTE, workloadOf())).toBeNull();
    expect(foreseenAt(DUSK - 60 * MINUTE, workloadOf())).toEqual({
      workload: { kind: 'Deployment', namespace: 'team-a', name: 'web' },
      change: 'sleeps',
      at: DUSK,
      leadMs: 10 * MINUTE,
      pods: 0,
    });
  });

  it('who was to sleep and is not yet asleep, as batches take their time', () => {
    expect(foreseenAt(DUSK + 5 * MINUTE, workloadOf())).toMatchObject({ change: 'sleeps', at: DUSK });
    expect(foreseenAt(DUSK + 60 * MINUTE, workloadOf())).toBeNull();
  });

  it('who wakes within spec.prewarm, with how many pods', () => {
    expect(foreseenAt(DAWN - 11 * MINUTE, asleep())).toBeNull();
    expect(foreseenAt(DAWN - 10 * MINUTE, asleep())).toMatchObject({ change: 'wakes', at: DAWN, pods: 3 });
    expect(foreseenAt(DAWN - 30 * MINUTE, asleep(), { prewarm: '30m' })).toMatchObject({ change: 'wakes', pods: 3 });
    expect(foreseenAt(DAWN - MINUTE, asleep(), { prewarm: '0' })).toBeNull();
  });

  it('who is woken by the end of an annotation, or is put to sleep by it', () => {
    const late = workloadOf({ annotations: { [WAKE_UNTIL]: new Date(DUSK + 3 * HOUR).toISOString() } });
    expect(foreseenAt(DUSK + 2 * HOUR - MINUTE, late)).toBeNull();
    expect(foreseenAt(DUSK + 2 * HOUR, late)).toMatchObject({ change: 'sleeps', at: DUSK + 3 * HOUR });
  });

  it('nothing of what a night keeps in part, of what a person woke, and of what has no replicas', () => {
    expect(foreseenAt(DUSK - MINUTE, workloadOf(), { downscaleReplicas: 1 })).toBeNull();
    expect(foreseenAt(DAWN - MINUTE, asleep({ replicas: 3, changed: changeBy('kubectl', DUSK + HOUR) }))).toBeNull();
    expect(foreseenAt(DAWN - MINUTE, suspended())).toBeNull();
    expect(foreseenAt(DUSK - MINUTE, workloadOf({ kind: 'CronJob' }))).toBeNull();
  });
});

import { describe, expect, it } from 'vitest';
import { shareOf } from '../../bench/lights-out-load/history.ts';
import { middleOfBatch } from '../../bench/lights-out-load/run-load.ts';
import { totalActions } from '../../bench/usage-load/temporal-actions.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { askedBy, editedAt } from '../lights-out/load/asked.ts';
import { isAwake, planPopulation } from '../lights-out/load/population.ts';
import { changesOfSpec, differences, notAsleep, type SeenWorkload } from '../lights-out/load/snapshot.ts';

const SECOND = 1_000;

function event(at: number, over: Omit<Partial<AuditEvent>, 'user'> & { readonly by?: string }): AuditEvent {
  const { by = 'headroom-worker', ...rest } = over;
  return {
    auditID: String(at),
    stage: 'ResponseComplete',
    verb: 'patch',
    requestURI: '/',
    user: { username: by },
    objectRef: { resource: 'deployments', namespace: 'a', name: 'web' },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: new Date(at).toISOString(),
    stageTimestamp: new Date(at + 10).toISOString(),
    ...rest,
  };
}

const schedule = { resource: 'lightsoutschedules', name: 'load' };
const span = { from: 10 * SECOND, to: 20 * SECOND };

describe('what the worker asked for', () => {
  it('is told by what took effect, what was refused, and what was only read', () => {
    const asked = askedBy(
      'headroom-worker',
      [
        event(11 * SECOND, {}),
        event(12 * SECOND, { responseStatus: { code: 409 } }),
        event(13 * SECOND, { objectRef: { resource: 'cronjobs', namespace: 'a', name: 'job' } }),
        event(14 * SECOND, { objectRef: { ...schedule, subresource: 'status' } }),
        event(15 * SECOND, { objectRef: schedule }),
        event(16 * SECOND, { verb: 'create', objectRef: { resource: 'events', namespace: 'default' } }),
        event(17 * SECOND, { verb: 'get' }),
        event(17 * SECOND, { verb: 'list' }),
        event(18 * SECOND, { by: 'admin' }),
        event(21 * SECOND, {}),
      ],
      span,
    );
    expect(asked).toEqual({
      written: new Map([
        ['Deployment a/web', [11_010]],
        ['CronJob a/job', [13_010]],
      ]),
      refused: { 409: 1 },
      reads: 1,
      lists: 1,
      statusWrites: [14_010],
      events: 1,
      scheduleWrites: 1,
    });
  });

  it('follows the last edit of the schedule by a person in the span', () => {
    const edit = { by: 'admin', objectRef: schedule };
    const edits = [event(9 * SECOND, edit), event(12 * SECOND, edit), event(15 * SECOND, { objectRef: schedule })];
    expect(editedAt(edits, 'load', span)).toBe(12_000);
    expect(editedAt(edits, 'other', span)).toBeNull();
  });
});

describe('the share of a span in a history', () => {
  const signal = (id: number, at: number) => ({ id, at, type: 'workflowExecutionSignaled' });

  it('counts each signal where the run began before, and all but the first where it began in it', () => {
    const history = [{ id: 1, at: 5, type: 'workflowExecutionStarted' }, signal(2, 5), signal(3, 15), signal(4, 16)];
    expect(totalActions(shareOf([history], { from: 10, to: 20 }).actions)).toBe(2);
    expect(totalActions(shareOf([history], { from: 0, to: 20 }).actions)).toBe(3);
  });

  it('has the heartbeats that an activity may have sent, and the retries of it', () => {
    const history = [
      { id: 1, at: 0, type: 'activityTaskScheduled', activity: 'ensureScaled' },
      { id: 2, at: 1_000, type: 'activityTaskStarted', scheduled: 1, attempt: 2 },
      { id: 3, at: 8_000, type: 'activityTaskCompleted', scheduled: 1 },
    ];
    const { actions, activities, heartbeats, events } = shareOf([history], { from: 0, to: 10_000 });
    expect(actions).toMatchObject({ activities: 1, 'activity retries': 1 });
    expect({ activities, heartbeats, events }).toEqual({ activities: { ensureScaled: 1 }, heartbeats: 2, events: 3 });
  });
});

describe('the load', () => {
  const population = planPopulation({ workloads: 100, namespaces: 10, seed: 1 });

  it('has all kinds in every namespace, some at rest, and is the same for the same seed', () => {
    expect(planPopulation({ workloads: 100, namespaces: 10, seed: 1 })).toEqual(population);
    expect(planPopulation({ workloads: 100, namespaces: 10, seed: 2 })).not.toEqual(population);
    const kinds = Object.groupBy(population, ({ kind }) => kind);
    expect([kinds.Deployment?.length, kinds.StatefulSet?.length, kinds.CronJob?.length]).toEqual([70, 20, 10]);
    const namespaces = Map.groupBy(population, ({ namespace }) => namespace);
    expect([...namespaces.values()].map((some) => new Set(some.map(({ kind }) => kind)).size)).toEqual(
      Array.from({ length: 10 }, () => 3),
    );
    expect(population.filter((workload) => !isAwake(workload)).length).toBeGreaterThan(5);
  });

  it('is disturbed in the middle of a batch in the middle of it', () => {
    expect(middleOfBatch(400, 25)).toBe(213);
    expect(middleOfBatch(30, 20)).toBe(10);
    expect(middleOfBatch(5, 25)).toBe(3);
  });
});

describe('a snapshot of the load', () => {
  const web: SeenWorkload = {
    uid: 'u',
    generation: 1,
    labels: { team: 'red' },
    annotations: { note: 'kept' },
    ownerReferences: [],
    finalizers: [],
    spec: { replicas: 3 },
  };
  const savedState = {
    'lightsout.techsupport.mk/original-replicas': '3',
    'lightsout.techsupport.mk/managed-by': 'night',
  };
  const before = new Map([['Deployment a/web', web]]);
  const seen = (over: Partial<SeenWorkload>) => new Map([['Deployment a/web', { ...web, ...over }]]);

  it('differs in whatever people wrote, and not in how often it was changed', () => {
    expect(differences(before, seen({ generation: 3 }))).toEqual([]);
    expect(changesOfSpec(before, seen({ generation: 3 }))).toEqual(new Map([['Deployment a/web', 2]]));
    expect(differences(before, seen({ spec: { replicas: 2 }, labels: {} }))).toEqual([
      'Deployment a/web: labels was {"team":"red"} and is {}',
      'Deployment a/web: spec was {"replicas":3} and is {"replicas":2}',
    ]);
    expect(differences(before, new Map())).toEqual(['Deployment a/web is gone']);
  });

  it('is asleep where it is down and says what it was, and nothing else changed', () => {
    const awake = new Set(['Deployment a/web']);
    const asleep = seen({ spec: { replicas: 0 }, annotations: { ...web.annotations, ...savedState } });
    expect(notAsleep(before, asleep, awake, () => 'night')).toEqual([]);
    expect(notAsleep(before, asleep, awake, () => 'other')).toHaveLength(1);
    expect(notAsleep(before, seen({ spec: { replicas: 0 } }), awake, () => 'night')).toHaveLength(1);
    expect(notAsleep(before, asleep, new Set(), () => 'night')).toHaveLength(2);
  });
});

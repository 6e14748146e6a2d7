import { describe, expect, it } from 'vitest';
import { SLEEP_UNTIL, EXCLUDE_UNTIL, WAKE_UNTIL } from '../../../domain/lights-out/schedule/names.ts';
import type { Evaluation } from '../../../domain/lights-out/workload/evaluation.ts';
import {
  attention,
  isOtherNamespace,
  isOtherWish,
  isOtherWorkload,
  scheduleNews,
} from '../../../starter/lights-out/attention.ts';
import { asleep, namespaceAs, scheduleAs, workloadAs } from './schedules.ts';

const asDesired: Evaluation = { kind: 'keep', reason: 'AsDesired' };
const byPerson: Evaluation = { kind: 'keep', reason: 'ChangedByPerson', detail: 'kubectl gave it 3 replicas' };
const down: Evaluation = {
  kind: 'change',
  item: {
    workload: { kind: 'Deployment', namespace: 'team-a', name: 'web' },
    direction: 'Down',
    reason: 'Down',
    from: 2,
    to: 0,
    priority: 0,
  },
  writes: [],
};

/** What is told of a workload that was evaluated one way and then another. */
function attentionTo(before: Evaluation | null, after: Evaluation | null, isDryRun = false): string | null {
  return attention(() => before, after, isDryRun);
}

describe('the attention of a schedule', () => {
  it('is asked for whenever something is to be done', () => {
    expect(attentionTo(null, down)).toBe('Down');
    expect(attentionTo(asDesired, down)).toBe('Down');
    expect(attentionTo(down, down)).toBe('Down');
  });

  it('is asked for when what is left alone begins, changes or ends to be worth saying', () => {
    expect(attentionTo(asDesired, byPerson)).toBe('ChangedByPerson, kubectl gave it 3 replicas');
    expect(attentionTo(byPerson, { ...byPerson, detail: 'kubectl gave it 5 replicas' })).toContain('5 replicas');
    expect(attentionTo(byPerson, asDesired)).toBe('its note no longer holds');
    expect(attentionTo(byPerson, null)).toBe('its note no longer holds');
    expect(attentionTo(null, { kind: 'keep', reason: 'Grace', until: 0 })).toBe('Grace, 1970-01-01T00:00:00.000Z');
    expect(attentionTo(down, byPerson)).toContain('ChangedByPerson');
  });

  it('is not asked for what stays as it was, for what is as desired, or for what was put to sleep just now', () => {
    expect(attentionTo(byPerson, byPerson)).toBeNull();
    expect(attentionTo(null, asDesired)).toBeNull();
    expect(attentionTo({ kind: 'keep', reason: 'AtRest' }, { kind: 'keep', reason: 'AtRest' })).toBeNull();
    expect(attentionTo(down, { ...asDesired, until: 0 })).toBeNull();
    expect(attentionTo(down, null)).toBeNull();
  });

  it('is asked for when what is at rest comes into the scope, or leaves it', () => {
    expect(attentionTo(asDesired, { kind: 'keep', reason: 'AtRest' })).toBe('it is AtRest by now');
    expect(attentionTo({ kind: 'keep', reason: 'SuspendedByUser' }, asDesired)).toBe('it is AsDesired by now');
  });

  it('is asked for in a dry run also when nothing would be done any more', () => {
    expect(attentionTo(asDesired, down, true)).toBe('Down');
    expect(attentionTo(down, asDesired, true)).toBe('it needs no change any more');
    expect(attentionTo(down, null, true)).toBe('it needs no change any more');
    expect(attentionTo(asDesired, asDesired, true)).toBeNull();
  });
});

describe('a workload', () => {
  const web = workloadAs('web');

  it('is the same whatever becomes of its pods', () => {
    expect(isOtherWorkload(web, { ...web, resourceVersion: '2', ready: 1, present: 2 })).toBe(false);
    const scaled = { ...web, changed: { manager: 'kubectl', at: null, isOnlyIt: true } };
    expect(isOtherWorkload(scaled, { ...scaled, changed: { ...scaled.changed, latest: 1 } })).toBe(false);
  });

  it('is another one when somebody wants something else of it', () => {
    expect(isOtherWorkload(web, { ...web, uid: 'other' })).toBe(true);
    expect(isOtherWorkload(web, { ...web, replicas: 5 })).toBe(true);
    expect(isOtherWorkload(web, { ...web, isSuspended: true })).toBe(true);
    expect(isOtherWorkload(web, { ...web, isDeleting: true })).toBe(true);
    expect(isOtherWorkload(web, { ...web, labels: { app: 'other' } })).toBe(true);
    expect(isOtherWorkload(web, { ...web, annotations: { [WAKE_UNTIL]: 'x' } })).toBe(true);
    expect(isOtherWorkload(web, { ...web, changed: { manager: 'kubectl', at: 1, isOnlyIt: true } })).toBe(true);
    expect(isOtherWorkload(web, { ...web, controller: { group: 'a.io', kind: 'App', name: 'x' } })).toBe(true);
    expect(isOtherWorkload(web, { ...web, deletesVolumes: true })).toBe(true);
    expect(isOtherWorkload(web, { ...web, annotationRoom: 0 })).toBe(true);
  });
});

describe('a namespace', () => {
  const team = namespaceAs('team-a');

  it('is another one with other labels or annotations, and when it is being deleted', () => {
    expect(isOtherNamespace(team, namespaceAs('team-a'))).toBe(false);
    expect(isOtherNamespace(team, { ...team, labels: { night: 'yes' } })).toBe(true);
    expect(isOtherNamespace(team, { ...team, annotations: { [SLEEP_UNTIL]: 'x' } })).toBe(true);
    expect(isOtherNamespace(team, { ...team, isDeleting: true })).toBe(true);
  });

  it('has another wish when its annotations of being awake or asleep are others', () => {
    expect(isOtherWish(undefined, team)).toBe(false);
    expect(isOtherWish(team, namespaceAs('team-a', { night: 'yes' }))).toBe(false);
    expect(isOtherWish(undefined, { ...team, annotations: { [WAKE_UNTIL]: 'x' } })).toBe(true);
    expect(isOtherWish(team, { ...team, annotations: { [EXCLUDE_UNTIL]: 'x' } })).toBe(true);
    expect(isOtherWish({ ...team, annotations: { [SLEEP_UNTIL]: 'x' } }, team)).toBe(true);
  });
});

describe('the news of a schedule', () => {
  const before = scheduleAs('night', asleep);

  it('is that it is there, was made anew, is deleted, or is written otherwise', () => {
    expect(scheduleNews(undefined, before)).toBe('the schedule is there');
    expect(scheduleNews(before, { ...before, uid: 'other' })).toBe('the schedule was made anew');
    expect(scheduleNews(before, { ...before, isDeleting: true })).toBe('the schedule is being deleted');
    expect(scheduleNews(before, { ...before, generation: 2 })).toBe('the spec of the schedule changed');
    expect(scheduleNews(before, { ...before, annotations: { [WAKE_UNTIL]: 'x' } })).toBe(
      'the annotations of the schedule changed',
    );
  });

  it('is nothing when only its status changed', () => {
    expect(scheduleNews(before, { ...before, resourceVersion: '2', status: { state: 'Down' } })).toBeNull();
  });
});

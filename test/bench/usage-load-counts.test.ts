import { describe, expect, it } from 'vitest';
import { apiCalls } from '../../bench/usage-load/api-calls.ts';
import { countersIn, grownBy } from '../../bench/usage-load/counters.ts';
import { cpuSecondsOf, cpuTime } from '../../bench/usage-load/processes.ts';
import { statusWriter, type WrittenQuota } from '../../bench/usage-load/status-writer.ts';
import { actionsOf, scaledActions, totalActions } from '../../bench/usage-load/temporal-actions.ts';
import { evenly } from '../../bench/usage-load/temporal-runs.ts';
import { stepsOf } from '../../bench/usage-load/temporal-steps.ts';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';

const start = { type: 'workflowExecutionStarted' };
const signal = { type: 'workflowExecutionSignaled' };
const task = { type: 'workflowTaskCompleted' };

describe('the billed actions of a run', () => {
  it('a start and its signal are one, each further signal is another', () => {
    const count = actionsOf([start, signal, task, signal, task]);
    expect(count).toMatchObject({ 'starts with a signal': 1, 'further signals': 1 });
    expect(totalActions(count)).toBe(2);
  });

  it('an activity is one, and each of its retries another', () => {
    const scheduled = { type: 'activityTaskScheduled' };
    const count = actionsOf([
      start,
      signal,
      scheduled,
      { type: 'activityTaskStarted', attempt: 3 },
      scheduled,
      { type: 'activityTaskStarted', attempt: 1 },
    ]);
    expect(count).toMatchObject({ activities: 2, 'activity retries': 2 });
    expect(totalActions(count)).toBe(5);
  });

  it('a run that goes on from another was paid for by that one', () => {
    const first = actionsOf([start, signal, { type: 'workflowExecutionContinuedAsNew' }]);
    const second = actionsOf([{ ...start, continued: true }, signal]);
    expect(totalActions(first)).toBe(2);
    expect(second).toMatchObject({ 'starts with a signal': 0, 'further signals': 1 });
  });

  it('timers and search attributes are one each, local activities one for each workflow task', () => {
    const local = { type: 'markerRecorded', marker: 'core_local_activity' };
    const count = actionsOf([
      start,
      { type: 'timerStarted' },
      { type: 'upsertWorkflowSearchAttributes' },
      task,
      local,
      local,
      task,
      local,
      { type: 'markerRecorded', marker: 'core_patch' },
    ]);
    expect(count).toMatchObject({ timers: 1, 'search attributes upserted': 1, markers: 3 });
  });

  it('those of a sample are scaled to all', () => {
    const actions = actionsOf([start, signal]);
    expect(scaledActions([actions, actions], 2.5)).toMatchObject({ 'starts with a signal': 5 });
  });

  it('a sample is as large as asked and spread over all', () => {
    const items = Array.from({ length: 1000 }, (_, index) => index);
    expect(evenly(items, 4)).toEqual([0, 250, 500, 750]);
    expect(evenly(items, 300)).toHaveLength(300);
    expect(evenly([1, 2], 4)).toEqual([1, 2]);
  });
});

describe('the parts of a run', () => {
  it('are the waits for a worker and the work, by activity', () => {
    const steps = stepsOf([
      { id: 1, type: 'workflowExecutionStarted', at: 0 },
      { id: 2, type: 'workflowTaskScheduled', at: 1 },
      { id: 3, type: 'workflowTaskStarted', at: 5, scheduled: 2 },
      { id: 4, type: 'workflowTaskCompleted', at: 8, scheduled: 2 },
      { id: 5, type: 'activityTaskScheduled', at: 8, activity: 'observeUsage' },
      { id: 6, type: 'activityTaskStarted', at: 20, scheduled: 5 },
      { id: 7, type: 'activityTaskCompleted', at: 50, scheduled: 5 },
    ]);
    expect(steps).toEqual([
      { name: 'run', ms: 50 },
      { name: 'workflow task, wait', ms: 4 },
      { name: 'workflow task, work', ms: 3 },
      { name: 'observeUsage, wait', ms: 12 },
      { name: 'observeUsage, work', ms: 30 },
    ]);
  });
});

describe('who wrote a status', () => {
  const owned = (manager: string, ...names: readonly string[]) => ({
    manager,
    fieldsV1: { 'f:status': { 'f:used': Object.fromEntries(names.map((name) => [`f:${name}`, {}])) } },
  });
  const before: WrittenQuota = { status: { used: { pods: '3', cpu: '1' } } };

  it('is the manager that owns a number that changed', () => {
    const after: WrittenQuota = {
      metadata: { managedFields: [owned('kube-controller-manager', 'cpu'), owned('kube-apiserver', 'pods')] },
      status: { used: { pods: '4', cpu: '1' } },
    };
    expect(statusWriter(before, after)).toBe('kube-apiserver');
  });

  it('is nobody where the numbers are the same', () => {
    expect(statusWriter(before, { ...before, metadata: { managedFields: [owned('someone', 'pods')] } })).toBeNull();
  });

  it('is unknown where nobody owns the number', () => {
    expect(statusWriter(before, { status: { used: { pods: '4', cpu: '1' } } })).toBe('unknown');
  });
});

describe('the calls of the Kubernetes API', () => {
  const event = (more: Partial<AuditEvent>): AuditEvent => ({
    auditID: '1',
    stage: 'ResponseComplete',
    verb: 'patch',
    requestURI: '/',
    user: { username: 'headroom-worker' },
    objectRef: { resource: 'resourcequotas', subresource: 'status' },
    responseStatus: { code: 200 },
    requestReceivedTimestamp: '2026-01-01T00:00:10.000000Z',
    stageTimestamp: '2026-01-01T00:00:10.000000Z',
    ...more,
  });
  const span = {
    from: Date.parse('2026-01-01T00:00:00Z'),
    to: Date.parse('2026-01-01T00:01:00Z'),
    users: ['headroom-worker', 'headroom-starter'],
  };

  it('are counted by user, verb and resource, with the answers that were no success', () => {
    const counted = apiCalls([event({}), event({ responseStatus: { code: 409 } })], span);
    expect(counted).toEqual([
      { user: 'headroom-worker', verb: 'patch', resource: 'resourcequotas/status', count: 2, others: { 409: 1 } },
    ]);
  });

  it('a watch is one, although it is told at its beginning and at its end', () => {
    const watch = { verb: 'watch', objectRef: { resource: 'deployments', apiGroup: 'apps' } };
    const counted = apiCalls([event({ ...watch, stage: 'ResponseStarted' }), event(watch)], span);
    expect(counted).toMatchObject([{ verb: 'watch', resource: 'deployments.apps', count: 1 }]);
  });

  it('those of others and of other times are left out', () => {
    const early = event({ requestReceivedTimestamp: '2025-12-31T23:59:59.000000Z' });
    expect(apiCalls([early, event({ user: { username: 'admin' } })], span)).toEqual([]);
  });
});

describe('what the machine says', () => {
  it('the CPU time of a process is read behind a name with spaces and brackets', () => {
    const fields = Array.from({ length: 40 }, (_, index) => String(index + 3));
    fields[11] = '150';
    fields[12] = '50';
    expect(cpuSecondsOf(`12 (a (b) c) ${fields.join(' ')}`)).toBe(2);
  });

  it('the time of all processors is told apart by whether they were at work', () => {
    expect(cpuTime('cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3')).toEqual({ busySeconds: 1.5, totalSeconds: 10 });
  });

  it('counters are summed over their labels, and grow', () => {
    const text =
      '# HELP x\nheadroom_usage_reconcile_requests_total{priority="2"} 3\nheadroom_usage_reconcile_requests_total{priority="3"} 4\nother 1\n';
    expect(countersIn(text, 'headroom_usage_')).toEqual({ reconcile_requests_total: 7 });
    expect(grownBy({ reconcile_requests_total: 7 }, { reconcile_requests_total: 9, recounts_total: 1 })).toEqual({
      reconcile_requests_total: 2,
      recounts_total: 1,
    });
  });
});

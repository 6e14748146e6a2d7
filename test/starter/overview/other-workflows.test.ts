import { expect, it } from 'vitest';
import { resizeAwaits } from '../../../domain/quota-resize/awaited.ts';
import { UNKNOWN, type WaitingWorkflow } from '../../../starter/kernel/waiting-workflows.ts';
import { OtherWorkflows } from '../../../starter/overview/other-workflows.ts';

const SINCE = Date.UTC(2026, 10, 28);

function workflow(target: string, phase: string, reason = 'MaxStepExceeded'): WaitingWorkflow {
  return { workflowId: `id of ${target}`, controller: 'quota-resize', target, phase, reason, since: SINCE };
}

function othersOf(listed: readonly WaitingWorkflow[] | null, trouble: string | null = null): OtherWorkflows {
  return new OtherWorkflows(
    { refresh: async () => {}, listed: () => listed, trouble },
    { 'quota-resize': { noun: 'quota', statusCommand: 'kubectl headroom status', awaits: resizeAwaits } },
  );
}

it('the page has the workflows that wait for a person, with the reason and since when, where they say it', () => {
  const others = othersOf([
    workflow('team-a/one', 'AwaitingApproval'),
    workflow('team-a/two', 'Blocked', UNKNOWN),
    workflow('team-b/three', 'Blocked', 'NoToken'),
    // A limit is no person, and what is paused is shown as a pause.
    workflow('*/budget', 'Limited'),
    workflow('team-a/four', 'Paused'),
  ]);
  expect(others.waiting(null)).toMatchObject([
    {
      what: 'quota team-a/one',
      since: SINCE,
      why: 'It is AwaitingApproval (MaxStepExceeded), until it is approved or rejected; its details say more.',
      workflow: 'id of team-a/one',
      command: 'kubectl headroom status team-a/one',
    },
    {
      what: 'quota team-a/two',
      since: null,
      why: 'It is Blocked, until what blocks it is mended; its details say more.',
    },
    { what: 'quota team-b/three' },
  ]);
  expect(others.waiting('team-b').map(({ what }) => what)).toEqual(['quota team-b/three']);
});

it('the page says where Temporal has not said which workflows wait', () => {
  expect(othersOf([]).trouble).toBeNull();
  expect(othersOf(null).trouble).toBe('Temporal has not said which workflows wait yet.');
  expect(othersOf([], 'unavailable').trouble).toBe('Temporal has not said which workflows wait: unavailable.');
});

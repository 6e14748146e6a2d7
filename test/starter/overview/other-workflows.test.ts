import { expect, it } from 'vitest';
import { resizeAwaits } from '../../../domain/quota-resize/awaited.ts';
import { UNKNOWN, type WaitingWorkflow } from '../../../starter/kernel/waiting-workflows.ts';
import { OtherWorkflows } from '../../../starter/overview/other-workflows.ts';

const SINCE = Date.UTC(2026, 10, 28);

function workflow(target: string, phase: string, reason = 'MaxStepExceeded'): WaitingWorkflow {
  return { workflowId: `id of ${target}`, controller: 'quota-resize', target, phase, reason, since: SINCE };
}

function othersOf(
  listed: readonly WaitingWorkflow[] | null,
  {
    trouble = null,
    listedAgo = listed === null ? null : 1_000,
  }: { readonly trouble?: string | null; readonly listedAgo?: number | null } = {},
): OtherWorkflows {
  return new OtherWorkflows(
    { refresh: async () => {}, listed: () => listed, listedAgo, trouble },
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

it('the page has of a namespace the workflows about something in it, and in none', () => {
  const others = othersOf(['pool-1', 'team-a/one', 'team-b/two'].map((target) => workflow(target, 'Blocked')));
  expect(others.waiting('team-a').map(({ what }) => what)).toEqual(['quota pool-1', 'quota team-a/one']);
});

it('the page says where Temporal has not said which workflows wait, and how long ago it did', () => {
  expect(othersOf([]).trouble).toBeNull();
  expect(othersOf(null).trouble).toBe('Temporal has not said yet which workflows wait.');
  expect(othersOf(null, { trouble: 'unavailable' }).trouble).toBe(
    'Temporal has not said yet which workflows wait: unavailable.',
  );
  expect(othersOf([], { trouble: 'unavailable', listedAgo: 600_000 }).trouble).toBe(
    'Temporal said 10 min ago which workflows wait, and not since: unavailable.',
  );
  expect(othersOf([], { listedAgo: 600_000 }).trouble).toBe(
    'Temporal said 10 min ago which workflows wait, and not since.',
  );
});

it('the page has 500 of them at most, and says where there are more', () => {
  const many = Array.from({ length: 501 }, (_, index) => workflow(`team-a/${index}`, 'Blocked'));
  expect(othersOf(many).waiting(null)).toHaveLength(500);
  expect(othersOf(many).trouble).toBe('More than 500 workflows wait for a person: only the first ones are here.');
  expect(othersOf(many.slice(1)).trouble).toBeNull();
});

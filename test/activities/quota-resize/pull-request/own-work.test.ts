import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import type { GuardedAction } from '../../../../activities/quota-resize/pull-request/policy-guard.ts';
import { type ForgeActivityDependencies, writesOf } from '../../../../activities/quota-resize/pull-request/own-work.ts';
import type { Decision } from '../../../../domain/quota-resize/model/decision.ts';

const target = { cluster: 'prod', namespace: 'team-a', quota: 'compute' };
const decision = {
  id: '12345678',
  changes: [],
  batchedQuotas: [{ quota: 'storage', changes: [] }],
  pullRequest: null,
} as unknown as Decision;

/** The writes of one activity; `pause` is what an operator does, `whileWaiting` what happens while the budget is asked. */
function given(action?: GuardedAction) {
  const world = { paused: new Set<string>(), written: [] as string[], whileWaiting: () => {} };
  const dependencies = {
    guard: async ({ quota }: { quota: string }) => {
      if (world.paused.has(quota)) {
        throw ApplicationFailure.create({ message: `${quota} is paused`, type: 'Paused', nonRetryable: true });
      }
    },
    policyGuard: async () => {},
    permits: { acquire: async () => world.whileWaiting() },
    log: { info: () => {}, warn: () => {} },
    forge: { repository: 'acme/gitops' },
  } as unknown as ForgeActivityDependencies;
  const writes = writesOf(dependencies, target, decision, action);
  const write = async (what: string) => await writes(what, {}, async () => world.written.push(what));
  return { world, write };
}

describe('the writes of an activity', () => {
  it('end with a pause that comes between two of them', async () => {
    const { world, write } = given('propose');
    await write('create branch');
    world.paused.add('compute');
    await expect(write('commit file')).rejects.toMatchObject({ type: 'Paused' });
    expect(world.written).toEqual(['create branch']);
  });

  it.each(['propose', 'merge'] as const)('raise no paused quota along: %s', async (action) => {
    const { world, write } = given(action);
    world.whileWaiting = () => world.paused.add('storage');
    await expect(write('merge')).rejects.toMatchObject({ type: 'PolicyChanged' });
    expect(world.written).toEqual([]);
  });

  it('go on for a pull request that is closed or commented while a quota that it raises along is paused', async () => {
    const { world, write } = given();
    world.paused.add('storage');
    await write('comment');
    expect(world.written).toEqual(['comment']);
  });
});

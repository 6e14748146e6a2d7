import type { Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { inputsOf } from '../../worker/own-cluster.ts';

/** What the activities of a worker of cluster `prod` answer to an input. */
async function answer(...args: readonly unknown[]): Promise<unknown> {
  const { inbound } = inputsOf('prod')({} as Context);
  const execute = inbound?.execute?.bind(inbound);
  if (execute === undefined) throw new Error('nothing is intercepted');
  return await execute({ args: [...args], headers: {} }, () => Promise.resolve('done'));
}

describe('an activity of a cluster', () => {
  it.each([
    ['a target of the cluster', { target: { cluster: 'prod', namespace: 'team-a', quota: 'compute' } }],
    ['the cluster', { cluster: 'prod' }],
    ['no cluster', { subject: { controller: 'lease-gc' } }],
    ['text', 'prod'],
    ['null', null],
  ])('is run with %s', async (_, input) => {
    expect(await answer(input)).toBe('done');
    expect(await answer()).toBe('done');
  });

  it.each([
    ['a target of another cluster', { target: { cluster: 'dev', namespace: 'team-a', quota: 'compute' } }],
    ['another cluster', { cluster: 'dev' }],
    ['another cluster beside a target of its own', { cluster: 'dev', target: { cluster: 'prod' } }],
    ['a target of another cluster beside the own one', { cluster: 'prod', target: { cluster: 'dev' } }],
  ])('is not run with %s', async (_, input) => {
    await expect(answer(input)).rejects.toMatchObject({
      type: 'InvalidInput',
      nonRetryable: true,
      message: 'this is a worker of the cluster prod, not of dev',
    });
  });
});

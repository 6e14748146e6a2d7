import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { waitBefore } from '../../../activities/kernel/wait-before.ts';

/** Longer than any test may take. */
const AN_HOUR = 3_600_000;

describe('a wait before an activity', () => {
  it('ends at once with its cancellation', async () => {
    const activity = new MockActivityEnvironment();
    const waiting = activity.run(async () => await waitBefore(AN_HOUR));
    activity.cancel('CANCELLED');
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is not repeated by a later attempt', async () => {
    const activity = new MockActivityEnvironment({ attempt: 2 });
    await expect(activity.run(async () => await waitBefore(AN_HOUR))).resolves.toBeUndefined();
  });
});

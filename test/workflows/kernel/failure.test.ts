import { ActivityFailure, ApplicationFailure, CancelledFailure, RetryState } from '@temporalio/common';
import { describe, expect, it } from 'vitest';
import { failedActivity, isCancelled } from '../../../workflows/kernel/failure.ts';

const lost = ApplicationFailure.create({ type: 'ForgeUnavailable', message: 'no answer from GitHub' });

function activityFailure(retryState: RetryState, cause: Error = lost): ActivityFailure {
  return new ActivityFailure('Activity task failed', 'ensurePullRequest', '1', retryState, 'worker', cause);
}

describe('an activity that was asked to end', () => {
  it('is cancelled, whether its attempt heard of that or failed with something else before', () => {
    for (const error of [
      new CancelledFailure('cancelled'),
      activityFailure(RetryState.CANCEL_REQUESTED, new CancelledFailure('cancelled')),
      activityFailure(RetryState.CANCEL_REQUESTED),
    ]) {
      expect(isCancelled(error)).toBe(true);
      expect(failedActivity(error)).toBeNull();
    }
  });
});

describe('an activity that nobody asked to end', () => {
  it('failed, with what its attempt failed with', () => {
    const error = activityFailure(RetryState.NON_RETRYABLE_FAILURE);
    expect(isCancelled(error)).toBe(false);
    expect(failedActivity(error)).toEqual({
      type: 'ForgeUnavailable',
      message: 'no answer from GitHub',
      details: [],
    });
    expect(isCancelled(new Error('a defect'))).toBe(false);
  });
});

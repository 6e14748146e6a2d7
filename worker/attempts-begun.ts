import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import { beginAttempt } from '../activities/kernel/attempt.ts';

/** Has each attempt know when it began, for those that say what they read and when. */
export const attemptsBegun: ActivityInterceptorsFactory = () => ({
  inbound: {
    async execute(input, next) {
      beginAttempt();
      return await next(input);
    },
  },
});

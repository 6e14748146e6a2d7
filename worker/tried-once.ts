import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/**
 * What runs within a workflow task is tried once: its failure does not say when to try again. The activity that is made after it does.
 */
export const triedOnce: ActivityInterceptorsFactory = ({ info }) => ({
  inbound: {
    async execute(input, next) {
      try {
        return await next(input);
      } catch (error) {
        if (!info.isLocal || !(error instanceof ApplicationFailure)) throw error;
        const { type, message, nonRetryable, details, cause, category } = error;
        throw ApplicationFailure.create({
          message,
          nonRetryable: nonRetryable === true,
          ...(type == null ? {} : { type }),
          ...(details == null ? {} : { details }),
          ...(cause === undefined ? {} : { cause }),
          ...(category == null ? {} : { category }),
        });
      }
    },
  },
});

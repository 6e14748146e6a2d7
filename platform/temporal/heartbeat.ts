import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/**
 * How often a running activity says that its worker lives, in milliseconds: three times in the heartbeat timeout that the
 * workflows set (10 s), so that two may be late on a machine under load. Most activities end before their first one.
 */
export const HEARTBEAT_INTERVAL_MS = 3_000;

/**
 * Heartbeats for every activity while it runs. Without them Temporal learns of a killed worker only by the activity's
 * whole time limit; with them another worker goes on after the heartbeat timeout. A cancellation reaches the activity by
 * the same way, so that a pause does not wait for the requests of a look.
 */
export const heartbeatWhileRunning: ActivityInterceptorsFactory = (context) => ({
  inbound: {
    async execute(input, next) {
      const beating = setInterval(() => context.heartbeat(), HEARTBEAT_INTERVAL_MS);
      try {
        return await next(input);
      } finally {
        clearInterval(beating);
      }
    },
  },
});

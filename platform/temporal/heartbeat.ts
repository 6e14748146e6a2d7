import type { ActivityInterceptorsFactory } from '@temporalio/worker';

/**
 * How often a running activity sends a heartbeat, in milliseconds: three times per heartbeat timeout of the workflows
 * (10 s), so that two may be late on a busy machine. Most activities end before their first one.
 */
export const HEARTBEAT_INTERVAL_MS = 3_000;

/**
 * Sends heartbeats for every running activity. Without them Temporal notices a killed worker only after the activity's
 * whole time limit; with them another worker takes over after the heartbeat timeout. Cancellations arrive with
 * heartbeats too, so that a pause does not wait for an observation's requests.
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

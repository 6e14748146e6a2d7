/**
 * Part of the workflow bundle that the replay test makes, beside the product's code: tells the test what a workflow asked
 * Temporal for.
 */
import { proxySinks, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { relativeTaskQueue } from './relative-task-queue.ts';
import type { TraceSinks } from './trace.ts';

const { trace } = proxySinks<TraceSinks>();

/** Called by Temporal for every workflow; it only reads, so that a replay is what it is without it. */
export const interceptors = (): WorkflowInterceptors => ({
  internals: [
    {
      concludeActivation(input, next) {
        const { commands } = next(input);
        for (const {
          scheduleActivity: activity,
          startTimer: timer,
          upsertWorkflowSearchAttributes: upsert,
        } of commands) {
          if (activity) {
            trace.activity(
              activity.activityId ?? '',
              activity.activityType ?? '',
              relativeTaskQueue(activity.taskQueue ?? '', workflowInfo().taskQueue),
            );
          } else if (timer) {
            const { seconds = 0, nanos = 0 } = timer.startToFireTimeout ?? {};
            trace.timer(String(timer.seq ?? ''), Number(seconds) * 1000 + Math.round((nanos ?? 0) / 1e6));
          } else if (upsert) {
            const fields = Object.entries(upsert.searchAttributes?.indexedFields ?? {});
            trace.searchAttributes(
              Object.fromEntries(fields.map(([name, { data }]) => [name, String.fromCharCode(...(data ?? []))])),
            );
          }
        }
        return { commands };
      },
    },
  ],
});

/**
 * An activity's task queue as it is beside that of its workflow, which has another one in a replay than it had:
 * `headroom/test/quota-resize` of a workflow on `headroom/test` is `…/quota-resize`.
 */
export function relativeTaskQueue(taskQueue: string, ofWorkflow: string): string {
  return taskQueue.startsWith(ofWorkflow) ? `…${taskQueue.slice(ofWorkflow.length)}` : taskQueue;
}

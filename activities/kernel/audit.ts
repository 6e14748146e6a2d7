/** What the audit log has of writes: which, for which workflow, and what came of it. */
import { asyncLocalStorage } from '@temporalio/activity';
import type { Logger } from 'pino';

/** Asked for without changing anything, or saying what was done: neither is a write that somebody audits. */
const NO_CHANGE = /\/(?:self)?subject\w+reviews$|\/tokenreviews$|\/events$/;

/** A request that may change something; `status` null where there was no answer. */
interface KubernetesWrite {
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
}

/** Adds the writes to the Kubernetes API to the audit log, one line each, with the status of the answer. */
export function auditKubernetesWrites(log: Pick<Logger, 'info'>): (write: KubernetesWrite) => void {
  return ({ method, url, status }) => {
    const { pathname, searchParams } = new URL(url);
    if (searchParams.has('dryRun') || NO_CHANGE.test(pathname)) return;
    const outcome = status === null ? 'no answer' : String(status);
    log.info(
      { audit: 'write', service: 'Kubernetes', ...currentWorkflow(), method, path: pathname, outcome },
      `Kubernetes: ${method} ${pathname}: ${outcome}`,
    );
  };
}

/** The workflow that the running activity is of; nothing outside of an activity. */
export function currentWorkflow(): object {
  const info = asyncLocalStorage.getStore()?.info;
  if (info === undefined) return {};
  const { workflowExecution, activityType, attempt } = info;
  return {
    workflowId: workflowExecution?.workflowId,
    runId: workflowExecution?.runId,
    activity: activityType,
    attempt,
  };
}

/** What the audit log has of writes: which, for which workflow, and what came of it. */
import { asyncLocalStorage } from '@temporalio/activity';
import type { Logger } from 'pino';

/** Questions to the API server that are asked as writes. */
const QUESTION = /\/(?:self)?subject\w*reviews$|\/tokenreviews$/;
const EVENT = /\/events$/;

/** Whether a request other than GET changes nothing by itself. */
export function changesNothing({ pathname, searchParams }: URL): boolean {
  return searchParams.has('dryRun') || QUESTION.test(pathname);
}

/** A request that may change something; `status` null where there was no answer. */
interface KubernetesWrite {
  readonly method: string;
  readonly url: string;
  readonly status: number | null;
}

/** Adds the writes to the Kubernetes API to the audit log, one line each, with the status of the answer. */
export function auditKubernetesWrites(log: Pick<Logger, 'info'>): (write: KubernetesWrite) => void {
  return ({ method, url, status }) => {
    const asked = new URL(url);
    const { pathname } = asked;
    // An Event says what was done, and is no write that somebody audits.
    if (changesNothing(asked) || EVENT.test(pathname)) return;
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

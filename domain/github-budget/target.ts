const GITHUB_BUDGET = 'github-budget/';

/** The workflow id of one credential's write budget. It names no cluster, because several may share the credential. */
export function githubBudgetId({
  host,
  credentialId,
}: {
  readonly host: string;
  readonly credentialId: string;
}): string {
  return `${GITHUB_BUDGET}${host}/${credentialId}`;
}

/** `<host>/<credential id>`, from the id of a budget. */
export function githubBudgetTarget(workflowId: string): string {
  return workflowId.startsWith(GITHUB_BUDGET) ? workflowId.slice(GITHUB_BUDGET.length) : workflowId;
}

/**
 * The task queue of the write budgets. Workers of every cluster poll it, for workflows only: a budget must not depend
 * on the cluster whose worker happened to start it.
 */
export const githubBudgetTaskQueue = 'headroom-github';

const GITHUB_BUDGET = 'github-budget/';

/**
 * Workflow id of the budget of writes to GitHub of one credential. It names no cluster, because several may share the
 * credential.
 */
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
 * Task queue of the budgets of writes to GitHub. Workers of every cluster poll it, for workflows only: a budget must not
 * stop with the cluster whose worker happened to start it.
 */
export const githubBudgetTaskQueue = 'headroom-github';

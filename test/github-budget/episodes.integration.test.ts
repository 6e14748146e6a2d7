/** Whole episodes under a small budget: what GitHub's own log shows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BudgetStatus, status } from '../../workflows/github-budget/messages.ts';
import { isRaised, namespaceFiles, press, quickTimings } from '../faults/pressed-namespaces.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';

const namespaces = Array.from({ length: 12 }, (_, index) => `team-${String(index).padStart(2, '0')}`);
/**
 * The minute of this budget. A permit is good for a sixth of it, which must be enough for the guards and the request that
 * come after the permit also when the machine is busy: in production these are 30 s.
 */
const SPAN_MS = 18_000;
const MOST = 40;
const PATIENCE_MS = 300_000;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(namespaces),
    env: {
      ...quickTimings,
      GITHUB_WRITES_PER_MINUTE: String(MOST),
      HEADROOM_GITHUB_BUDGET_MINUTE: `${SPAN_MS}ms`,
    },
    workers: 2,
  });
  await eventually('the cluster has all quotas', async () => {
    const { items } = await stack.core.listResourceQuotaForAllNamespaces();
    return items.length >= namespaces.length;
  });
});
afterAll(async () => await stack?.stop());

/** What the only budget says of itself; null while there is none. */
async function budget(): Promise<BudgetStatus | null> {
  const query = "WorkflowType = 'githubBudget' AND ExecutionStatus = 'Running'";
  for await (const { workflowId } of stack.client.workflow.list({ query })) {
    return await stack.client.workflow.getHandle(workflowId).query(status);
  }
  return null;
}

describe('twelve quotas under pressure at once, with two workers and a budget of 40 writes in 18 s', () => {
  it(
    'are all raised, and never are there more writes in any 18 s of the forge’s log',
    async () => {
      await Promise.all(namespaces.map(async (namespace) => await press(stack, namespace)));
      const waiting = await eventually('some wait for a permit', async () => {
        const queue = (await budget())?.queue ?? [];
        return queue.length > 0 ? queue : null;
      });
      expect(waiting[0]).toMatchObject({ place: 1, urgency: 'threshold', cluster: 'test' });

      await eventually(
        'all are raised',
        async () => (await Promise.all(namespaces.map(async (one) => await isRaised(stack, one)))).every(Boolean),
        PATIENCE_MS,
      );
      const moments = stack.forge.writeTimes('headroom-bot');
      const inSpan = moments.map((first) => moments.filter((at) => at >= first && at < first + SPAN_MS).length);
      process.stdout.write(
        `${moments.length} writes in ${((moments.at(-1) ?? 0) - (moments[0] ?? 0)) / 1_000} s, at most ${Math.max(...inSpan)} in ${SPAN_MS / 1_000} s\n`,
      );
      expect(moments.length).toBeGreaterThanOrEqual(namespaces.length * 4);
      expect(Math.max(...inSpan)).toBeLessThanOrEqual(MOST);
    },
    // The wait says what has not come before this ends it.
    PATIENCE_MS + 120_000,
  );
});

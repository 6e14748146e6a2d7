/** Whole episodes under a small budget: what GitHub's own log shows. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BudgetStatus, status } from '../../workflows/github-budget/messages.ts';
import { isRaised, namespaceFiles, press, quickTimings } from '../faults/pressed-namespaces.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';

const namespaces = Array.from({ length: 8 }, (_, index) => `team-${String(index).padStart(2, '0')}`);
/**
 * The minute of this budget. A permit is good for a sixth of it, which must be enough for the guards and the request that
 * come after the permit also when the machine is busy: in production these are 30 s.
 */
const SPAN_MS = 18_000;
/** Two workers write up to 36 in that time when nothing holds them, one a second each. Eight episodes write 40 at least. */
const MOST = 20;
const PATIENCE_MS = 300_000;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(namespaces),
    env: {
      ...quickTimings,
      'githubBudget.writesPerMinute': String(MOST),
      'githubBudget.minute': `${SPAN_MS}ms`,
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

async function areAllRaised(): Promise<boolean> {
  return (await Promise.all(namespaces.map(async (namespace) => await isRaised(stack, namespace)))).every(Boolean);
}

/** The most of these moments that lie in any span of this length. */
function mostIn(ms: number, moments: readonly number[]): number {
  return Math.max(...moments.map((first) => moments.filter((at) => at >= first && at < first + ms).length));
}

describe('eight quotas under pressure at once, with two workers and a budget of 20 writes in 18 s', () => {
  it(
    'are all raised, and never are there more writes in any 18 s of the forge’s log',
    async () => {
      await Promise.all(namespaces.map(async (namespace) => await press(stack, namespace)));
      const waiting = await eventually(
        'some wait for a permit',
        async () => {
          const queue = (await budget())?.queue ?? [];
          return queue.length > 0 && queue;
        },
        PATIENCE_MS,
      );
      await eventually('all are raised', areAllRaised, PATIENCE_MS);
      const moments = stack.forge.writeTimes('headroom-bot');
      process.stdout.write(
        `${moments.length} writes in ${((moments.at(-1) ?? 0) - (moments[0] ?? 0)) / 1_000} s, at most ${mostIn(SPAN_MS, moments)} in ${SPAN_MS / 1_000} s\n`,
      );
      expect(moments.length).toBeGreaterThanOrEqual(namespaces.length * 4);
      expect(mostIn(SPAN_MS, moments)).toBeLessThanOrEqual(MOST);
      expect(waiting[0]).toMatchObject({ position: 1, priority: 'threshold', cluster: 'test' });
    },
    // The waits say what has not come before this ends it.
    2 * PATIENCE_MS + 120_000,
  );
});

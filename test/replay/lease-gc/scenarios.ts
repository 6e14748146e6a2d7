/** Rounds of Lease garbage collection, to be recorded. */
import { leaseGcId } from '../../../domain/lease-gc/target.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { Stack } from '../../kernel/stack/stack.ts';
import { givenQuota } from '../../kernel/stack/watched-quota.ts';
import { withRepository } from '../platforms.ts';
import { type Scenario, type Stage, stage } from '../stages.ts';

const together: Readonly<Record<string, Scenario<Stack>>> = {
  collected: async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, synced: false });
    await quota.deploy('web', 9, { cpu: '10m' });
    await eventually('there is a Lease', async () => (await quota.lease()) !== null);
    await stack.core.deleteNamespacedResourceQuota({ namespace, name: quota.target.quota });
    await eventually('the episode is over', async () => {
      const { status } = await stack.client.workflow.getHandle(quota.workflowId).describe();
      return status.name === 'COMPLETED';
    });
    await stack.client.schedule.getHandle(leaseGcId(stack.cluster)).trigger();
    return await eventually('the round is over', async () => {
      const { info } = await stack.client.schedule.getHandle(leaseGcId(stack.cluster)).describe();
      const action = info.recentActions.at(-1)?.action;
      if (action?.type !== 'startWorkflow') return null;
      await stack.client.workflow.getHandle(action.workflow.workflowId).result();
      return { workflowId: action.workflow.workflowId, runId: action.workflow.firstExecutionRunId };
    });
  },
};

export const stages: readonly Stage[] = [stage(withRepository, { together })];

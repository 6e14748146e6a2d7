/** Resizes by counted numbers, to be recorded: Headroom runs in mode `audit` for as long as one takes. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { taskQueue } from '../../../domain/kernel/target.ts';
import type { UsageMode } from '../../../domain/quota-usage/mode.ts';
import type { quotaResize } from '../../../workflows/quota-resize/workflow.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import type { Stack } from '../../kernel/stack/stack.ts';
import { applyRightsOfUsers } from '../../kernel/stack/chart.ts';
import { givenQuota, type WatchedQuota } from '../../kernel/stack/watched-quota.ts';
import type { Scenario } from '../stages.ts';

/** One after the other, after everything else: they change how the whole stack runs. */
export const countedScenarios: Readonly<Record<string, Scenario<Stack>>> = {
  counted: async (stack, namespace) => {
    const annotations = { 'resizer.io/enabled': 'false' };
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, annotations, synced: false });
    await quota.deploy('web', 9, { cpu: '10m' });
    await eventually('Kubernetes has counted the pods', async () => (await quota.used())['pods'] === '9');
    await say(quota, '2');
    // Nobody counts at first, so nothing is decided.
    await restart(stack, 'audit', 'off');
    await quota.annotate({ 'resizer.io/enabled': null });
    const { firstExecutionRunId } = await stack.client.workflow.start<typeof quotaResize>('quotaResize', {
      workflowId: quota.workflowId,
      workflowIdConflictPolicy: 'USE_EXISTING',
      taskQueue: taskQueue(stack.cluster),
      args: [{ target: quota.target }],
    });
    await quota.reaches('Blocked', 'UsageNotCounted', 90_000);
    await restart(stack, 'audit');
    await quota.command('reconcileNow', { by: 'alice' });
    await quota.pullRequest();
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '12' });
    await quota.reaches('CoolingDown');
    await restart(stack, 'off');
    return { workflowId: quota.workflowId, runId: firstExecutionRunId };
  },
};

/** Starts worker and starter anew. */
async function restart(stack: Stack, worker: UsageMode, starter = worker): Promise<void> {
  await Promise.all(stack.processes.map(async (running) => await running.stop()));
  await applyRightsOfUsers(stack.controlPlane.adminKubeconfig, { config: { quotaUsage: { mode: starter } } });
  await Promise.all([
    stack.startWorker({ HEADROOM_USAGE_MODE: worker }),
    stack.startStarter({ HEADROOM_USAGE_MODE: starter }),
  ]);
}

/** Makes the status say another number than Kubernetes counted; its own controller does not look at a status. */
async function say({ stack, target }: WatchedQuota, pods: string): Promise<void> {
  await stack.core.patchNamespacedResourceQuotaStatus(
    { namespace: target.namespace, name: target.quota, body: { status: { used: { pods } } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

/** What is recorded of resizes: each scenario drives one episode on the real servers. */
import { taskQueue } from '../../../domain/kernel/target.ts';
import type { quotaResize } from '../../../workflows/quota-resize/workflow.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type Stack, SYSTEM_NAMESPACE } from '../../kernel/stack/stack.ts';
import { counted, givenQuota, quotaManifest, WatchedQuota } from '../../kernel/stack/watched-quota.ts';
import { withRepository } from '../platforms.ts';
import { type Scenario, type Stage, stage } from '../stages.ts';
import { answerScenarios, lonelyAnswerScenarios } from './answer-scenarios.ts';
import { countedScenarios } from './counted-scenarios.ts';
import { searchScenarios } from './search-scenarios.ts';
import { byPeople, HARD, opened, press, runOf, timesAsked } from './given.ts';

/** Scenarios that share the servers without noticing each other. */
const together: Readonly<Record<string, Scenario<Stack>>> = {
  ...answerScenarios,

  'threshold-merged': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    await press(quota);
    await quota.reaches('CoolingDown');
    const recorded = await runOf(quota);
    await quota.signal('skipCooldown', { by: 'alice', reason: 'the launch is today' });
    await quota.ends('BelowThreshold');
    return recorded;
  },

  'burst-approved': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: { 'requests.cpu': '2' } });
    await quota.deploy('web', 12, { cpu: '500m' });
    await quota.reaches('AwaitingApproval');
    await quota.command('approve', { by: 'alice', reason: 'agreed' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'approved-first': async (stack, namespace) => {
    const annotations = { 'resizer.io/approval': 'before-pull-request' };
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations });
    await press(quota);
    await quota.reaches('AwaitingApproval', 'ApprovalRequired');
    await quota.command('approve', { by: 'alice', reason: 'agreed' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'companion-left': async (stack, namespace) => {
    const freeze = { 'resizer.io/freeze-until': '2100-01-01' };
    const compute = await givenQuota(stack, { namespace, hard: { 'requests.cpu': '1' }, annotations: freeze });
    const objects = new WatchedQuota(stack, namespace, 'objects');
    const file = quotaManifest({ namespace, quota: 'objects', hard: { pods: '5' } });
    await stack.forge.pushCommit({ files: { [objects.path]: file } });
    await eventually('the second quota is there', async () => (await objects.hard())['pods'] === '5');
    await counted(objects);
    await compute.deploy('web', 6, { cpu: '200m' });
    const both = [compute, objects];
    const batchOwner = await eventually('one of them leads', () =>
      both.find((quota) => quota.pullRequests().length === 1),
    );
    await batchOwner.reaches('AwaitingMerge', 'Frozen');
    const recorded = await runOf(batchOwner);
    const batchedQuota = batchOwner === compute ? objects : compute;
    await batchedQuota.annotateQuota({ 'resizer.io/enabled': 'false' });
    // The leader looks again by itself, and a command makes it at once.
    await batchOwner.command('reconcileNow', { by: 'alice' });
    await eventually('the companion is free', async () => (await batchedQuota.lease())?.holder === null);
    await compute.annotate({ 'resizer.io/freeze-until': null });
    await batchOwner.reaches('CoolingDown');
    return recorded;
  },

  observed: async (stack, namespace) => {
    const annotations = { 'resizer.io/mode': 'observe', 'resizer.io/threshold': 'much' };
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations });
    await press(quota);
    await quota.reaches('CoolingDown');
    await quota.command('reconcileNow', { by: 'alice' });
    return await runOf(quota);
  },

  'closed-by-a-person': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number } = await quota.pullRequest();
    await stack.forge.closePullRequest(number, 'bob');
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    return await runOf(quota);
  },

  'merged-by-a-person': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { number } = await quota.pullRequest();
    await stack.forge.mergePullRequest(number, 'bob');
    await quota.reaches('CoolingDown', 'CoolingDown');
    return await runOf(quota);
  },

  'rejected-by-signal': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    await quota.signal('reject', { by: 'carol', reason: 'too expensive' });
    await quota.reaches('CoolingDown', 'PreviouslyRejected');
    return await runOf(quota);
  },

  'paused-resumed': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    // Paused while an activity is under way, so that its cancellation is in the history.
    const hold = stack.forge.hold({ method: 'POST', body: `/${namespace}/`, when: 'before' });
    await press(quota);
    await hold.held;
    await quota.command('pause', { by: 'alice', reason: 'a freeze' });
    hold.release();
    await quota.reaches('Paused');
    await quota.command('resume', { by: 'alice' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'blocked-then-found': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, file: null });
    await press(quota);
    await quota.reaches('Blocked', 'FileNotFound');
    await quota.command('reconcileNow', { by: 'alice' });
    // Each time that it is looked for, an Event says that it is not there; the second time nothing was looked up ahead.
    await eventually('its place is looked for again', async () => (await timesAsked(quota, 'ensureQuotaEvent')) >= 2);
    await stack.forge.pushCommit({ files: { [quota.path]: quotaManifest({ namespace, hard: HARD }) } });
    await quota.command('reconcileNow', { by: 'alice' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'need-grew': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const { head } = await quota.pullRequest();
    await quota.deploy('more', 4, { cpu: '10m' });
    await eventually('the pull request is updated', async () => (await quota.pullRequest()).head.sha !== head.sha);
    return await runOf(quota);
  },

  'need-gone': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const recorded = await runOf(quota);
    await quota.scale('web', 1);
    await quota.reaches('CoolingDown', 'CoolingDown');
    await quota.signal('skipCooldown', { by: 'alice', reason: 'nothing has changed' });
    await quota.ends('BelowThreshold');
    return recorded;
  },

  'quota-deleted': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: byPeople, synced: false });
    await press(quota);
    await quota.reaches('AwaitingMerge');
    const recorded = await runOf(quota);
    await stack.core.deleteNamespacedResourceQuota({ namespace, name: quota.target.quota });
    await quota.ends('QuotaGone');
    return recorded;
  },

  'deleted-before-sync': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, synced: false });
    await press(quota);
    await quota.reaches('AwaitingSync');
    const recorded = await runOf(quota);
    await stack.core.deleteNamespacedResourceQuota({ namespace, name: quota.target.quota });
    await quota.ends('QuotaGone');
    return recorded;
  },

  'opted-out': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const recorded = await runOf(quota);
    await quota.annotate({ 'resizer.io/enabled': 'false' });
    await quota.ends('OptedOut');
    return recorded;
  },

  'observing-from-now-on': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: byPeople, synced: false });
    await press(quota);
    await quota.reaches('AwaitingMerge');
    const recorded = await runOf(quota);
    await quota.annotate({ 'resizer.io/mode': 'observe' });
    await quota.reaches('AwaitingMerge', 'ObserverMode');
    await stack.core.deleteNamespacedResourceQuota({ namespace, name: quota.target.quota });
    await quota.ends('QuotaGone');
    return recorded;
  },

  'terminated-then-adopted': async (stack, namespace) => {
    const quota = await opened(stack, namespace);
    const before = await quota.runId();
    await quota.terminate();
    await quota.deploy('more', 1, { cpu: '10m' });
    await eventually('another run has taken over', async () => (await quota.runId()) !== before);
    await quota.reaches('AwaitingMerge');
    return await runOf(quota);
  },

  'already-in-git': async (stack, namespace) => {
    const raised = quotaManifest({ hard: { pods: '20' } });
    const quota = await givenQuota(stack, { namespace, hard: HARD, synced: false, file: raised });
    await press(quota);
    await quota.reaches('AwaitingSync');
    await quota.setHard({ pods: '20' });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  'lease-held': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    await quota.createLease('somebody-else');
    await press(quota);
    await quota.reaches('Blocked', 'LeaseHeld');
    const recorded = await runOf(quota);
    await quota.unlockLease();
    await quota.reaches('CoolingDown');
    return recorded;
  },

  'continued-as-new': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD, annotations: { 'resizer.io/enabled': 'false' } });
    await press(quota);
    await eventually('Kubernetes has counted the pods', async () => {
      const { status } = await stack.core.readNamespacedResourceQuota({ namespace, name: quota.target.quota });
      return status?.used?.['pods'] === '9';
    });
    await quota.annotate({ 'resizer.io/enabled': null, 'resizer.io/auto-merge': 'false' });
    // Whichever comes first, this or the starter's hint: the episode is this one.
    const handle = await stack.client.workflow.start<typeof quotaResize>('quotaResize', {
      workflowId: quota.workflowId,
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      taskQueue: taskQueue(stack.cluster),
      args: [{ target: quota.target, continueAfterEvents: 30 }],
    });
    await quota.reaches('AwaitingMerge');
    await quota.command('pause', { by: 'alice' });
    await quota.command('resume', { by: 'alice' });
    const { number } = await quota.pullRequest();
    await stack.forge.mergePullRequest(number, 'bob');
    await quota.reaches('CoolingDown', 'CoolingDown');
    return { workflowId: quota.workflowId, runId: handle.firstExecutionRunId };
  },
};

/** Scenarios that change something for everybody, one after the other. */
const alone: Readonly<Record<string, Scenario<Stack>>> = {
  ...lonelyAnswerScenarios,

  'globally-paused': async (stack, namespace) => {
    const quota = await givenQuota(stack, { namespace, hard: HARD });
    const name = 'headroom-pause';
    await stack.core.createNamespacedConfigMap({
      namespace: SYSTEM_NAMESPACE,
      body: { metadata: { name }, data: { by: 'alice', reason: 'an incident' } },
    });
    await press(quota);
    await quota.reaches('Paused', 'GloballyPaused');
    await stack.core.deleteNamespacedConfigMap({ namespace: SYSTEM_NAMESPACE, name });
    await quota.reaches('CoolingDown');
    return await runOf(quota);
  },

  ...countedScenarios,
  ...searchScenarios,
};

export const stages: readonly Stage[] = [stage(withRepository, { together, alone })];

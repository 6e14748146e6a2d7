/** Whole episodes on real servers: from pressure to the end of the cooldown. */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatInstant } from '../../domain/kernel/time.ts';
import { kindsOf, ONE_OF_EACH } from '../faults/decision-writes.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import {
  counted,
  createQuota,
  givenQuota,
  quotaManifest,
  type WatchedQuota,
  EPISODE_MS,
} from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { isDenied, deniedWhileOptedOut } from './denied.ts';
import { podsCome } from './tried-again.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: {
      ...quickAutoMerge,
      HEADROOM_GUARDRAILS: JSON.stringify([{ name: 'without a least cooldown', leastCooldown: '0' }]),
    },
  });
});
afterAll(async () => await stack?.stop());

describe.concurrent('an episode', SEVERAL_PHASES, () => {
  it('goes from a threshold that is reached to merged, synced and cooling down, and says so everywhere', async () => {
    const quota = await givenQuota(stack, { namespace: 'threshold', hard: { pods: '10' } });
    const before = await quota.inGit();
    await quota.deploy('web', 8, { cpu: '10m' });

    const cooling = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(await quota.hard()).toEqual({ pods: '12' });
    expect(await quota.inGit()).toBe(before?.replace('"10"', '"12"'));
    const shown = await quota.pullRequest();
    expect(shown).toMatchObject({
      state: 'closed',
      merged: true,
      title: 'Raise quota threshold/compute: pods 10 → 12',
      commits: 1,
      changed_files: 1,
    });
    expect(shown.body).toContain(
      '| `pods` | `8` | `10` | **`12`** | Usage is 8 of 10 pods (80 %), and the threshold is 80 %. |',
    );
    expect(await quota.branches()).toEqual([]);
    expect(await kindsOf(stack, quota.writes(), quota.workflowId)).toEqual(ONE_OF_EACH);

    const lease = await quota.lease();
    expect(lease?.holder).toBeNull();
    expect(lease?.annotations).toMatchObject({
      'resizer.io/target-cluster': 'test',
      'resizer.io/target-namespace': 'threshold',
      'resizer.io/target-quota': 'compute',
    });
    const lastModified = Date.parse(lease?.annotations['resizer.io/last-modified'] ?? '');
    expect(cooling.detail).toBe(`cooling down until ${formatInstant(lastModified + 60 * 60_000)}`);
    expect(cooling.until).toBe(formatInstant(lastModified + 60 * 60_000));
    await quota.untilAttributes({
      HeadroomController: 'quota-resize',
      HeadroomTarget: 'threshold/compute',
      HeadroomPhase: 'CoolingDown',
      HeadroomCluster: 'test',
    });
    const details = await quota.details();
    expect(details).toMatch(
      new RegExp(
        `^\\*\\*CoolingDown\\*\\* \\(CoolingDown\\) since ${cooling.since}: quota-resize of \\S+ waits for the clock, until the cooldown is over\\.\n\nCooling down until ${cooling.until} \\(in \\d+ min\\)\\.\n`,
      ),
    );

    const summaries = await quota.summaries();
    expect(summaries.run).toBe('threshold/compute in test');
    for (const text of ['pods 10 → 12', `#${shown.number}`, 'Synced', 'CoolingDown']) {
      expect(summaries.steps.join('\n')).toContain(text);
    }
    expect(summaries.steps).not.toContain('');

    expect(await quota.events('QuotaResizeRecommended')).toEqual([
      'Warning: Pods should be raised from 10 to 12. Usage is 8 of 10 pods (80 %), and the threshold is 80 %.',
    ]);
    expect(await quota.events('QuotaResizeMerged')).toEqual([
      `Normal: pods 10 → 12: pull request #${shown.number} is merged.`,
    ]);
    expect(await quota.logLines('QuotaResizeRecommended')).toMatchObject([
      {
        level: 'info',
        cluster: 'test',
        mode: 'propose',
        changes: [{ resource: 'pods', from: '10', to: '12', used: '8', demand: '0' }],
      },
    ]);
  });

  it.each([
    {
      written: 'double-quoted with a comment, CRLF, and no line end at the end',
      namespace: 'burst-crlf',
      change: (text: string) => text.replaceAll('\n', '\r\n').trimEnd(),
      from: '"2"',
      to: '"3800m"',
    },
    {
      written: 'in single quotes beside another document',
      namespace: 'burst-documents',
      change: (text: string) =>
        `kind: ConfigMap\napiVersion: v1\nmetadata: {name:   odd,  namespace: burst-documents}\n---\n${text.replaceAll('"', "'")}`,
      from: "'2'",
      to: "'3800m'",
    },
    {
      written: 'in thousandths without quotes, in flow style',
      namespace: 'burst-flow',
      change: (text: string) =>
        text.replace(/ {2}hard:\n.*\n/, '  hard: {requests.cpu: 2000m,   pods: "20"}   # both\n'),
      from: '2000m',
      to: '3800m',
    },
  ])(
    'ends with all pods after one pull request that changes one value, byte for byte: $written',
    async ({ namespace, change, from, to }) => {
      const file = change(quotaManifest({ namespace, hard: { 'requests.cpu': '2' } }));
      const quota = await givenQuota(stack, { namespace, hard: {}, file });
      await deniedWhileOptedOut(quota, 4, () => quota.deploy('web', 6, { cpu: '500m' }));

      await quota.reaches('CoolingDown', 'CoolingDown');
      await podsCome(quota, 6);
      expect(await quota.hard()).toMatchObject({ 'requests.cpu': '3800m' });
      expect(await quota.inGit()).toBe(file.replace(from, to));
      expect(quota.pullRequests()).toHaveLength(1);
      const shown = await quota.pullRequest();
      expect(shown).toMatchObject({ merged: true, commits: 1, changed_files: 1 });
      expect(shown.body).toContain('ReplicaSet web-');
      expect(shown.body).toMatch(
        /still needs (2 pods and )?1 CPU \(requests\.cpu\) for 2 replicas that the quota denied\. The last denial was at 20/,
      );
      expect(await quota.events('QuotaResizeRecommended')).toEqual([
        'Warning: requests.cpu should be raised from 2 to 3800m. Workloads still need 1 CPU that the quota denied. Usage is 2 of 2 CPU (100 %), and the threshold is 80 %.',
      ]);
    },
  );

  it('rests under pressure until the cooldown is skipped, by an update and by a signal', {
    timeout: 4 * EPISODE_MS,
  }, async () => {
    const quota = await givenQuota(stack, { namespace: 'cooldown', hard: { pods: '10' } });
    await quota.deploy('web', 8, { cpu: '10m' });
    const first = await quota.reaches('CoolingDown', 'CoolingDown');

    await quota.scale('web', 10);
    await comeTo(quota, 10);
    expect(await quota.command('reconcileNow', { by: 'alice' })).toBe('checking again now, as asked by alice');
    const pressed = await eventually('the pressure shows', async () => {
      const seen = await quota.status();
      return seen.detail.includes('still needs more') && seen;
    });
    expect(pressed).toMatchObject({
      phase: 'CoolingDown',
      until: first.until,
      detail: `cooling down until ${first.until}. The quota still needs more, and Headroom acts after the cooldown (pods 12 → 15)`,
    });
    expect(quota.pullRequests()).toHaveLength(1);

    expect(await quota.command('skipCooldown', { by: 'alice' })).toBe(
      'cooldown skipped by alice: Headroom acts on a demand now, also on one that was rejected before',
    );
    await eventually(
      'the second raise is in the cluster',
      async () => (await quota.hard())['pods'] === '15',
      EPISODE_MS,
    );
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toHaveLength(2);

    await quota.scale('web', 13);
    await comeTo(quota, 13);
    await quota.signal('skipCooldown');
    await eventually(
      'the third raise is in the cluster',
      async () => (await quota.hard())['pods'] === '18',
      EPISODE_MS,
    );
    const last = await quota.reaches('CoolingDown', 'CoolingDown');
    expect(last.lastCommand).toMatch(/skipCooldown: cooldown skipped by unknown/);
    expect(quota.pullRequests()).toHaveLength(3);
    expect(await quota.events('QuotaResizeMerged')).toHaveLength(3);
  });

  it('ignores what was denied before the last sync, and counts what is denied after it as demand', {
    timeout: 3 * EPISODE_MS,
  }, async () => {
    const quota = await givenQuota(stack, {
      namespace: 'old-news',
      hard: { 'requests.cpu': '2' },
      annotations: { 'resizer.io/cooldown-minutes': '0', 'resizer.io/max-step': '10' },
    });
    // An owner of a kind that nobody here can read: only the message says what it needs.
    const rejection =
      'Error creating: pods "job-x" is forbidden: exceeded quota: compute, requested: requests.cpu=4, used: requests.cpu=0, limited: requests.cpu=2';
    await reject(quota.target.namespace, rejection);
    const isRaised = async (cpu: string) => (await quota.hard())['requests.cpu'] === cpu;
    // Anybody who may create Events may have written it, so a person has to agree.
    await quota.reaches('AwaitingApproval', 'DemandByMessage');
    await quota.command('approve', { by: 'alice' });
    await eventually('the refusal is acted on', async () => await isRaised('5100m'), EPISODE_MS);
    expect(await quota.ends('BelowThreshold')).toBe(
      'every resource is below its threshold, and no workload needs more.',
    );
    expect(await quota.hard()).toEqual({ 'requests.cpu': '5100m' });

    // 3 are used, and the 4 of the old message would not fit any more.
    await quota.deploy('web', 6, { cpu: '500m' });
    await eventually('6 pods are there', async () => (await quota.pods()) === 6);
    const touchedAt = Date.now();
    await touchRefusal(quota.target.namespace, { metadata: { labels: { seen: 'again' } } });
    await endsAfterRequest(quota, touchedAt);
    await quota.ends('BelowThreshold');
    expect(quota.pullRequests()).toHaveLength(1);

    await touchRefusal(quota.target.namespace, { lastTimestamp: new Date(Date.now() + 1000).toISOString() });
    await quota.reaches('AwaitingApproval', 'DemandByMessage');
    await quota.command('approve', { by: 'alice' });
    await eventually('the new refusal is acted on', async () => await isRaised('9'), EPISODE_MS);
    expect(quota.pullRequests()).toHaveLength(2);
  });

  it.each([
    { since: 'deleted', namespace: 'gone-deleted' },
    { since: 'scaled down', namespace: 'gone-scaled' },
  ])('sees no demand in a denied workload that was $since', async ({ since, namespace }) => {
    const quota = await givenQuota(stack, {
      namespace,
      hard: { 'requests.cpu': '2200m' },
      annotations: { 'resizer.io/enabled': 'false', 'resizer.io/threshold': '100' },
    });
    await quota.deploy('web', 6, { cpu: '500m' });
    await eventually('pods are refused', async () => await isDenied(quota));
    if (since === 'deleted') await stack.apps.deleteNamespacedDeployment({ name: 'web', namespace });
    else await quota.scale('web', 3);
    await eventually('nothing is missing', async () => {
      const { items } = await stack.apps.listNamespacedReplicaSet({ namespace });
      return items.every(({ spec, status }) => (spec?.replicas ?? 0) === (status?.replicas ?? 0));
    });

    await quota.annotate({ 'resizer.io/enabled': null });
    await quota.ends('BelowThreshold');
    expect(await quota.events()).toEqual([]);
    expect(quota.writes()).toEqual([]);
    expect(await quota.lease()).toBeNull();
  });

  it.each([
    {
      what: 'the quota is deleted',
      namespace: 'quota-deleted',
      reason: 'QuotaGone',
      detail: /^the ResourceQuota is deleted$/,
    },
    {
      what: 'the namespace is deleted',
      namespace: 'namespace-deleted',
      reason: 'NamespaceGone',
      detail: /^the namespace is (being )?deleted$/,
    },
  ] as const)(
    'closes its pull request with a word and unlocks the Lease when $what',
    async ({ namespace, reason, detail }) => {
      const quota = await givenQuota(stack, {
        namespace,
        hard: { pods: '10' },
        synced: false,
        annotations: { 'resizer.io/auto-merge': 'false' },
      });
      await quota.deploy('web', 8, { cpu: '10m' });
      await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
      const { number } = await quota.pullRequest();
      expect((await quota.lease())?.holder).toMatch(/^headroom\/[0-9a-f]{8}$/);

      if (reason === 'NamespaceGone') await stack.core.deleteNamespace({ name: namespace });
      else await stack.core.deleteNamespacedResourceQuota({ name: 'compute', namespace });

      expect(await quota.ends(reason)).toMatch(detail);
      expect(await quota.shown(number)).toMatchObject({ state: 'closed', merged: false });
      const [comment = ''] = await quota.comments(number);
      expect(comment).toMatch(/^Closed by Headroom: the (ResourceQuota|namespace) is (being )?deleted\./);
      expect(await quota.branches()).toEqual([]);
      const lease = await quota.lease();
      expect(lease?.holder).toBeNull();
      expect(lease?.annotations).not.toHaveProperty('resizer.io/refusals');
    },
  );

  it('leaves the pull request of a quota behind that was replaced by another of its name, and begins anew after the cooldown', async () => {
    const hard = { pods: '10' };
    const quota = await givenQuota(stack, {
      namespace: 'quota-replaced',
      hard,
      synced: false,
      annotations: { 'resizer.io/auto-merge': 'false' },
    });
    await quota.deploy('web', 8, { cpu: '10m' });
    await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { number } = await quota.pullRequest();
    const firstRun = stack.client.workflow.getHandle(quota.workflowId, await quota.runId());

    // Paused, so that it does not see the moment in between.
    await quota.command('pause');
    await stack.core.deleteNamespacedResourceQuota({ name: 'compute', namespace: 'quota-replaced' });
    await createQuota(stack, { namespace: 'quota-replaced', hard });
    await counted(quota);
    await quota.command('resume');

    await eventually(
      'the first pull request is closed',
      async () => (await quota.shown(number)).state === 'closed',
      EPISODE_MS,
    );
    expect((await quota.comments(number))[0]).toContain(
      'Closed by Headroom: the ResourceQuota was deleted and a new one has its name.',
    );
    const ended = await eventually('the first run is over', async () => await firstRun.result(), EPISODE_MS);
    expect(ended).toMatchObject({ reason: 'QuotaReplaced' });
    // The hints of the new quota may have gone to the run that ended; the next change hints again.
    await quota.scale('web', 9);
    await quota.reaches('CoolingDown', 'CoolingDown');
    expect(quota.pullRequests()).toEqual([number]);
    await quota.command('skipCooldown');
    const { decision } = await quota.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const { metadata } = await stack.core.readNamespacedResourceQuota({ name: 'compute', namespace: 'quota-replaced' });
    expect(decision?.quotaUid).toBe(metadata?.uid);
    expect(quota.pullRequests()).toHaveLength(2);
  });
});

/** Waits until so many pods are there and the quota says so: in a cooldown nobody looks again when it says so later. */
async function comeTo(quota: WatchedQuota, pods: number): Promise<void> {
  await eventually(`${pods} pods are there and counted`, async () => {
    return (await quota.pods()) === pods && (await quota.used())['pods'] === String(pods);
  });
}

/**
 * Waits until an episode is over that got a reconcile request after a moment: a new one, or one that the raised limit
 * itself had begun a moment before and that observed once more.
 */
async function endsAfterRequest({ workflowId }: WatchedQuota, since: number): Promise<void> {
  await eventually('an episode that got a reconcile request is over', async () => {
    const handle = stack.client.workflow.getHandle(workflowId);
    const { status } = await handle.describe();
    const { events } = await handle.fetchHistory();
    const requests = (events ?? []).filter((event) => event.workflowExecutionSignaledEventAttributes);
    return (
      status.name === 'COMPLETED' &&
      requests.some(({ eventTime }) => Number(eventTime?.seconds) * 1000 + (eventTime?.nanos ?? 0) / 1e6 >= since)
    );
  });
}

/** An Event on an owner of a kind that Headroom does not know, as its controller would write it. */
async function reject(namespace: string, message: string): Promise<void> {
  const now = new Date();
  await stack.core.createNamespacedEvent({
    namespace,
    body: {
      metadata: { name: 'refused', namespace },
      involvedObject: {
        apiVersion: 'batch.example.com/v1',
        kind: 'Simulation',
        name: 'job',
        namespace,
        uid: 'a-simulation',
      },
      type: 'Warning',
      reason: 'FailedCreate',
      message,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    },
  });
}

async function touchRefusal(namespace: string, body: object): Promise<void> {
  await stack.core.patchNamespacedEvent(
    { name: 'refused', namespace, body },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

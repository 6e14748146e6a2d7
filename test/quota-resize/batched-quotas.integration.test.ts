/** Several quotas of a namespace, one workload, one pull request. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { counted, createQuota, givenQuota, quotaManifest, WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { batchOwnerOf } from './batch-owner.ts';
import { SEVERAL_PHASES } from './phases.ts';
import { deniedWhileOptedOut } from './denied.ts';
import { podsCome } from './tried-again.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    // One quota leaves the lead to the other for 15 s and four of these: more than a busy machine needs until the leader has
    // its Lease.
    env: { ...quickAutoMerge, 'timings.demandSettle': '2s', HEADROOM_SYNC_OVERDUE: '15s' },
  });
});
afterAll(async () => await stack?.stop());

const compute = { 'requests.cpu': '1' };
const objects = { pods: '5' };

/** Two quotas that are both tight, in the files that `place` says. */
async function twoQuotas(
  namespace: string,
  place: (compute: WatchedQuota, objects: WatchedQuota) => Record<string, string>,
  annotations: Record<string, string> = {},
): Promise<readonly [WatchedQuota, WatchedQuota]> {
  await stack.core.createNamespace({ body: { metadata: { name: namespace, annotations } } });
  const quotas = [
    new WatchedQuota(stack, namespace, 'compute'),
    new WatchedQuota(stack, namespace, 'objects'),
  ] as const;
  await stack.forge.pushCommit({ files: place(...quotas), message: `Add the quotas of ${namespace}` });
  for (const quota of quotas) {
    await eventually('the quota is there', async () => {
      await quota.hard();
      return true;
    });
    await counted(quota);
  }
  return quotas;
}

function manifests(namespace: string): readonly [string, string] {
  return [
    quotaManifest({ namespace, quota: 'compute', hard: compute }),
    quotaManifest({ namespace, quota: 'objects', hard: objects }),
  ];
}

/** The pull requests of both. */
function opened(quotas: readonly WatchedQuota[]): number[] {
  return quotas.flatMap((quota) => quota.pullRequests());
}

describe.concurrent('a Deployment that two quotas deny', SEVERAL_PHASES, () => {
  it('gets one pull request with one commit for both files, and after one merge every pod fits', async () => {
    const quotas = await twoQuotas('two-files', (compute, objects) => {
      const [first, second] = manifests('two-files');
      return { [compute.path]: first, [objects.path]: second };
    });
    await deniedWhileOptedOut(quotas[0], 5, () => quotas[0].deploy('web', 6, { cpu: '200m' }));
    const batchOwner = await batchOwnerOf(quotas);
    await batchOwner.reaches('CoolingDown', 'CoolingDown');
    await podsCome(batchOwner, 6);

    expect(opened(quotas)).toHaveLength(1);
    const [number = 0] = batchOwner.pullRequests();
    expect(await batchOwner.shown(number)).toMatchObject({ merged: true, commits: 1, changed_files: 2 });
    for (const quota of quotas) {
      expect((await quota.lease())?.holder).toBeNull();
      expect((await quota.lease())?.annotations).toHaveProperty(['resizer.io/last-modified']);
    }
    expect(await batchOwner.branches()).toEqual([]);
  });

  it('is told of the one that does not follow Git after the merge, by the other', async () => {
    const namespace = 'one-is-late';
    // Found by Headroom, and applied by nobody.
    const file = (quota: string, hard: Record<string, string>) => quotaManifest({ quota, hard });
    const first = await givenQuota(stack, { namespace, hard: compute, file: file('compute', compute), synced: false });
    const second = new WatchedQuota(stack, namespace, 'objects');
    await stack.forge.pushCommit({ files: { [second.path]: file('objects', objects) } });
    await createQuota(stack, { namespace, quota: 'objects', hard: objects });
    await counted(second);
    await deniedWhileOptedOut(first, 5, () => first.deploy('web', 6, { cpu: '200m' }));
    const batchOwner = await batchOwnerOf([first, second]);
    const late = batchOwner === first ? second : first;
    const { decision } = await batchOwner.reaches('AwaitingSync');
    await batchOwner.setHard({ ...decision?.merge?.limits });

    const events = await eventually('somebody is told', async () => {
      const told = await batchOwner.events('SyncOverdue');
      return told.length > 0 && told;
    });
    expect(events).toEqual([
      expect.stringContaining(
        late === first ? 'quota compute: requests.cpu is 1 and becomes' : 'quota objects: pods is 5 and becomes',
      ),
    ]);
    await batchOwner.reaches('CoolingDown', 'CoolingDown');
    expect(opened([first, second])).toHaveLength(1);
  });

  it('gets one pull request for one file that holds both', async () => {
    const quotas = await twoQuotas('one-file', (compute) => ({ [compute.path]: manifests('one-file').join('---\n') }));
    await deniedWhileOptedOut(quotas[0], 5, () => quotas[0].deploy('web', 6, { cpu: '200m' }));
    const batchOwner = await batchOwnerOf(quotas);
    await batchOwner.reaches('CoolingDown', 'CoolingDown');
    await podsCome(batchOwner, 6);
    expect(opened(quotas)).toHaveLength(1);
  });

  it('that needs an approval is approved once, for both', async () => {
    const quotas = await twoQuotas('both-approved', (compute) => ({
      [compute.path]: manifests('both-approved').join('---\n'),
    }));
    await deniedWhileOptedOut(quotas[0], 5, () => quotas[0].deploy('web', 12, { cpu: '200m' }));
    const batchOwner = await batchOwnerOf(quotas);
    await batchOwner.reaches('AwaitingApproval', 'MaxStepExceeded');
    await batchOwner.command('approve', { by: 'alice' });
    await batchOwner.reaches('CoolingDown', 'CoolingDown');
    await podsCome(batchOwner, 12);
    expect(opened(quotas)).toHaveLength(1);
  });

  it('is asked for together, and a rejection is remembered for both', async () => {
    const quotas = await twoQuotas(
      'both-refused',
      (compute, objects) => {
        const [first, second] = manifests('both-refused');
        return { [compute.path]: first, [objects.path]: second };
      },
      { 'resizer.io/auto-merge': 'false' },
    );
    await deniedWhileOptedOut(quotas[0], 5, () => quotas[0].deploy('web', 6, { cpu: '200m' }));
    const batchOwner = await batchOwnerOf(quotas);
    const carried = quotas.find((quota) => quota !== batchOwner) ?? quotas[1];
    await batchOwner.reaches('AwaitingMerge', 'NamespaceAutoMergeOff');
    const waiting = await carried.reaches('AwaitingMerge', 'RaisedWithOtherQuota');
    expect(waiting.detail).toContain(`the pull request of quota ${batchOwner.target.quota} raises this quota too`);

    await batchOwner.command('reject', { by: 'alice', reason: 'no budget' });
    await batchOwner.reaches('CoolingDown', 'PreviouslyRejected');
    await carried.command('reconcileNow');
    const refused = await carried.reaches('CoolingDown', 'PreviouslyRejected');
    expect(refused.detail).toContain('was rejected by alice');
    expect(opened(quotas)).toHaveLength(1);
  });
});

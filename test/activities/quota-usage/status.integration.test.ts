/**
 * The write of a status, and the Event, as the worker makes them under its own roles. Kubernetes' own quota controller is
 * off, so that a status is what was written, and what admission has charged since.
 */
import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { MockActivityEnvironment } from '@temporalio/testing';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import type { QuotaUsageActivities, UsageStatusWrite } from '../../../activities/quota-usage/interface.ts';
import { createQuotaUsageActivities } from '../../../activities/quota-usage/kubernetes-activities.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { applyManifests } from '../../kernel/stack/manifests.ts';
import { connect, SYSTEM_NAMESPACE, targetOf, WORKER } from '../kubernetes/cluster.ts';
import { untilAllowed } from '../until-allowed.ts';

const QUOTA = 'compute';
const HARD = { secrets: '9' };
const MERGE = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

let plane: ControlPlane;
let admin: Kubernetes;
let activities: QuotaUsageActivities;
beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: WORKER }],
    controllerManagerFlags: ['--controllers=*,-resourcequota-controller'],
  });
  const deploy = (file: string) => new URL(`../../../deploy/${file}`, import.meta.url);
  await applyManifests(plane.adminKubeconfig, ['namespace.yaml', 'rbac.yaml', 'quota-usage/own/rbac.yaml'].map(deploy));
  await untilAllowed(plane.adminKubeconfig, WORKER, [
    { verb: 'create', resource: 'events' },
    { verb: 'get', resource: 'configmaps', name: 'headroom-pause', namespace: SYSTEM_NAMESPACE },
    { verb: 'patch', resource: 'resourcequotas', subresource: 'status' },
  ]);
  admin = connect(plane.adminKubeconfig);
  activities = createQuotaUsageActivities({
    kubernetes: connect(plane.kubeconfigFor(WORKER)),
    systemNamespace: SYSTEM_NAMESPACE,
    log: pino({ level: 'silent' }),
  });
});
afterAll(async () => await plane?.stop());

const nameOf = (namespace: string) => ({ namespace, name: QUOTA });

async function putQuota(namespace: string): Promise<void> {
  await admin.core.createNamespacedResourceQuota({
    namespace,
    body: { metadata: { name: QUOTA }, spec: { hard: HARD } },
  });
}

async function say(namespace: string, status: object): Promise<string> {
  const { metadata } = await admin.core.patchNamespacedResourceQuotaStatus(
    { ...nameOf(namespace), body: { status } },
    MERGE,
  );
  return metadata?.resourceVersion ?? '';
}

/** A namespace whose quota says that four Secrets are there, and the write of who has counted one. */
async function counted(namespace: string): Promise<UsageStatusWrite> {
  await admin.core.createNamespace({ body: { metadata: { name: namespace } } });
  await putQuota(namespace);
  const resourceVersion = await say(namespace, { hard: HARD, used: { secrets: '4' } });
  const { metadata } = await admin.core.readNamespacedResourceQuota(nameOf(namespace));
  return {
    target: targetOf(namespace, QUOTA),
    quotaUid: metadata?.uid ?? '',
    resourceVersion,
    hard: HARD,
    used: { secrets: '1' },
    usedBefore: { secrets: '4' },
    countedAt: Date.now(),
    without: { hard: [], used: [] },
  };
}

/** Somebody creates a Secret that admission charges; while its cache of quotas is behind the status, it charges none. */
async function charge(namespace: string): Promise<void> {
  const used = async () => (await admin.core.readNamespacedResourceQuota(nameOf(namespace))).status?.used?.['secrets'];
  const before = await used();
  await eventually('admission charges a Secret', async () => {
    await admin.core.createNamespacedSecret({ namespace, body: { metadata: { generateName: 'one-' } } });
    return (await used()) !== before;
  });
}

async function statusOf(namespace: string): Promise<unknown> {
  return (await admin.core.readNamespacedResourceQuota(nameOf(namespace))).status;
}

describe('a status', () => {
  it('is written as it was counted, without what the spec does not limit any more', async () => {
    const write = await counted('written');
    const status = { hard: { ...HARD, pods: '5' }, used: { secrets: '4', pods: '2' } };
    const resourceVersion = await say('written', status);
    const without = { hard: ['pods'], used: ['pods'] };
    const usedBefore = status.used;
    expect(await activities.ensureUsageStatus({ ...write, resourceVersion, usedBefore, without })).toEqual({
      kind: 'written',
      resourceVersion: expect.stringMatching(/^\d+$/),
      isRebased: false,
    });
    expect(await statusOf('written')).toEqual({ hard: HARD, used: { secrets: '1' } });
  });

  it('is put upon what admission has charged since it was counted', async () => {
    const write = await counted('charged');
    await charge('charged');
    await charge('charged');
    expect(await activities.ensureUsageStatus(write)).toMatchObject({ kind: 'written', isRebased: true });
    expect(await statusOf('charged')).toEqual({ hard: HARD, used: { secrets: '3' } });
  });

  it('leaves alone what somebody has written on the quota meanwhile', async () => {
    const write = await counted('labelled');
    const labels = { team: 'a' };
    await admin.core.patchNamespacedResourceQuota({ ...nameOf('labelled'), body: { metadata: { labels } } }, MERGE);
    expect(await activities.ensureUsageStatus(write)).toMatchObject({ kind: 'written' });
    expect(await admin.core.readNamespacedResourceQuota(nameOf('labelled'))).toMatchObject({
      metadata: { labels },
      status: { used: { secrets: '1' } },
    });
  });

  it('is not written once more by an attempt that does not know of the first, also after a charge', async () => {
    const write = await counted('lost');
    await activities.ensureUsageStatus(write);
    expect(await activities.ensureUsageStatus(write)).toEqual({ kind: 'conflict' });
    await charge('lost');
    expect(await activities.ensureUsageStatus(write)).toEqual({ kind: 'conflict' });
    expect(await statusOf('lost')).toEqual({ hard: HARD, used: { secrets: '2' } });
  });

  it('is counted again where admission has charged as much since as an attempt has freed whose answer was lost', async () => {
    const write = await counted('charged-back');
    await activities.ensureUsageStatus(write);
    for (let charged = 0; charged < 3; charged += 1) await charge('charged-back');
    expect(await statusOf('charged-back')).toEqual({ hard: HARD, used: write.usedBefore });
    const repeated = new MockActivityEnvironment({ attempt: 2 });
    expect(await repeated.run(async () => await activities.ensureUsageStatus(write))).toEqual({ kind: 'conflict' });
    expect(await statusOf('charged-back')).toEqual({ hard: HARD, used: write.usedBefore });
  });

  it('is counted again in a run that was reset to between its count and its write, which begins with a first attempt', async () => {
    const write = await counted('reset');
    await activities.ensureUsageStatus(write);
    for (let charged = 0; charged < 3; charged += 1) await charge('reset');
    const late = { ...write, countedAt: write.countedAt - 60_000 };
    expect(await activities.ensureUsageStatus(late)).toEqual({ kind: 'conflict' });
    expect(await statusOf('reset')).toEqual({ hard: HARD, used: write.usedBefore });
  });

  it('is counted again where a first number is there already, which admission has charged since', async () => {
    const write = await counted('first');
    const resourceVersion = await say('first', { used: null });
    const first = { ...write, resourceVersion, used: { secrets: '0' }, usedBefore: {} };
    await activities.ensureUsageStatus(first);
    await charge('first');
    expect(await activities.ensureUsageStatus(first)).toEqual({ kind: 'conflict' });
    expect(await statusOf('first')).toEqual({ hard: HARD, used: { secrets: '1' } });
  });

  it('is counted again where somebody else has counted, and where the limits are others', async () => {
    const fallen = await counted('fallen');
    await say('fallen', { used: { secrets: '3' } });
    expect(await activities.ensureUsageStatus(fallen)).toEqual({ kind: 'conflict' });
    expect(await statusOf('fallen')).toEqual({ hard: HARD, used: { secrets: '3' } });

    const raised = await counted('raised');
    const spec = { hard: { secrets: '10' } };
    await admin.core.patchNamespacedResourceQuota({ ...nameOf('raised'), body: { spec } }, MERGE);
    expect(await activities.ensureUsageStatus(raised)).toEqual({ kind: 'conflict' });
    expect(await statusOf('raised')).toEqual({ hard: HARD, used: { secrets: '4' } });
  });

  it('is not that of another quota of the name, nor of one that is gone', async () => {
    const write = await counted('reborn');
    await admin.core.deleteNamespacedResourceQuota(nameOf('reborn'));
    expect(await activities.ensureUsageStatus(write)).toEqual({ kind: 'gone' });
    await putQuota('reborn');
    expect(await activities.ensureUsageStatus(write)).toEqual({ kind: 'conflict' });
    expect(await statusOf('reborn')).toEqual({});
  });

  it('is not written while Headroom is paused in the cluster, and no Event either', async () => {
    const write = await counted('paused');
    const pause = { name: 'headroom-pause', namespace: SYSTEM_NAMESPACE };
    const body = { metadata: { name: pause.name }, data: { by: 'alice' } };
    await admin.core.createNamespacedConfigMap({ namespace: pause.namespace, body });
    const paused = { type: 'GloballyPaused', nonRetryable: true };
    try {
      await expect(activities.ensureUsageStatus(write)).rejects.toMatchObject(paused);
      await expect(activities.ensureUsageEvent(eventOn(write))).rejects.toMatchObject(paused);
    } finally {
      await admin.core.deleteNamespacedConfigMap(pause);
    }
    expect(await statusOf('paused')).toEqual({ hard: HARD, used: { secrets: '4' } });
    expect((await admin.core.listNamespacedEvent({ namespace: 'paused' })).items).toEqual([]);
  });
});

const eventOn = ({ target, quotaUid }: UsageStatusWrite) => ({
  target,
  quotaUid,
  type: 'Warning' as const,
  reason: 'UsageWrong' as const,
  message: 'secrets: the status says 4, counted 1, wrong for 60 s',
  key: `${quotaUid} secrets 1`,
});

describe('the Event', () => {
  it('is on the quota once, however often it is told', async () => {
    const event = eventOn(await counted('told'));
    await activities.ensureUsageEvent(event);
    await activities.ensureUsageEvent(event);
    const { items } = await admin.core.listNamespacedEvent({ namespace: 'told' });
    expect(items).toMatchObject([
      { type: 'Warning', reason: 'UsageWrong', message: sentence(event.message), involvedObject: { name: QUOTA } },
    ]);
  });
});

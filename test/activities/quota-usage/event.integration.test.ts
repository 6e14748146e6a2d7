/** The Events on quotas, as the worker writes them under its own roles. */
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import type { QuotaUsageActivities } from '../../../activities/quota-usage/interface.ts';
import { createQuotaUsageActivities } from '../../../activities/quota-usage/kubernetes-activities.ts';
import { sentence } from '../../../domain/kernel/sentence.ts';
import { type ControlPlane, startControlPlane } from '../../kernel/servers/control-plane.ts';
import { applyRights } from '../../kernel/stack/chart.ts';
import { connect, SYSTEM_NAMESPACE, targetOf, WORKER } from '../kubernetes/cluster.ts';
import { untilAllowed } from '../until-allowed.ts';

const QUOTA = 'compute';

let plane: ControlPlane;
let admin: Kubernetes;
let activities: QuotaUsageActivities;
beforeAll(async () => {
  plane = await startControlPlane({
    users: [{ name: WORKER }],
  });
  await applyRights(plane.adminKubeconfig);
  await untilAllowed(plane.adminKubeconfig, WORKER, [
    { verb: 'create', resource: 'events' },
    { verb: 'get', resource: 'configmaps', name: 'headroom-pause', namespace: SYSTEM_NAMESPACE },
  ]);
  admin = connect(plane.adminKubeconfig);
  activities = createQuotaUsageActivities({
    kubernetes: connect(plane.kubeconfigFor(WORKER)),
    systemNamespace: SYSTEM_NAMESPACE,
    log: pino({ level: 'silent' }),
  });
});
afterAll(async () => await plane?.stop());

/** What is told of a quota in a namespace of its own. */
async function eventIn(namespace: string): Promise<Parameters<QuotaUsageActivities['ensureUsageEvent']>[0]> {
  await admin.core.createNamespace({ body: { metadata: { name: namespace } } });
  const body = { metadata: { name: QUOTA }, spec: { hard: { secrets: '9' } } };
  const { metadata } = await admin.core.createNamespacedResourceQuota({ namespace, body });
  return {
    target: targetOf(namespace, QUOTA),
    quotaUid: metadata?.uid ?? '',
    type: 'Warning',
    reason: 'UsageWrong',
    message: 'secrets: the status says 4, counted 1, wrong for 60 s',
    key: `${metadata?.uid} secrets 1`,
  };
}

describe('the Event', () => {
  it('is on the quota once, however often it is told', async () => {
    const event = await eventIn('told');
    await activities.ensureUsageEvent(event);
    await activities.ensureUsageEvent(event);
    const { items } = await admin.core.listNamespacedEvent({ namespace: 'told' });
    expect(items).toMatchObject([
      { type: 'Warning', reason: 'UsageWrong', message: sentence(event.message), involvedObject: { name: QUOTA } },
    ]);
  });

  it('shows characters that cannot be seen or turn its text around by their number', async () => {
    const event = await eventIn('turned');
    await activities.ensureUsageEvent({ ...event, message: 'by \u202eecila\u2066: \u001b[1A' });
    const { items } = await admin.core.listNamespacedEvent({ namespace: 'turned' });
    expect(items.map(({ message }) => message)).toEqual(['By [U+202E]ecila[U+2066]: [U+001B][1A.']);
  });

  it('is not written while Headroom is paused in the cluster', async () => {
    const event = await eventIn('paused');
    const pause = { name: 'headroom-pause', namespace: SYSTEM_NAMESPACE };
    const body = { metadata: { name: pause.name }, data: { by: 'alice' } };
    await admin.core.createNamespacedConfigMap({ namespace: pause.namespace, body });
    const paused = { type: 'GloballyPaused', nonRetryable: true };
    try {
      await expect(activities.ensureUsageEvent(event)).rejects.toMatchObject(paused);
    } finally {
      await admin.core.deleteNamespacedConfigMap(pause);
    }
    expect((await admin.core.listNamespacedEvent({ namespace: 'paused' })).items).toEqual([]);
  });
});

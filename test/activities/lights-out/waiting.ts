import { describe, expect, it } from 'vitest';
import { packItem, packItems } from '../../../domain/lights-out/decide/packed.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  type Cluster,
  cronJobOf,
  observeInputOf,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  planOf,
  scaled,
  targetOf,
  workloadOf,
} from './cluster.ts';

/** Waiting for workloads, and an API server that is away. */
export function waitingTests(cluster: () => Cluster): void {
  /** Does what a kubelet would do. There are no nodes. */
  async function startPods(namespace: string, app: string): Promise<void> {
    const { core } = cluster().admin;
    await eventually(`the pods of ${app} are started`, async () => {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `app=${app}` });
      for (const { metadata } of items) {
        const name = metadata?.name ?? '';
        const now = new Date();
        const condition = { type: 'Ready', status: 'True', lastTransitionTime: now };
        const body = { status: { phase: 'Running', conditions: [condition], startTime: now } };
        await core.patchNamespacedPodStatus({ name, namespace, body }, MERGE_PATCH);
      }
      return items.length > 0;
    });
  }

  describe('waiting for workloads', () => {
    it('takes until pods are ready, or gone, and not for what is deleted meanwhile', async () => {
      const { admin, at, create, schedule } = cluster();
      const ns = 'awaited';
      const web = workloadOf('Deployment', ns, 'web', 1);
      const gone = workloadOf('Deployment', ns, 'gone', 1);
      await create([namespaceOf(ns), web, gone, cronJobOf(ns, 'report')]);
      await schedule(ns, { namespaces: [ns] });
      const target = targetOf(ns);
      // A pod that is just being created when its workload goes down is in no status yet, and there for a moment after.
      await eventually('their pods are there and counted', async () => {
        const { items } = await admin.apps.listNamespacedDeployment({ namespace: ns });
        return items.filter(({ status }) => status?.replicas === 1).length === 2;
      });
      const down = planOf((await scaled(at(NIGHT), observeInputOf(ns))).seen).items;
      const activities = at(MORNING);
      await eventually('they are down', async () => {
        await activities.awaitScaled({ target, direction: 'Down', workloads: down.map(packItem) });
        return true;
      });
      expect(
        (await admin.core.listNamespacedPod({ namespace: ns })).items.filter(
          ({ metadata }) => !metadata?.deletionTimestamp,
        ),
      ).toEqual([]);

      const up = planOf((await scaled(activities, observeInputOf(ns))).seen).items;
      const wait = { target, direction: 'Up', workloads: up.map(packItem) } as const;
      await expect(activities.awaitScaled(wait)).rejects.toMatchObject({
        type: 'NotYet',
        nextRetryDelay: 2_000,
        message: expect.stringMatching(/^2 of 3 workloads are not ready yet: Deployment awaited\/.* \(/),
      });
      await startPods(ns, 'web');
      await admin.apps.deleteNamespacedDeployment({ name: 'gone', namespace: ns });
      await eventually('they are ready', async () => {
        await activities.awaitScaled(wait);
        return true;
      });
    });

    it('is the same for as many workloads of a namespace as are listed', async () => {
      const { at, create, schedule } = cluster();
      const ns = 'awaited-list';
      const objects = Array.from({ length: 7 }, (_, index) => workloadOf('StatefulSet', ns, `s${index}`, 1));
      await create([namespaceOf(ns), ...objects]);
      await schedule(ns, { namespaces: [ns] });
      const items = planOf((await scaled(at(NIGHT), observeInputOf(ns))).seen).items;
      expect(items).toHaveLength(7);
      await eventually('they are down', async () => {
        await at().awaitScaled({ target: targetOf(ns), direction: 'Down', workloads: items.map(packItem) });
        return true;
      });
      await scaled(at(MORNING), observeInputOf(ns));
      await expect(
        at().awaitScaled({
          target: targetOf(ns),
          direction: 'Up',
          workloads: items.map((item) => packItem({ ...item, to: 1 })),
        }),
      ).rejects.toThrow(/^7 of 7 workloads are not ready yet: .* and 2 more$/);
    });
  });

  describe('an API server that is away', () => {
    it('fails the batch as a whole, which is done once when it is tried again', async () => {
      const { at, create, plane, read, schedule } = cluster();
      const ns = 'away';
      const objects = ['a', 'b'].map((name) => workloadOf('Deployment', ns, name, 2));
      await create([namespaceOf(ns), ...objects]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const activities = at(NIGHT);
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await activities.observeSchedule(observeInput));
      const batch = { target: targetOf(ns), scheduleUid, items: packItems(items), observeInput };
      // The first attempt got as far as one of them.
      await activities.ensureScaled({ ...batch, items: packItems(items.slice(0, 1)) });
      await plane.killApiServer();
      const unavailable = { type: 'KubernetesUnavailable', nonRetryable: false };
      await expect(activities.ensureScaled(batch)).rejects.toMatchObject(unavailable);
      await expect(activities.observeSchedule(observeInput)).rejects.toMatchObject(unavailable);
      await plane.startApiServer();
      const { outcomes } = await eventually('the batch is done', () => activities.ensureScaled(batch));
      expect(outcomes).toEqual([]);
      expect((await Promise.all(objects.map(read))).map(({ spec }) => spec.replicas)).toEqual([0, 0]);
      expect(planOf(await activities.observeSchedule(observeInput))).toMatchObject({
        items: [],
        stats: { deploymentsScaled: 2 },
      });
    });
  });
}

import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { createLeaseGcActivities } from '../../../activities/lease-gc/kubernetes-activities.ts';
import { type Cluster, namespaceOf, quotaOf, SYSTEM_NAMESPACE } from './cluster.ts';

const labels = { 'app.kubernetes.io/managed-by': 'namespace-resizer' };
const HOUR = 3_600_000;

/** The collection of old Leases. */
export function leaseGcTests(cluster: () => Cluster): void {
  async function lease(
    name: string,
    more: { target?: [string, string]; holder?: string; age?: number; label?: object },
  ) {
    const { target, holder, age = 48 * HOUR, label = labels } = more;
    const annotations =
      target === undefined ? {} : { 'resizer.io/target-namespace': target[0], 'resizer.io/target-quota': target[1] };
    const renewTime = new Date(Date.now() - age).toISOString().replace('Z', '000Z');
    const spec = { renewTime, ...(holder === undefined ? {} : { holderIdentity: holder }) };
    const metadata = { name, namespace: SYSTEM_NAMESPACE, labels: label, annotations };
    await cluster().create({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
  }

  function collect(runningQuotaResizes: () => Promise<ReadonlySet<string>>) {
    const options = { kubernetes: cluster().worker, systemNamespace: SYSTEM_NAMESPACE, runningQuotaResizes };
    const activities = createLeaseGcActivities({ ...options, log: pino({ level: 'silent' }) });
    return activities.ensureOldLeasesCollected({ cluster: 'test' });
  }

  describe('Lease garbage collection', () => {
    it('deletes what is gone, unlocks what no workflow holds, and touches nothing else', async () => {
      const { admin, create } = cluster();
      for (const one of (await admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE })).items) {
        await admin.coordination.deleteNamespacedLease({ name: one.metadata?.name ?? '', namespace: SYSTEM_NAMESPACE });
      }
      await create(namespaceOf('gc'), quotaOf('gc', { pods: '1' }), namespaceOf('gc-team'));
      await lease('state-gc-compute', { target: ['gc', 'compute'] });
      await lease('state-gone-compute', { target: ['gc-gone', 'compute'] });
      await lease('state-gone-held', { target: ['gc-gone', 'held'], holder: 'pr-3' });
      await lease('state-gone-closing', { target: ['gc-gone', 'closing'], holder: 'headroom/1' });
      await lease('state-gc-deleted', { target: ['gc', 'deleted'] });
      await lease('state-gc-replaced', { target: ['gc', 'replaced'], age: HOUR });
      await lease('state-gc-dead', { target: ['gc', 'dead'], holder: 'headroom/2' });
      await lease('state-gc-starting', { target: ['gc', 'starting'], holder: 'headroom/3', age: 60_000 });
      await lease('state-gc-running', { target: ['gc', 'running'], holder: 'headroom/4' });
      await lease('state-gc-foreign', { target: ['gc', 'foreign'], holder: 'pr-4' });
      await lease('file-dead', {
        target: ['gc', 'dead'],
        holder: 'headroom/2',
        label: { ...labels, 'headroom.io/kind': 'file' },
      });
      // Of the earlier tool: b-c in gc-team, or c in gc-team-b, which does not exist.
      await lease('state-gc-team-b-c', {});
      await lease('state-nobody-b-c', {});
      await lease('leader', { label: {}, target: ['gc-gone', 'x'] });

      const running = new Set(['quota-resize/test/gc/running', 'quota-resize/test/gc-gone/closing']);
      const result = await collect(() => Promise.resolve(running));
      expect(result.deleted.toSorted()).toEqual([
        'state-gc-deleted',
        'state-gone-compute',
        'state-gone-held',
        'state-nobody-b-c',
      ]);
      expect(result.unlocked.toSorted()).toEqual(['file-dead', 'state-gc-dead']);
      expect(result.kept).toBe(7);

      const { items } = await admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE });
      const left = new Map(items.map((one) => [one.metadata?.name, one.spec?.holderIdentity]));
      expect(left).toEqual(
        new Map([
          ['leader', undefined],
          ['state-gc-compute', undefined],
          ['state-gc-dead', undefined],
          ['state-gc-foreign', 'pr-4'],
          ['state-gc-replaced', undefined],
          ['state-gc-running', 'headroom/4'],
          ['state-gc-starting', 'headroom/3'],
          ['state-gc-team-b-c', undefined],
          ['state-gone-closing', 'headroom/1'],
        ]),
      );
      expect(await collect(() => Promise.resolve(running))).toMatchObject({ deleted: [], unlocked: [] });
    });

    it('does nothing when it cannot know what runs, or while Headroom is paused', async () => {
      const { admin, create } = cluster();
      await lease('state-gone-again', { target: ['gc-gone', 'again'] });
      await expect(collect(() => Promise.reject(new Error('Temporal is away')))).rejects.toThrow('Temporal is away');
      const name = 'headroom-pause';
      await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: SYSTEM_NAMESPACE } });
      expect(await collect(() => Promise.resolve(new Set()))).toMatchObject({ deleted: [], unlocked: [] });
      await admin.core.deleteNamespacedConfigMap({ name, namespace: SYSTEM_NAMESPACE });
      expect(await collect(() => Promise.resolve(new Set()))).toMatchObject({
        deleted: ['state-gone-again', 'state-gone-closing'],
      });
    });
  });
}

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
    more: { target?: [string, string]; holder?: string; carriedBy?: string; age?: number; label?: object },
  ) {
    const { target, holder, carriedBy, age = 48 * HOUR, label = labels } = more;
    const annotations = {
      ...(target === undefined
        ? {}
        : { 'resizer.io/target-namespace': target[0], 'resizer.io/target-quota': target[1] }),
      ...(carriedBy === undefined ? {} : { 'resizer.io/carried-by': carriedBy }),
    };
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
      for (const lease of (await admin.coordination.listNamespacedLease({ namespace: SYSTEM_NAMESPACE })).items) {
        await admin.coordination.deleteNamespacedLease({
          name: lease.metadata?.name ?? '',
          namespace: SYSTEM_NAMESPACE,
        });
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
      const left = new Map(items.map((lease) => [lease.metadata?.name, lease.spec?.holderIdentity]));
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

    it('leaves the Leases of what is paused for the resizer, also the lock that its decision has on another quota', async () => {
      const { admin, create } = cluster();
      await create(namespaceOf('gc-paused'));
      const file = { ...labels, 'headroom.io/kind': 'file' };
      await lease('state-gc-paused-a', { target: ['gc-paused', 'a'], holder: 'headroom/5' });
      await lease('file-gc-paused-a', { target: ['gc-paused', 'a'], holder: 'headroom/5', label: file });
      const carried = { target: ['gc-paused', 'b'] as [string, string], holder: 'headroom/5', carriedBy: 'a' };
      await lease('state-gc-paused-b', carried);
      await lease('state-gc-paused-c', { target: ['gc-paused', 'c'], holder: 'headroom/6' });
      await lease('file-gc-paused-c', { target: ['gc-paused', 'c'], holder: 'headroom/6', label: file });
      const metadata = { name: 'headroom-pauses', namespace: SYSTEM_NAMESPACE };
      const pause = async (key: string | null) => {
        await admin.core.deleteNamespacedConfigMap({ ...metadata }).catch(() => {});
        if (key !== null) await create({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { [key]: '' } });
      };
      const nothing = { deleted: [], unlocked: [] };
      for (const key of ['controller_quota-resize', 'controller_lease-gc', 'namespace_gc-paused']) {
        await pause(key);
        expect(await collect(() => Promise.resolve(new Set()))).toMatchObject(nothing);
      }
      await pause('target_quota-resize_gc-paused_a');
      const { unlocked } = await collect(() => Promise.resolve(new Set()));
      expect(unlocked.toSorted()).toEqual(['file-gc-paused-c', 'state-gc-paused-c']);
      await pause(null);
      const ended = await collect(() => Promise.resolve(new Set()));
      expect(ended.unlocked.toSorted()).toEqual(['file-gc-paused-a', 'state-gc-paused-a', 'state-gc-paused-b']);
    });
  });
}

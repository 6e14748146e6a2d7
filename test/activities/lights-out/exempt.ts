import { describe, expect, it } from 'vitest';
import {
  type Cluster,
  MERGE_PATCH,
  MORNING,
  namespaceOf,
  NIGHT,
  observeInputOf,
  planOf,
  scaled,
  SCHEDULES,
  workloadOf,
} from './cluster.ts';

/** What a schedule selects and leaves alone all the same. */
export function exemptTests(cluster: () => Cluster): void {
  describe('what the cluster itself or an operator needs', () => {
    it('stays up whatever a schedule selects, and is named', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'everything';
      const parts: Readonly<Record<string, readonly [label: string, value: string]>> = {
        frontend: ['app.kubernetes.io/name', 'temporal'],
        'temporal-db': ['app.kubernetes.io/instance', 'temporal'],
        keda: ['app.kubernetes.io/part-of', 'keda-operator'],
        issuer: ['app', 'cert-manager'],
        guard: ['app.kubernetes.io/part-of', 'kyverno'],
        network: ['io.cilium/app', 'cilium-operator'],
        disks: ['app', 'ebs-csi-controller'],
        worker: ['app.kubernetes.io/part-of', 'headroom'],
      };
      const objects = Object.entries(parts).map(([name, [label, value]]) =>
        workloadOf('Deployment', ns, name, 2, { labels: { [label]: value } }),
      );
      const web = workloadOf('Deployment', ns, 'web', 2, { labels: { app: 'web' } });
      await create([namespaceOf(ns, { scope: ns }), ...objects, web]);
      // In their own namespaces they need no label.
      await create([
        namespaceOf('cert-manager', { scope: ns }),
        workloadOf('Deployment', 'cert-manager', 'webhook', 1),
      ]);
      await schedule(ns, { namespaceSelector: { matchLabels: { scope: ns } }, namespaces: ['cert-manager'] });
      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      const { notes, namespaces } = planOf(await at(NIGHT).observeSchedule(observeInputOf(ns)));
      expect(namespaces).toEqual([ns]);
      expect(notes.map(({ workload, reason }) => `${reason} ${workload}`)).toEqual(
        Object.keys(parts)
          .toSorted()
          .map((name) => `Protected Deployment ${ns}/${name}`),
      );
      expect(notes.find(({ workload }) => workload.endsWith('/issuer'))?.detail).toBe(
        'it is a part of cert-manager, which no schedule puts to sleep',
      );
      expect(await Promise.all(objects.map(async (object) => (await read(object)).spec.replicas))).toEqual(
        objects.map(() => 2),
      );
    });

    it('is left to its operator, or sleeps where the schedule says so, and is woken when it says so no more', async () => {
      const { admin, at, create, read, schedule } = cluster();
      const ns = 'operated';
      await create([namespaceOf(ns), { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'pg', namespace: ns } }]);
      const { metadata } = await admin.core.readNamespacedConfigMap({ name: 'pg', namespace: ns });
      const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'pg', uid: metadata?.uid ?? '', controller: true };
      const db = workloadOf('StatefulSet', ns, 'db', 3, { ownerReferences: [owner] });
      // An owner that is no controller is one that it goes with, and sets no replicas.
      const beside = workloadOf('Deployment', ns, 'beside', 1, { ownerReferences: [{ ...owner, controller: false }] });
      await create([db, beside]);
      await schedule(ns, { namespaces: [ns] });
      const { outcomes } = await scaled(at(NIGHT), observeInputOf(ns));
      expect(outcomes).toEqual([]);
      const { notes } = planOf(await at(NIGHT).observeSchedule(observeInputOf(ns)));
      expect(notes).toEqual([
        {
          workload: `StatefulSet ${ns}/db`,
          reason: 'ControllerOwned',
          detail:
            'it belongs to the ConfigMap pg, whose controller sets its replicas. To put it to sleep all the same, set spec.controllerOwned: scale',
        },
      ]);
      await setControllerOwned(ns, 'scale');
      await scaled(at(NIGHT), observeInputOf(ns));
      expect((await read(db)).spec.replicas).toBe(0);
      await setControllerOwned(ns, 'skip');
      await scaled(at(NIGHT), observeInputOf(ns));
      expect((await read(db)).spec.replicas).toBe(3);
      await scaled(at(MORNING), observeInputOf(ns));
      expect((await read(beside)).spec.replicas).toBe(1);
    });
  });

  async function setControllerOwned(name: string, controllerOwned: 'skip' | 'scale'): Promise<void> {
    const body = { spec: { controllerOwned } };
    await cluster().admin.custom.patchClusterCustomObject({ ...SCHEDULES, name, body }, MERGE_PATCH);
  }
}

import { describe, expect, it } from 'vitest';
import { packItem } from '../../../domain/lights-out/decide/packed.ts';
import { KEDA_PAUSED, ORIGINAL_REPLICAS } from '../../../domain/lights-out/schedule/names.ts';
import { CustomWorkloads } from '../../lights-out/custom-workloads.ts';
import { type Cluster, MORNING, namespaceOf, NIGHT, observeInputOf, planOf, scaled, targetOf } from './cluster.ts';

/** Workloads whose definitions came while Headroom ran. */
export function customTests(cluster: () => Cluster): void {
  describe("Argo's Rollouts and KEDA's ScaledJobs", () => {
    it('are found as soon as they are served, written, and waited for', async () => {
      const { plane, at, create, schedule } = cluster();
      const ns = 'custom';
      await create([namespaceOf(ns)]);
      await schedule(ns, { namespaces: [ns] });
      expect(planOf(await at(NIGHT).observeSchedule(observeInputOf(ns))).items).toEqual([]);
      const custom = new CustomWorkloads(plane.adminKubeconfig);
      await custom.define();
      await custom.create('Rollout', ns, 'site', { replicas: 2 });
      await custom.create('ScaledJob', ns, 'mails', {});
      const down = await scaled(at(NIGHT), observeInputOf(ns));
      expect(planOf(down.seen).items.map(packItem).toSorted()).toEqual([
        `Rollout ${ns}/site 2 -> 0`,
        `ScaledJob ${ns}/mails`,
      ]);
      const site = await custom.read('Rollout', ns, 'site');
      expect([site.spec.replicas, site.metadata.annotations?.[ORIGINAL_REPLICAS]]).toEqual([0, '2']);
      expect((await custom.read('ScaledJob', ns, 'mails')).metadata.annotations?.[KEDA_PAUSED]).toBe('true');

      const up = planOf((await scaled(at(MORNING), observeInputOf(ns))).seen).items;
      const wait = { target: targetOf(ns), direction: 'Up', workloads: up.map(packItem) } as const;
      await expect(at().awaitScaled(wait)).rejects.toThrow(
        /^1 of 2 workloads are not ready yet: Rollout custom\/site \(not observed by its controller yet\)$/,
      );
      await custom.makeReady(ns, 'site');
      await at().awaitScaled(wait);
      expect((await custom.read('Rollout', ns, 'site')).spec.replicas).toBe(2);
      expect((await custom.read('ScaledJob', ns, 'mails')).metadata.annotations).toBeUndefined();
    });
  });
}

import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../domain/kernel/time.ts';
import {
  DOWN_SINCE,
  FIELD_MANAGER,
  KEDA_PAUSED_REPLICAS,
  MANAGED_BY,
  ORIGINAL_BOUNDS,
  ORIGINAL_REPLICAS,
} from '../../../domain/lights-out/schedule/names.ts';
import { packItems } from '../../../domain/lights-out/decide/packed.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import {
  type Cluster,
  createDefinition,
  essence,
  observeInputOf,
  MORNING,
  namespaceOf,
  NIGHT,
  planOf,
  SCHEDULES,
  scaled,
  targetOf,
  WORKER,
  workloadOf,
} from './cluster.ts';

const scaledObjects = { group: 'keda.sh', version: 'v1alpha1', plural: 'scaledobjects' };

/** As much of KEDA's definition as a schedule sees. */
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'scaledobjects.keda.sh' },
  spec: {
    group: 'keda.sh',
    names: { kind: 'ScaledObject', listKind: 'ScaledObjectList', plural: 'scaledobjects', singular: 'scaledobject' },
    scope: 'Namespaced',
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};

function scaledObject(
  namespace: string,
  name: string,
  target: object,
  annotations: Record<string, string> = {},
): object {
  return {
    apiVersion: 'keda.sh/v1alpha1',
    kind: 'ScaledObject',
    metadata: { name, namespace, annotations },
    spec: { scaleTargetRef: target, triggers: [{ type: 'cpu' }] },
  };
}

function horizontal(namespace: string, name: string, bounds: object, metadata: object = {}): object {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name, namespace, ...metadata },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, ...bounds },
  };
}

/** Workloads that something else scales. */
export function autoscalerTests(cluster: () => Cluster): void {
  describe('autoscalers', () => {
    it('of Kubernetes get narrower bounds where the schedule keeps replicas, and their own ones again', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'hpa';
      const web = workloadOf('Deployment', ns, 'web', 4);
      const scaler = horizontal(ns, 'web', { minReplicas: 2, maxReplicas: 10 });
      await create([namespaceOf(ns), web, scaler]);
      await schedule(ns, { namespaces: [ns], downscaleReplicas: 1 });
      const before = essence(await read(scaler));

      await scaled(at(NIGHT), observeInputOf(ns));
      expect((await read(web)).spec.replicas).toBe(1);
      expect(await read(scaler)).toMatchObject({
        metadata: { annotations: { [ORIGINAL_BOUNDS]: '2-10', [MANAGED_BY]: ns } },
        spec: { minReplicas: 1, maxReplicas: 1 },
      });
      await scaled(at(MORNING), observeInputOf(ns));
      expect((await read(web)).spec.replicas).toBe(4);
      expect(essence(await read(scaler))).toEqual(before);
    });

    it('of Kubernetes are left alone where nothing is kept, and those that KEDA made in any case', async () => {
      const { at, create, read, schedule } = cluster();
      const ns = 'hpa-left';
      const owner = { apiVersion: 'keda.sh/v1alpha1', kind: 'ScaledObject', name: 'made', uid: 'of-nobody' };
      const made = horizontal(ns, 'made', { minReplicas: 2, maxReplicas: 10 }, { ownerReferences: [owner] });
      const web = horizontal(ns, 'web', { minReplicas: 2, maxReplicas: 10 });
      const workloads = ['web', 'made'].map((name) => workloadOf('Deployment', ns, name, 4));
      await create([namespaceOf(ns), ...workloads, web]);
      const before = essence(await read(web));
      await schedule(ns, { namespaces: [ns] });
      await scaled(at(NIGHT), observeInputOf(ns));
      expect(essence(await read(web))).toEqual(before);

      await create([made]);
      await schedule(`${ns}-one`, { namespaces: [ns], downscaleReplicas: 1 });
      await cluster().admin.custom.deleteClusterCustomObject({
        group: 'lightsout.techsupport.mk',
        version: 'v1alpha1',
        plural: 'lightsoutschedules',
        name: ns,
      });
      await scaled(at(NIGHT), observeInputOf(`${ns}-one`));
      expect((await read(workloads[1] ?? {})).spec.replicas).toBe(1);
      expect((await read(made)).spec).toMatchObject({ minReplicas: 2, maxReplicas: 10 });
    });

    it('of KEDA are paused before the workload sleeps and resumed after it is awake; those that people paused stay so', async () => {
      const { admin, at, create, plane, read, schedule } = cluster();
      const ns = 'keda-held';
      await createDefinition(admin, definition);
      // The client asks by which name a kind is served, which the API server tells apart from serving it.
      await eventually('ScaledObjects can be created', async () => {
        await admin.custom.listClusterCustomObject(scaledObjects);
        const { resources } = await admin.custom.getAPIResources(scaledObjects);
        return resources.some(({ kind }) => kind === 'ScaledObject');
      });
      const workloads = [
        workloadOf('Deployment', ns, 'web', 3),
        workloadOf('StatefulSet', ns, 'queue', 2),
        workloadOf('Deployment', ns, 'idle', 0),
        workloadOf('Deployment', ns, 'held', 2),
      ];
      const scalers = [
        scaledObject(ns, 'of-web', { name: 'web' }),
        scaledObject(ns, 'of-queue', { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'queue' }, { note: 'ours' }),
        // KEDA had it at 0 and would wake it at night.
        scaledObject(ns, 'of-idle', { kind: 'Deployment', name: 'idle' }),
        scaledObject(ns, 'of-held', { name: 'held' }, { [KEDA_PAUSED_REPLICAS]: '2' }),
        scaledObject(ns, 'of-another', { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', name: 'web' }),
      ];
      await create([namespaceOf(ns), ...workloads, ...scalers]);
      await schedule(ns, { namespaces: [ns] });
      const before = (await Promise.all([...workloads, ...scalers].map(read))).map(essence);

      const night = await scaled(at(NIGHT), observeInputOf(ns));
      expect(night.done).toBe(4);
      const paused = (await Promise.all(scalers.map(read))).map(({ metadata }) => [
        metadata?.annotations?.[KEDA_PAUSED_REPLICAS],
        metadata?.annotations?.[MANAGED_BY],
      ]);
      expect(paused).toEqual([
        ['0', ns],
        ['0', ns],
        ['0', ns],
        ['2', undefined],
        [undefined, undefined],
      ]);
      expect((await Promise.all(workloads.map(read))).map(({ spec }) => spec.replicas)).toEqual([0, 0, 0, 0]);
      expect(planOf(await at(NIGHT).observeSchedule(observeInputOf(ns))).items).toEqual([]);

      await scaled(at(MORNING), observeInputOf(ns));
      expect((await Promise.all([...workloads, ...scalers].map(read))).map(essence)).toEqual(before);
      const order = await eventually('all writes are in the audit log', async () => {
        const writes = (await plane.auditEvents())
          .filter(
            ({ verb, user, objectRef, responseStatus }) =>
              verb === 'patch' &&
              user.username === WORKER &&
              responseStatus?.code === 200 &&
              objectRef?.namespace === ns,
          )
          // A write is logged after its answer, and by then the next one may be logged already.
          .toSorted((a, b) => (a.requestReceivedTimestamp < b.requestReceivedTimestamp ? -1 : 1))
          .map(({ objectRef }) => objectRef?.name ?? '');
        return writes.length >= 12 && writes;
      });
      expect(order.filter((name) => name.endsWith('web'))).toEqual(['of-web', 'web', 'web', 'of-web']);
      expect(order.filter((name) => name.endsWith('queue'))).toEqual(['of-queue', 'queue', 'queue', 'of-queue']);
      expect(order.filter((name) => name.endsWith('idle'))).toEqual(['of-idle', 'of-idle']);
      expect(order.filter((name) => name.endsWith('held'))).toEqual(['held', 'held']);
    });

    it('of KEDA that take the replicas away before the annotations are written do not make them forgotten', async () => {
      const { at, change, create, read, schedule } = cluster();
      const ns = 'keda-first';
      const web = workloadOf('Deployment', ns, 'web', 3);
      const scaler = scaledObject(ns, 'web', { name: 'web' });
      await create([namespaceOf(ns), web, scaler]);
      const scheduleUid = await schedule(ns, { namespaces: [ns] });
      const observeInput = observeInputOf(ns);
      const { items } = planOf(await at(NIGHT).observeSchedule(observeInput));
      const batch = { target: targetOf(ns), scheduleUid, items: packItems(items), observeInput };
      // The first attempt was cut off between its two writes.
      const held = { [KEDA_PAUSED_REPLICAS]: '0', [MANAGED_BY]: ns, [DOWN_SINCE]: formatInstant(NIGHT) };
      await change(scaler, { metadata: { annotations: held, labels: { [MANAGED_BY]: ns } } }, FIELD_MANAGER);
      await change(web, { spec: { replicas: 0 } }, 'keda-operator');
      expect((await at(NIGHT).ensureScaled(batch)).outcomes).toEqual([]);
      expect((await read(web)).metadata?.annotations?.[ORIGINAL_REPLICAS]).toBe('3');
      await scaled(at(MORNING), observeInput);
      expect((await read(web)).spec.replicas).toBe(3);
    });

    it('whose workload was deleted in the night work again in the morning, or when the schedule goes', async () => {
      const { admin, at, create, read, schedule } = cluster();
      const ns = 'targetless';
      const names = ['a', 'b'];
      const scalers = names.map((name) => scaledObject(ns, name, { name }));
      await create([namespaceOf(ns), ...scalers, horizontal(ns, 'c', { minReplicas: 2, maxReplicas: 10 })]);
      await create([...names, 'c'].map((name) => workloadOf('Deployment', ns, name, 3)));
      const bounds = horizontal(ns, 'c', {});
      await schedule(ns, { namespaces: [ns], downscaleReplicas: 1 });
      const before = (await Promise.all([...scalers, bounds].map(read))).map(essence);
      await scaled(at(NIGHT), observeInputOf(ns));
      expect((await read(bounds)).spec.maxReplicas).toBe(1);
      for (const name of ['a', 'c']) await admin.apps.deleteNamespacedDeployment({ name, namespace: ns });
      expect(planOf(await at(NIGHT).observeSchedule(observeInputOf(ns))).items).toEqual([]);
      expect((await read(scalers[0] ?? {})).metadata?.annotations?.[KEDA_PAUSED_REPLICAS]).toBe('1');

      const { outcomes, seen } = await scaled(at(MORNING), observeInputOf(ns));
      expect(planOf(seen).items.map(({ workload }) => workload.name)).toEqual(['a', 'b', 'c']);
      expect(outcomes).toEqual([]);
      expect((await Promise.all([...scalers, bounds].map(read))).map(essence)).toEqual(before);

      await scaled(at(NIGHT), observeInputOf(ns));
      await admin.apps.deleteNamespacedDeployment({ name: 'b', namespace: ns });
      await admin.custom.deleteClusterCustomObject({ ...SCHEDULES, name: ns });
      await scaled(at(NIGHT), observeInputOf(ns));
      expect((await Promise.all([...scalers, bounds].map(read))).map(essence)).toEqual(before);
    });
  });
}

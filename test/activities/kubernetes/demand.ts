import { PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { describe, expect, it, vi } from 'vitest';
import { inParallel } from '../../../activities/kernel/in-parallel.ts';
import { addLists, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import { type Cluster, namespaceOf, observed, patience, quotaOf, targetOf, templateOf, workloadOf } from './cluster.ts';

const HOUR = 3_600_000;

/** Beside what a quota is about: what can be tried with a Secret, which none of the workloads has. */
const NO_SECRETS = { 'count/secrets': '0' };

const mergePatch = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

/** What refused workloads of the real controllers still miss, as the worker sees it. */
export function demandTests(cluster: () => Cluster): void {
  /**
   * Returns when admission goes by the quota. It reads it from a cache of its own, and while that is behind the first count,
   * it lets everything in and charges nothing, until Kubernetes counts anew some minutes later.
   */
  async function setUp(namespace: string, hard: Record<string, string>, ...objects: readonly object[]): Promise<void> {
    const { admin, create } = cluster();
    await create(namespaceOf(namespace), quotaOf(namespace, { ...hard, ...NO_SECRETS }), ...objects);
    const tried = { namespace, dryRun: 'All', body: { metadata: { name: 'tried' } } };
    await vi.waitFor(
      async () => await expect(admin.core.createNamespacedSecret(tried)).rejects.toThrow('exceeded quota'),
      patience,
    );
  }

  describe('the demand of a namespace', () => {
    it('of a Deployment of 6 × 500m in a quota of 2 cpus is the one cpu that it misses, also without its Events', async () => {
      const { create, admin } = cluster();
      const namespace = 'demand-deployment';
      const target = targetOf(namespace);
      await setUp(namespace, { 'requests.cpu': '2' });
      // Events have whole seconds.
      const begun = Math.floor(Date.now() / 1000) * 1000;
      await create(workloadOf('Deployment', namespace, 'web', { replicas: 6, template: templateOf('web', '500m') }));
      const seen = await observed(cluster(), target, ({ demand, quota }) => {
        expect(demand).toMatchObject([{ basis: 'workload', missing: 2, total: { 'requests.cpu': '1' } }]);
        // While pods still come in, a look takes the quota as it was before them in the end.
        expect(quota).toMatchObject({ hard: { 'requests.cpu': '2' }, used: { 'requests.cpu': '2' } });
      });
      expect(seen.demand[0]?.workload.kind).toBe('ReplicaSet');
      expect(seen.demand[0]?.lastSeen).toBeGreaterThanOrEqual(begun);

      await admin.core.deleteCollectionNamespacedEvent({ namespace });
      await observed(cluster(), target, ({ demand }) => expect(demand).toMatchObject([{ missing: 2 }]));

      const scale = { metadata: { name: 'web', namespace }, spec: { replicas: 4 } };
      await admin.apps.replaceNamespacedDeploymentScale({ name: 'web', namespace, body: scale });
      await observed(cluster(), target, ({ demand }) => expect(demand).toEqual([]));
    });

    it('of a successor that waits for a terminating pod of its Deployment is none', async () => {
      const { create, admin } = cluster();
      const namespace = 'demand-terminating';
      await setUp(namespace, { 'requests.cpu': '1' });
      const bound = (image: string) => {
        const resources = { requests: { cpu: '500m' } };
        // On a node, where a pod that is deleted has its grace.
        const spec = {
          nodeName: 'none',
          terminationGracePeriodSeconds: 90,
          containers: [{ name: 'app', image, resources }],
        };
        return { metadata: { labels: { app: 'web' } }, spec };
      };
      const strategy = { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } };
      await create(workloadOf('Deployment', namespace, 'web', { replicas: 2, strategy, template: bound('old') }));
      await vi.waitFor(async () => {
        expect((await admin.core.listNamespacedPod({ namespace })).items).toHaveLength(2);
      }, patience);
      const name = 'web';
      await admin.apps.patchNamespacedDeployment(
        { name, namespace, body: { spec: { template: bound('new') } } },
        mergePatch,
      );
      await vi.waitFor(async () => {
        const { items } = await admin.core.listNamespacedEvent({ namespace });
        expect(items.filter(({ message = '' }) => message.includes('exceeded quota'))).not.toEqual([]);
      }, patience);
      const { items } = await admin.core.listNamespacedPod({ namespace });
      expect(items.filter(({ metadata }) => metadata?.deletionTimestamp !== undefined)).toHaveLength(1);
      await observed(cluster(), targetOf(namespace), ({ demand, quota }) => {
        expect(demand).toEqual([]);
        expect(quota).toMatchObject({ used: { 'requests.cpu': '1' } });
      });
    });

    it('is gone with its workload, and a namesake made anew has none of it', async () => {
      const { create, admin } = cluster();
      const namespace = 'demand-namesake';
      await setUp(namespace, { pods: '1' });
      const replicas = (count: number) =>
        workloadOf('ReplicaSet', namespace, 'web', { replicas: count, template: templateOf('web') });
      await create(replicas(5));
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toMatchObject([{ missing: 4 }]));
      await admin.apps.deleteNamespacedReplicaSet({ name: 'web', namespace });
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toEqual([]));
      // Its pod goes after it, and would leave no room for that of the namesake; admission learns of that last.
      const pod = { metadata: { name: 'tried' }, spec: { containers: [{ name: 'app', image: 'app' }] } };
      await vi.waitFor(
        async () => await admin.core.createNamespacedPod({ namespace, dryRun: 'All', body: pod }),
        patience,
      );
      await create(replicas(1));
      const { demand } = await observed(cluster(), targetOf(namespace), () => {});
      const events = await admin.core.listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
      expect(events.items.length).toBeGreaterThan(0);
      expect(demand).toEqual([]);
    });

    it('of a StatefulSet is its members and the claims before them, in the default storage class', async () => {
      const namespace = 'demand-statefulset';
      const byClass = 'fast.storageclass.storage.k8s.io/requests.storage';
      const claim = {
        metadata: { name: 'data' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      };
      // The mark of Kubernetes 1.4, which admission still goes by.
      const annotations = { 'storageclass.beta.kubernetes.io/is-default-class': 'true' };
      await cluster().create({
        apiVersion: 'storage.k8s.io/v1',
        kind: 'StorageClass',
        metadata: { name: 'fast', annotations },
        provisioner: 'none',
      });
      await setUp(namespace, { persistentvolumeclaims: '1', [byClass]: '1Gi', pods: '10' });
      const spec = {
        replicas: 3,
        serviceName: 'db',
        podManagementPolicy: 'Parallel',
        template: templateOf('db'),
        volumeClaimTemplates: [claim],
      };
      await cluster().create(workloadOf('StatefulSet', namespace, 'db', spec));
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          {
            workload: { kind: 'StatefulSet', name: 'db' },
            basis: 'workload',
            missing: 2,
            total: { persistentvolumeclaims: '2', [byClass]: '2Gi', pods: '2' },
          },
        ]);
      });
    });

    it('of a DaemonSet is the pods of the nodes that have none', async () => {
      const namespace = 'demand-daemonset';
      for (const name of ['node-a', 'node-b', 'node-c'])
        await cluster().create({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
      await setUp(namespace, { pods: '1' });
      await cluster().create(workloadOf('DaemonSet', namespace, 'agent', { template: templateOf('agent') }));
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { workload: { kind: 'DaemonSet', name: 'agent' }, missing: 2, total: { pods: '2' } },
        ]);
      });
    });

    it('of a DaemonSet is those pods as well while another one stays on a node that no pod should come to', async () => {
      const namespace = 'demand-daemonset-astray';
      const team = { 'example.com/team': namespace };
      const taint = { key: 'example.com/kept', effect: 'NoSchedule' };
      const node = async (name: string, more: object = {}) =>
        await cluster().create({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: team }, ...more });
      await setUp(namespace, { pods: '1' });
      await node('astray-a');
      const template = templateOf('astray', undefined, { nodeSelector: team });
      await cluster().create(workloadOf('DaemonSet', namespace, 'astray', { template }));
      await vi.waitFor(async () => {
        expect((await cluster().admin.core.listNamespacedPod({ namespace })).items).toHaveLength(1);
      }, patience);
      await cluster().admin.core.patchNode({ name: 'astray-a', body: { spec: { taints: [taint] } } }, mergePatch);
      await node('astray-b');
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { workload: { kind: 'DaemonSet', name: 'astray' }, missing: 1, total: { pods: '1' } },
        ]);
      });
    });

    it('of a Job is what it may run at once, and nothing while it is suspended', async () => {
      const { create, admin } = cluster();
      const namespace = 'demand-job';
      await setUp(namespace, { pods: '1' });
      const template = templateOf('batch', undefined, { restartPolicy: 'Never' });
      await create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'batch', namespace },
        spec: { parallelism: 3, completions: 9, template },
      });
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([{ workload: { kind: 'Job', name: 'batch' }, missing: 2, total: { pods: '2' } }]);
      });
      await admin.batch.patchNamespacedJob({ name: 'batch', namespace, body: { spec: { suspend: true } } }, mergePatch);
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toEqual([]));
    });

    it('of a CronJob is the Job that was denied and its pods, until the Job is there', async () => {
      const { create, admin } = cluster();
      const namespace = 'demand-cronjob';
      await setUp(namespace, { 'count/jobs.batch': '0', pods: '5' });
      const template = templateOf('nightly', undefined, { restartPolicy: 'Never' });
      const jobTemplate = { spec: { parallelism: 2, completions: 2, template } };
      const cron = {
        apiVersion: 'batch/v1',
        kind: 'CronJob',
        metadata: { name: 'nightly', namespace },
        spec: { schedule: '* * * * *', suspend: true, jobTemplate },
      };
      await create(cron);
      // A schedule that was missed is due at once, so that nobody waits for the minute.
      const due = await admin.batch.readNamespacedCronJobStatus({ name: 'nightly', namespace });
      due.status = { lastScheduleTime: new Date(Date.now() - 300_000) };
      const started = await admin.batch.replaceNamespacedCronJobStatus({ name: 'nightly', namespace, body: due });
      if (started.spec) started.spec.suspend = false;
      await admin.batch.replaceNamespacedCronJob({ name: 'nightly', namespace, body: started });
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { workload: { kind: 'CronJob', name: 'nightly' }, missing: 2, total: { 'count/jobs.batch': '1', pods: '2' } },
        ]);
      });
      const raise = { spec: { hard: { 'count/jobs.batch': '3' } } };
      await admin.core.patchNamespacedResourceQuota({ name: 'compute', namespace, body: raise }, mergePatch);
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toEqual([]));
    });

    it('of a ReplicationController is its missing replicas', async () => {
      const namespace = 'demand-controller';
      await setUp(namespace, { pods: '1' });
      await cluster().create(
        workloadOf('ReplicationController', namespace, 'old', { replicas: 3, template: templateOf('old') }),
      );
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { workload: { kind: 'ReplicationController', name: 'old' }, missing: 2, total: { pods: '2' } },
        ]);
      });
    });

    it('counts the defaults of a LimitRange and the overhead of a RuntimeClass', async () => {
      const namespace = 'demand-defaults';
      const limitRange = { limits: [{ type: 'Container', defaultRequest: { cpu: '300m' } }] };
      await cluster().create({
        apiVersion: 'node.k8s.io/v1',
        kind: 'RuntimeClass',
        metadata: { name: 'sandbox' },
        handler: 'sandbox',
        overhead: { podFixed: { cpu: '50m' } },
      });
      await setUp(
        namespace,
        { 'requests.cpu': '400m' },
        { apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'defaults', namespace }, spec: limitRange },
      );
      const template = templateOf('web', undefined, { runtimeClassName: 'sandbox' });
      await cluster().create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 3, template }));
      await observed(cluster(), targetOf(namespace), ({ demand, quota }) => {
        expect(demand).toMatchObject([{ missing: 2, total: { 'requests.cpu': '700m' } }]);
        expect(quota?.used).toEqual({ 'requests.cpu': '350m', 'count/secrets': '0' });
      });
    });

    it('counts the devices that come with the missing pods, where the quota does', async () => {
      const namespace = 'demand-devices';
      const gpus = { name: 'gpus', exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count: 2 } };
      const hard = { 'requests.cpu': '500m', 'gpu.deviceclass.resource.k8s.io/devices': '2' };
      await setUp(namespace, hard, {
        apiVersion: 'resource.k8s.io/v1',
        kind: 'ResourceClaimTemplate',
        metadata: { name: 'two-gpus', namespace },
        spec: { spec: { devices: { requests: [gpus] } } },
      });
      const resourceClaims = [
        { name: 'own', resourceClaimTemplateName: 'two-gpus' },
        { name: 'gone', resourceClaimTemplateName: 'no-such-template' },
      ];
      const template = templateOf('web', '500m', { resourceClaims });
      await cluster().create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 3, template }));
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { missing: 2, total: { 'requests.cpu': '1', 'gpu.deviceclass.resource.k8s.io/devices': '4' } },
        ]);
      });
    });

    it('of a Deployment that cannot make its ReplicaSet is that ReplicaSet', async () => {
      const namespace = 'demand-replicaset-count';
      await setUp(namespace, { 'count/replicasets.apps': '0' });
      await cluster().create(workloadOf('Deployment', namespace, 'web', { replicas: 2, template: templateOf('web') }));
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          { workload: { kind: 'Deployment', name: 'web' }, total: { 'count/replicasets.apps': '1' } },
        ]);
      });
    });

    it('is evaluated for every quota that counts the denied pods, whichever denied them', async () => {
      const namespace = 'demand-two-quotas';
      await setUp(
        namespace,
        { pods: '1' },
        quotaOf(namespace, { 'requests.cpu': '5' }, 'cpu'),
        quotaOf(namespace, { pods: '1' }, 'best-effort', { scopes: ['BestEffort'] }),
      );
      await cluster().create(
        workloadOf('ReplicaSet', namespace, 'web', { replicas: 4, template: templateOf('web', '1') }),
      );
      await observed(cluster(), targetOf(namespace, 'cpu'), ({ demand }) => {
        expect(demand).toMatchObject([{ missing: 3, total: { 'requests.cpu': '3' } }]);
      });
      await observed(cluster(), targetOf(namespace, 'best-effort'), ({ demand }) => expect(demand).toEqual([]));
    });

    it('of pods without a priority class is that of the default one, where a quota selects by it', async () => {
      const namespace = 'demand-priority';
      const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['ordinary'] }];
      const ordinary = { scopeSelector: { matchExpressions } };
      await setUp(namespace, { pods: '1' }, quotaOf(namespace, { pods: '1' }, 'ordinary', ordinary), {
        apiVersion: 'scheduling.k8s.io/v1',
        kind: 'PriorityClass',
        metadata: { name: 'ordinary' },
        value: 1000,
        globalDefault: true,
      });
      await cluster().create(workloadOf('ReplicaSet', namespace, 'web', { replicas: 3, template: templateOf('web') }));
      await observed(cluster(), targetOf(namespace, 'ordinary'), ({ demand }) => {
        expect(demand).toMatchObject([{ missing: 2, total: { pods: '2' } }]);
      });
    });

    it('of an owner of an unknown kind is what the message says; other failures are none', async () => {
      const { admin } = cluster();
      const namespace = 'demand-message';
      await setUp(namespace, { 'requests.cpu': '2' });
      const event = async (name: string, message: string) => {
        const metadata = { name, namespace };
        const involvedObject = { apiVersion: 'tekton.dev/v1', kind: 'TaskRun', name, namespace, uid: `uid-${name}` };
        await admin.core.createNamespacedEvent({
          namespace,
          body: { metadata, involvedObject, reason: 'FailedCreate', message, lastTimestamp: new Date() },
        });
      };
      const denial =
        'pods "build-pod" is forbidden: exceeded quota: compute, requested: requests.cpu=3, used: requests.cpu=0, limited: requests.cpu=2';
      await event('build', denial);
      await event('broken', 'pods "x" is forbidden: error looking up service account');
      await observed(cluster(), targetOf(namespace), ({ demand }) => {
        expect(demand).toMatchObject([
          {
            workload: { kind: 'TaskRun', name: 'build' },
            basis: 'message',
            missing: 1,
            total: { 'requests.cpu': '3' },
          },
        ]);
      });
      await vi.waitFor(async () => {
        const events = await admin.core.listNamespacedEvent({ namespace });
        expect(events.items).toHaveLength(2);
      }, patience);

      // Nobody can say whether the object still exists: what is not denied again within the hour is not wanted any more.
      const body = { lastTimestamp: new Date(Date.now() - HOUR) };
      await admin.core.patchNamespacedEvent({ name: 'build', namespace, body }, mergePatch);
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toEqual([]));
    });

    it('by a message about a pod is gone with the pod', async () => {
      const { admin } = cluster();
      const namespace = 'demand-of-pod';
      await setUp(namespace, { persistentvolumeclaims: '0' });
      const body = { metadata: { name: 'web' }, spec: { containers: [{ name: 'app', image: 'app' }] } };
      const { metadata } = await admin.core.createNamespacedPod({ namespace, body });
      const involvedObject = { apiVersion: 'v1', kind: 'Pod', name: 'web', namespace, uid: metadata?.uid ?? '' };
      const message =
        'persistentvolumeclaims "web-scratch" is forbidden: exceeded quota: compute, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=0, limited: persistentvolumeclaims=0';
      await admin.core.createNamespacedEvent({
        namespace,
        body: {
          metadata: { name: 'web', namespace },
          involvedObject,
          reason: 'FailedCreate',
          message,
          lastTimestamp: new Date(),
        },
      });
      await observed(cluster(), targetOf(namespace), ({ demand }) =>
        expect(demand).toMatchObject([{ basis: 'message', total: { persistentvolumeclaims: '1' } }]),
      );
      await admin.core.deleteNamespacedPod({ name: 'web', namespace, gracePeriodSeconds: 0 });
      await observed(cluster(), targetOf(namespace), ({ demand }) => expect(demand).toEqual([]));
    });

    it('of a StatefulSet that was denied at 1 CPU, then edited to 8 and stopped by Pod Security, is none', async () => {
      const { admin, create } = cluster();
      const namespace = 'demand-edited';
      await setUp(namespace, { 'requests.cpu': '500m' });
      const spec = { replicas: 5, serviceName: 'db', podManagementPolicy: 'Parallel', template: templateOf('db', '1') };
      await create(workloadOf('StatefulSet', namespace, 'db', spec));
      await observed(cluster(), targetOf(namespace), ({ demand }) =>
        expect(demand).toMatchObject([{ missing: 5, total: { 'requests.cpu': '5' } }]),
      );
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
      await admin.core.patchNamespace({ name: namespace, body: { metadata: { labels } } }, mergePatch);
      const body = { spec: { template: templateOf('db', '8') } };
      await admin.apps.patchNamespacedStatefulSet({ name: 'db', namespace, body }, mergePatch);
      await vi.waitFor(async () => {
        const events = await admin.core.listNamespacedEvent({ namespace, fieldSelector: 'reason=FailedCreate' });
        expect(events.items.some(({ message }) => message?.includes('violates PodSecurity'))).toBe(true);
        const { status, metadata } = await admin.apps.readNamespacedStatefulSet({ name: 'db', namespace });
        expect(status?.observedGeneration).toBe(metadata?.generation);
      }, patience);
      const seen = await observed(cluster(), targetOf(namespace), () => {});
      expect(seen.demand).toEqual([]);
    });

    it('is none of an Event that is dated in the future, or whose object does not exist, and says so', async () => {
      const { admin, create } = cluster();
      const namespace = 'demand-doubted';
      await setUp(namespace, { 'requests.cpu': '2' });
      const container = { name: 'app', image: 'app', resources: { requests: { cpu: '1' } } };
      const template = { spec: { containers: [container], restartPolicy: 'Never' } };
      // No controller works on it.
      const spec = { parallelism: 4, template, managedBy: 'example.com/nobody' };
      await create({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'real', namespace }, spec });
      const { metadata } = await admin.batch.readNamespacedJob({ name: 'real', namespace });
      const event = async (name: string, uid: string, lastTimestamp: Date) => {
        const message = `Error creating: pods "${name}-" is forbidden: exceeded quota: compute, requested: requests.cpu=1, used: requests.cpu=0, limited: requests.cpu=2`;
        const involvedObject = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid };
        await admin.core.createNamespacedEvent({
          namespace,
          body: { metadata: { name, namespace }, involvedObject, reason: 'FailedCreate', message, lastTimestamp },
        });
      };
      await event('real', metadata?.uid ?? '', new Date('2199-01-01T00:00:00Z'));
      await event('made-up', 'nothing', new Date());
      const { demand, doubted } = await observed(cluster(), targetOf(namespace), () => {});
      expect(demand).toEqual([]);
      expect(doubted).toEqual([
        {
          reason: 'InFuture',
          message:
            'An Event about Job real is dated 2199-01-01T00:00:00Z, which is in the future. Headroom does not believe it.',
        },
        {
          reason: 'NoObject',
          message: 'An Event is about Job made-up, and no object with its UID exists. Headroom does not count it.',
        },
      ]);
    });

    it('of 2,000 denied Jobs and four quotas is an observation of 256 KiB at most, with exact sums', {
      timeout: 180_000,
    }, async () => {
      const { admin } = cluster();
      const namespace = 'demand-many';
      const hard = { 'requests.cpu': '1', pods: '1' };
      const others = ['second', 'third', 'fourth'].map((name) => quotaOf(namespace, hard, name));
      await setUp(namespace, hard, ...others);
      const container = { name: 'app', image: 'app', resources: { requests: { cpu: '100m' } } };
      const template = { spec: { containers: [container], restartPolicy: 'Never' } };
      const names = Array.from({ length: 2000 }, (_, index) => `load-${index}`);
      await inParallel(16, names, async (name) => {
        // No controller works on these, so their pods are missing.
        const spec = { template, managedBy: 'example.com/nobody' };
        const { metadata } = await admin.batch.createNamespacedJob({
          namespace,
          body: { metadata: { name }, spec },
        });
        const involvedObject = { apiVersion: 'batch/v1', kind: 'Job', name, namespace, uid: metadata?.uid ?? '' };
        const message = `Error creating: pods "${name}-" is forbidden: exceeded quota: compute, requested: requests.cpu=100m, used: requests.cpu=1, limited: requests.cpu=1`;
        await admin.core.createNamespacedEvent({
          namespace,
          body: {
            metadata: { name, namespace },
            involvedObject,
            reason: 'FailedCreate',
            message,
            lastTimestamp: new Date(),
          },
        });
      });
      const seen = await cluster()
        .activities()
        .observeQuota({ target: targetOf(namespace) });
      expect(JSON.stringify(seen).length).toBeLessThanOrEqual(256 * 1024);
      expect(seen.otherQuotas).toHaveLength(3);
      for (const { demand } of [seen, ...seen.otherQuotas]) {
        const total = demand.reduce<ResourceList>((sum, workload) => addLists(sum, workload.total), {});
        expect(total).toEqual({ 'requests.cpu': '200', pods: '2k' });
        expect(demand.at(-1)).toMatchObject({ workload: { kind: 'Job' }, alike: 1960, missing: 1960 });
      }
    });
  });
}

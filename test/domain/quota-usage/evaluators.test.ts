import { describe, expect, it } from 'vitest';
import { groupResourceName } from '../../../domain/kernel/group-resource.ts';
import type { UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorFor, evaluatorsFor, staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';

const core = (resource: string) => ({ group: '', resource });
const claims = { group: 'resource.k8s.io', resource: 'resourceclaims' };
const bare: UsageContext = { now: 0, deviceClasses: new Map(), podNamed: () => undefined };
const withGpus: UsageContext = { ...bare, deviceClasses: new Map([['gpu', 'example.com/gpu']]) };

describe('the resources that are counted', () => {
  it('have one evaluator each, known to the cluster or not', () => {
    const existing = [core('pods'), core('secrets'), { group: 'apps', resource: 'deployments' }, core('endpoints')];
    const names = evaluatorsFor(existing).map(({ resource }) => groupResourceName(resource));
    expect(names.toSorted()).toEqual(
      [
        'configmaps',
        'deployments.apps',
        'endpoints',
        'persistentvolumeclaims',
        'pods',
        'replicationcontrollers',
        'resourceclaims.resource.k8s.io',
        'resourcequotas',
        'secrets',
        'services',
      ].toSorted(),
    );
    expect(evaluatorsFor([])).toEqual(staticEvaluators);
  });

  it('are told by resource and group', () => {
    expect(evaluatorFor({ group: 'metrics.k8s.io', resource: 'pods' }).usage({}, bare)).toEqual({
      'count/pods.metrics.k8s.io': '1',
    });
    expect(evaluatorFor(core('pods'))).toBe(staticEvaluators[0]);
  });
});

describe('the names of a quota that an evaluator counts', () => {
  const matched = (resource: { group: string; resource: string }, names: readonly string[], context = bare) =>
    evaluatorFor(resource).matchingResources(names, context);

  it('are for pods all that containers ask for, and every extended resource', () => {
    const counted = [
      'count/pods',
      'pods',
      'cpu',
      'memory',
      'ephemeral-storage',
      'requests.cpu',
      'requests.memory',
      'requests.ephemeral-storage',
      'limits.cpu',
      'limits.memory',
      'limits.ephemeral-storage',
      'hugepages-2Mi',
      'requests.hugepages-1Gi',
      'requests.nvidia.com/gpu',
      'requests.deviceclass.resource.kubernetes.io/gpu',
    ];
    const others = [
      'storage',
      'requests.storage',
      'nvidia.com/gpu',
      'limits.nvidia.com/gpu',
      'limits.hugepages-2Mi',
      'requests.node.kubernetes.io/x',
      'deviceclass.resource.kubernetes.io/gpu',
      'gold.storageclass.storage.k8s.io/requests.storage',
      'count/podtemplates',
    ];
    expect(matched(core('pods'), [...counted, ...others])).toEqual(counted);
  });

  it('are for services their four', () => {
    const counted = ['count/services', 'services', 'services.nodeports', 'services.loadbalancers'];
    expect(matched(core('services'), ['configmaps', 'cpu', ...counted])).toEqual(counted);
  });

  it('are for volume claims those of any storage class too', () => {
    const counted = [
      'count/persistentvolumeclaims',
      'requests.storage',
      'persistentvolumeclaims',
      'gold.storageclass.storage.k8s.io/requests.storage',
      'gold.storageclass.storage.k8s.io/persistentvolumeclaims',
    ];
    const others = [
      'storage',
      'ephemeral-storage',
      'bronze.storageclass.storage.k8s.io/storage',
      'gold.storage.k8s.io/requests.storage',
    ];
    expect(matched(core('persistentvolumeclaims'), [...counted, ...others])).toEqual(counted);
  });

  it('are for resource claims those of any device class, and the extended resources that classes stand for', () => {
    const always = ['count/resourceclaims.resource.k8s.io', 'tpu.deviceclass.resource.k8s.io/devices'];
    const extended = ['requests.example.com/gpu', 'requests.deviceclass.resource.kubernetes.io/gpu'];
    const others = [
      'resourceclaims',
      'storage',
      'ephemeral-storage',
      'bronze.deviceclass.resource.k8s.io/storage',
      'gpu.storage.k8s.io/requests.storage',
      'requests.nvidia.com/gpu',
      'requests.deviceclass.resource.kubernetes.io/tpu',
    ];
    const all = [...always, ...extended, ...others];
    expect(matched(claims, all, withGpus)).toEqual([...always, ...extended]);
    expect(matched(claims, all, bare)).toEqual(always);
    expect(matched(claims, all, { ...withGpus, extendedClaims: false })).toEqual(always);
    const unnamed = { ...bare, deviceClasses: new Map([['gpu', null]]), extendedClaims: true };
    expect(matched(claims, all, unnamed)).toEqual([...always, 'requests.deviceclass.resource.kubernetes.io/gpu']);
  });

  it('are for other objects their count, by an older name too where there is one', () => {
    const names = ['count/secrets', 'secrets', 'count/jobs.batch', 'jobs.batch', 'count/jobs', 'jobs'];
    expect(matched(core('secrets'), names)).toEqual(['count/secrets', 'secrets']);
    expect(matched({ group: 'batch', resource: 'jobs' }, names)).toEqual(['count/jobs.batch']);
  });
});

describe('the charge that an evaluator gives', () => {
  const pod: Pod = { spec: { containers: [{ resources: { requests: { cpu: '1' } } }] } };

  it('is kept for an object, and worked out anew for another', () => {
    const evaluator = evaluatorFor(core('pods'));
    expect(evaluator.usage(pod, bare)).toBe(evaluator.usage(pod, bare));
    expect(evaluator.usage({ ...pod }, bare)).not.toBe(evaluator.usage(pod, bare));
    expect(evaluator.usage({ ...pod }, bare)).toEqual(evaluator.usage(pod, bare));
  });

  it('is that of the moment for a pod that is being deleted', () => {
    const deletionTimestamp = '2026-11-20T10:00:00Z';
    const leaving: Pod = { ...pod, metadata: { deletionTimestamp, deletionGracePeriodSeconds: 30 } };
    const at = (seconds: number) =>
      evaluatorFor(core('pods')).usage(leaving, { ...bare, now: Date.parse(deletionTimestamp) + seconds * 1000 });
    expect(at(30)).toMatchObject({ pods: '1', cpu: '1' });
    expect(at(31)).toEqual({ 'count/pods': '1' });
    expect(at(30)).toMatchObject({ pods: '1' });
  });

  it('is for services and other objects one that no scope selects', () => {
    for (const resource of [core('services'), claims, core('secrets')]) {
      expect(evaluatorFor(resource).matchesScope({ scopeName: 'NotTerminating' }, {})).toBe(false);
    }
  });
});

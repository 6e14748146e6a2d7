import * as fc from '../../kernel/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { type GroupResource, groupResourceName } from '../../../domain/kernel/group-resource.ts';
import { addLists, equalLists, maskList, type ResourceList } from '../../../domain/kernel/resource-list.ts';
import { calculateUsage, type ObjectsOf, resourcesToCount } from '../../../domain/quota-usage/calculate.ts';
import type { Claim } from '../../../domain/quota-usage/volume-claim-charge.ts';
import type { ResourceClaim } from '../../../domain/quota-usage/resource-claim-charge.ts';
import type { CountedObject, Evaluator, UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorsFor, podEvaluator, staticEvaluators } from '../../../domain/quota-usage/evaluators.ts';
import type { Pod } from '../../../domain/quota-usage/pod.ts';
import type { Service } from '../../../domain/quota-usage/service-charge.ts';

const bare: UsageContext = { now: 0, deviceClasses: new Map(), podNamed: () => undefined };
const withGpus: UsageContext = { ...bare, deviceClasses: new Map([['gpu', 'example.com/gpu']]) };
const jobs: GroupResource = { group: 'batch', resource: 'jobs' };

const container = (requests: object) => ({ resources: { requests: { ...requests } } });
const pod = (requests: object, change: Pod = {}): Pod => ({ spec: { containers: [container(requests)] }, ...change });
const gpuClaim = (count: number): ResourceClaim => ({
  spec: { devices: { requests: [{ exactly: { deviceClassName: 'gpu', allocationMode: 'ExactCount', count } }] } },
});

/** A namespace with these objects, by resource; what is a text cannot be had. */
const namespace =
  (content: Readonly<Record<string, readonly CountedObject[] | string>>): ObjectsOf =>
  (resource) => {
    const found = content[groupResourceName(resource)] ?? [];
    return typeof found === 'string' ? { unavailable: found } : { objects: found };
  };

describe('the usage of a namespace', () => {
  it('is counted for what the quota limits, zero where there is nothing', () => {
    const hard = { pods: '1', 'requests.cpu': '1', services: '1', secrets: '1', 'count/jobs.batch': '1' };
    const objects = namespace({ pods: [pod({ cpu: '250m', memory: '1Gi' }), pod({ cpu: '1' })], 'jobs.batch': [{}] });
    expect(calculateUsage({ hard }, evaluatorsFor([jobs]), objects, bare)).toEqual({
      used: { pods: '2', 'requests.cpu': '1250m', services: '0', secrets: '0', 'count/jobs.batch': '1' },
      unmeasured: [],
    });
  });

  it('leaves out only the number that an unreadable amount of one object is part of, and says which', () => {
    const hard = { pods: '9', 'requests.cpu': '9', 'requests.memory': '9', memory: '9', 'limits.memory': '9' };
    const odd = pod({ cpu: '1', memory: '1e1002' }, { metadata: { name: 'odd' } });
    const objects = namespace({ pods: [pod({ cpu: '250m', memory: '1Gi' }), odd, odd] });
    expect(calculateUsage({ hard }, staticEvaluators, objects, bare)).toEqual({
      used: { pods: '3', 'requests.cpu': '2250m', 'limits.memory': '0' },
      unmeasured: [
        {
          keys: ['memory', 'requests.memory'],
          reason: 'pods odd has requests of memory: 1e1002, which cannot be read as an amount',
        },
      ],
    });
  });

  it('leaves out the storage of a claim that cannot be read, for its class and for all, and no other', () => {
    const [fast, slow] = ['fast', 'slow'].map((name) => `${name}.storageclass.storage.k8s.io/requests.storage`);
    const hard = { persistentvolumeclaims: '9', 'requests.storage': '9', [fast ?? '']: '9', [slow ?? '']: '9' };
    const claim = (storageClassName: string, storage: string): Claim => ({
      metadata: { name: storageClassName },
      spec: { storageClassName, resources: { requests: { storage } } },
    });
    const objects = namespace({ persistentvolumeclaims: [claim('fast', '1e-1002'), claim('slow', '1Gi')] });
    const count = calculateUsage({ hard }, staticEvaluators, objects, bare);
    expect(count.used).toEqual({ persistentvolumeclaims: '2', [slow ?? '']: '1Gi' });
    expect(count.unmeasured.map(({ keys }) => keys)).toEqual([[fast, 'requests.storage']]);
  });

  it('says nothing about what nobody knows', () => {
    const hard = { 'count/jobs.batch': '1', 'count/pods': '1', 'example.com/gpu': '1', storage: '1' };
    expect(calculateUsage({ hard }, staticEvaluators, namespace({}), bare)).toEqual({
      used: { 'count/pods': '0' },
      unmeasured: [],
    });
    expect(calculateUsage({}, staticEvaluators, namespace({}), bare)).toEqual({ used: {}, unmeasured: [] });
  });

  it('asks for no objects that the quota does not count', () => {
    const asked: string[] = [];
    const objectsOf: ObjectsOf = (resource) => {
      asked.push(groupResourceName(resource));
      return { objects: [] };
    };
    calculateUsage({ hard: { cpu: '1', 'count/secrets': '1' } }, evaluatorsFor([jobs]), objectsOf, withGpus);
    expect(asked).toEqual(['pods', 'secrets']);
  });

  it('counts in a quota with scopes only what the scopes select, and of services nothing', () => {
    const hard = { pods: '9', services: '9', persistentvolumeclaims: '9' };
    const ending: Pod = { spec: { activeDeadlineSeconds: 1 } };
    const objects = namespace({ pods: [pod({}), ending, ending], services: [{}], persistentvolumeclaims: [{}] });
    const count = (scopes: readonly string[]) => calculateUsage({ hard, scopes }, staticEvaluators, objects, bare).used;
    expect(count(['Terminating'])).toEqual({ pods: '2', services: '0', persistentvolumeclaims: '0' });
    expect(count(['Terminating', 'NotTerminating'])).toMatchObject({ pods: '0' });
    const scopeSelector = { matchExpressions: [{ scopeName: 'VolumeAttributesClass', operator: 'DoesNotExist' }] };
    expect(calculateUsage({ hard, scopeSelector }, staticEvaluators, objects, bare).used).toEqual({
      pods: '0',
      services: '0',
      persistentvolumeclaims: '1',
    });
  });

  it('adds up what pods and claims are charged of one extended resource', () => {
    const hard = { 'requests.example.com/gpu': '9', 'gpu.deviceclass.resource.k8s.io/devices': '9' };
    const objects = namespace({
      pods: [pod({ 'example.com/gpu': '2' })],
      'resourceclaims.resource.k8s.io': [gpuClaim(3)],
    });
    expect(calculateUsage({ hard }, staticEvaluators, objects, withGpus).used).toEqual({
      'requests.example.com/gpu': '5',
      'gpu.deviceclass.resource.k8s.io/devices': '3',
    });
  });
});

describe('what cannot be counted', () => {
  const hard = {
    pods: '1',
    cpu: '1',
    services: '1',
    'requests.example.com/gpu': '1',
    'count/resourceclaims.resource.k8s.io': '1',
  };

  it('is named with its reason, and the rest is counted', () => {
    const objects = namespace({ pods: 'pods are not listed yet', services: [{}] });
    expect(calculateUsage({ hard }, staticEvaluators, objects, bare)).toEqual({
      used: { services: '1', 'count/resourceclaims.resource.k8s.io': '0' },
      unmeasured: [{ keys: ['cpu', 'pods', 'requests.example.com/gpu'], reason: 'pods are not listed yet' }],
    });
  });

  it('is named once for each resource that failed, each name under the first', () => {
    const objects = namespace({
      pods: 'no pods',
      services: 'no services',
      'resourceclaims.resource.k8s.io': 'no claims',
    });
    expect(calculateUsage({ hard }, staticEvaluators, objects, withGpus)).toEqual({
      used: {},
      unmeasured: [
        { keys: ['cpu', 'pods', 'requests.example.com/gpu'], reason: 'no pods' },
        { keys: ['services'], reason: 'no services' },
        { keys: ['count/resourceclaims.resource.k8s.io'], reason: 'no claims' },
      ],
    });
  });

  it('is of extended resources all, where claims cannot be read as such', () => {
    const objects = namespace({
      pods: [pod({ cpu: '1', 'example.com/gpu': '1' })],
      'deviceclasses.resource.k8s.io': 'no classes',
      'resourceclaims.resource.k8s.io': [gpuClaim(1)],
    });
    expect(calculateUsage({ hard }, staticEvaluators, objects, bare)).toEqual({
      used: { pods: '1', cpu: '1', services: '0', 'count/resourceclaims.resource.k8s.io': '1' },
      unmeasured: [{ keys: ['requests.example.com/gpu'], reason: 'no classes' }],
    });
  });

  it('is nothing where there are no claims to read, or where they are never extended resources', () => {
    const withoutClaims = namespace({ 'deviceclasses.resource.k8s.io': 'no classes' });
    expect(calculateUsage({ hard }, staticEvaluators, withoutClaims, bare).unmeasured).toEqual([]);
    const withClaims = namespace({
      'deviceclasses.resource.k8s.io': 'no classes',
      'resourceclaims.resource.k8s.io': [gpuClaim(1)],
    });
    const ungated = { ...bare, extendedClaims: false };
    expect(calculateUsage({ hard }, staticEvaluators, withClaims, ungated).unmeasured).toEqual([]);
  });

  it('is for an evaluator that does not say otherwise everything it counts', () => {
    const reading: Evaluator = { ...podEvaluator, reads: [jobs] };
    const objects = namespace({ pods: [pod({})], 'jobs.batch': 'no jobs' });
    expect(calculateUsage({ hard: { pods: '1' } }, [reading], objects, bare)).toEqual({
      used: {},
      unmeasured: [{ keys: ['pods'], reason: 'no jobs' }],
    });
  });
});

describe('what must be known to count a quota', () => {
  const needed = (names: readonly string[], context = bare) =>
    resourcesToCount(names, evaluatorsFor([jobs]), context).map(groupResourceName);

  it('is what it limits, and for extended resources what claims are counted as', () => {
    expect(needed(['cpu', 'secrets', 'count/jobs.batch', 'count/unknown'])).toEqual(['pods', 'secrets', 'jobs.batch']);
    expect(needed(['requests.example.com/gpu'])).toEqual(['pods', 'deviceclasses.resource.k8s.io']);
    expect(needed(['requests.example.com/gpu'], withGpus)).toEqual([
      'pods',
      'resourceclaims.resource.k8s.io',
      'deviceclasses.resource.k8s.io',
    ]);
    expect(needed(['requests.example.com/gpu'], { ...withGpus, extendedClaims: false })).toEqual(['pods']);
    expect(needed(['gpu.deviceclass.resource.k8s.io/devices'])).toEqual(['resourceclaims.resource.k8s.io']);
  });
});

describe('for any namespace', () => {
  const amounts = fc.dictionary(
    fc.constantFrom('cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'example.com/gpu'),
    fc.constantFrom('0', '1', '250m', '3Gi', '1500M', '2e3'),
    { noNullPrototype: true },
  );
  const anyPod: fc.Arbitrary<Pod> = fc.record({
    spec: fc.record(
      {
        containers: fc.array(amounts.map(container), { maxLength: 3 }),
        activeDeadlineSeconds: fc.nat(9),
        priorityClassName: fc.constantFrom('', 'high', 'low'),
      },
      { requiredKeys: ['containers'] },
    ),
    status: fc.record({ phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed') }),
  });
  const anyService: fc.Arbitrary<Service> = fc.record({
    spec: fc.record({
      type: fc.constantFrom('ClusterIP', 'NodePort', 'LoadBalancer'),
      ports: fc.array(fc.constant({}), { maxLength: 3 }),
    }),
  });
  const anyClaim: fc.Arbitrary<Claim> = fc.record({
    spec: fc.record({
      storageClassName: fc.constantFrom('', 'gold'),
      resources: fc.record({ requests: fc.record({ storage: fc.constantFrom('1Gi', '1001m', '5G') }) }),
    }),
  });
  const anyNamespace = fc.record({
    pods: fc.array(anyPod, { maxLength: 6 }),
    services: fc.array(anyService, { maxLength: 4 }),
    persistentvolumeclaims: fc.array(anyClaim, { maxLength: 4 }),
    'resourceclaims.resource.k8s.io': fc.array(fc.nat(5).map(gpuClaim), { maxLength: 3 }),
    secrets: fc.array(fc.constant({}), { maxLength: 3 }),
  });
  const everyName = [
    'pods count/pods cpu requests.cpu memory requests.memory requests.ephemeral-storage hugepages-2Mi',
    'requests.example.com/gpu requests.deviceclass.resource.kubernetes.io/gpu',
    'count/services services services.nodeports services.loadbalancers secrets count/secrets',
    'count/persistentvolumeclaims persistentvolumeclaims requests.storage',
    'gold.storageclass.storage.k8s.io/requests.storage',
    'count/resourceclaims.resource.k8s.io gpu.deviceclass.resource.k8s.io/devices',
  ].flatMap((names) => names.split(' '));
  const anyHard = fc
    .subarray(everyName)
    .map((names): ResourceList => Object.fromEntries(names.map((name) => [name, '1'])));

  it('the count is the sum of what its objects are charged', () => {
    fc.assert(
      fc.property(anyNamespace, anyHard, (content, hard) => {
        const { used, unmeasured } = calculateUsage({ hard }, staticEvaluators, namespace(content), withGpus);
        const charges = Object.entries(content).flatMap(([name, objects]) => {
          const evaluator = staticEvaluators.find((candidate) => groupResourceName(candidate.resource) === name);
          return objects.map((object) => evaluator?.usage(object, withGpus) ?? {});
        });
        const zeros = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
        const sum = charges.reduce<ResourceList>((list, charge) => addLists(list, charge), zeros);
        expect(unmeasured).toEqual([]);
        expect(equalLists(used, maskList(sum, Object.keys(hard)))).toBe(true);
      }),
    );
  });

  it('opposite scopes part it: what one quota counts and what the other does are the whole', () => {
    fc.assert(
      fc.property(anyNamespace, (content) => {
        const hard = { pods: '1', 'count/pods': '1', cpu: '1', 'requests.memory': '1' };
        const count = (scopes: readonly string[]) =>
          calculateUsage({ hard, scopes }, staticEvaluators, namespace(content), withGpus).used;
        for (const [first, other] of [
          ['Terminating', 'NotTerminating'],
          ['BestEffort', 'NotBestEffort'],
        ] as const) {
          expect(equalLists(addLists(count([first]), count([other])), count([]))).toBe(true);
          expect(
            equalLists(count([first, other]), { pods: '0', 'count/pods': '0', cpu: '0', 'requests.memory': '0' }),
          ).toBe(true);
        }
      }),
    );
  });

  it('what fails takes away its own names and changes no other', () => {
    const failing = fc.constantFrom('pods', 'services', 'persistentvolumeclaims', 'resourceclaims.resource.k8s.io');
    fc.assert(
      fc.property(anyNamespace, anyHard, failing, (content, hard, failed) => {
        const whole = calculateUsage({ hard }, staticEvaluators, namespace(content), withGpus);
        const part = calculateUsage({ hard }, staticEvaluators, namespace({ ...content, [failed]: 'gone' }), withGpus);
        const evaluator = staticEvaluators.find((candidate) => groupResourceName(candidate.resource) === failed);
        const lost = evaluator?.matchingResources(Object.keys(hard), withGpus) ?? [];
        expect(part.unmeasured.flatMap(({ keys }) => keys).toSorted()).toEqual(lost.toSorted());
        expect(part.used).toEqual(
          maskList(
            whole.used,
            Object.keys(hard).filter((name) => !lost.includes(name)),
          ),
        );
      }),
    );
  });
});

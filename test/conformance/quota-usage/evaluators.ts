/** The cases of Kubernetes' quota evaluators and of its admission: what one object is charged, and which quota counts it. */
import * as z from 'zod';
import type { GroupResource } from '../../../domain/kernel/group-resource.ts';
import { admit } from '../../../domain/quota-usage/admission.ts';
import { calculateUsage } from '../../../domain/quota-usage/calculate.ts';
import { replenishes } from '../../../domain/quota-usage/changes.ts';
import type { Claim } from '../../../domain/quota-usage/volume-claim-charge.ts';
import { podConstraints } from '../../../domain/quota-usage/constraints.ts';
import type { ResourceClaim } from '../../../domain/quota-usage/resource-claim-charge.ts';
import type { CountedObject, UsageContext } from '../../../domain/quota-usage/evaluator.ts';
import { evaluatorFor, evaluatorsFor } from '../../../domain/quota-usage/evaluators.ts';
import type { Container, Pod } from '../../../domain/quota-usage/pod.ts';
import { podLimits, podRequests, type PodResourcesOptions } from '../../../domain/quota-usage/pod-charge.ts';
import type { ScopeRequirement } from '../../../domain/quota-usage/scopes.ts';
import type { Service } from '../../../domain/quota-usage/service-charge.ts';
import { type Adapter, adapter, notApplicable } from '../adapter.ts';
import { kubernetesObject } from '../kubernetes-object.ts';
import { sameAmounts, sameExpectedKeys, sameJson, sameMembers } from '../compare.ts';

const list = z.record(z.string(), z.string());

type Gates = Readonly<Record<string, boolean | undefined>> | undefined;

/** The feature gates that change what a case of a kind is about. */
function gates(...names: readonly string[]) {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.boolean().optional()]))).optional();
}

const podGates = gates('PodLevelResources', 'InPlacePodVerticalScaling');
const deviceGates = gates('DRAExtendedResource');

const pod = kubernetesObject<Pod>('V1Pod');
const service = kubernetesObject<Service>('V1Service');
const volumeClaim = kubernetesObject<Claim>('V1PersistentVolumeClaim');
const resourceClaim = kubernetesObject<ResourceClaim>('ResourceV1ResourceClaim');
const devices = kubernetesObject<NonNullable<NonNullable<ResourceClaim['spec']>['devices']>>('V1DeviceClaim');

const pods: GroupResource = { group: '', resource: 'pods' };
const services: GroupResource = { group: '', resource: 'services' };
const volumeClaims: GroupResource = { group: '', resource: 'persistentvolumeclaims' };
const resourceClaims: GroupResource = { group: 'resource.k8s.io', resource: 'resourceclaims' };

/** The moment that "now" means in the cases. */
const NOW = Date.UTC(2026, 0, 1);

/** `now-60s`, `now+5s` or `now` as an instant; anything else as it is. */
function instant(text: unknown): unknown {
  const relative = typeof text === 'string' ? /^now(?:([+-][0-9]+)s)?$/.exec(text) : null;
  return relative === null ? text : new Date(NOW + Number(relative[1] ?? 0) * 1000).toISOString();
}

function inTime(given: Pod): Pod {
  const deletionTimestamp = instant(given.metadata?.deletionTimestamp);
  return deletionTimestamp === undefined
    ? given
    : { ...given, metadata: { ...given.metadata, deletionTimestamp: deletionTimestamp as string } };
}

/** Every cluster that Headroom supports has these features; a case without one is an object without what it adds. */
function ungated(given: Pod, featureGates: Gates): Pod {
  const { resources: _, ...spec } = given.spec ?? {};
  const { containerStatuses: __, initContainerStatuses: ___, ...status } = given.status ?? {};
  return {
    ...given,
    ...(featureGates?.['PodLevelResources'] === false ? { spec } : {}),
    ...(featureGates?.['InPlacePodVerticalScaling'] === false ? { status } : {}),
  };
}

function unexpanded(given: Claim, featureGates: Gates): Claim {
  const { allocatedResources: _, ...status } = given.status ?? {};
  return featureGates?.['RecoverVolumeExpansionFailure'] === false ? { ...given, status } : given;
}

const BARE: UsageContext = { now: NOW, deviceClasses: new Map(), podNamed: () => undefined };

const deviceClasses = z.record(z.string(), z.strictObject({ extendedResourceName: z.string().optional() }));

function deviceContext(classes: z.infer<typeof deviceClasses> = {}, featureGates: Gates = {}): UsageContext {
  const named = Object.entries(classes).map(
    ([name, deviceClass]) => [name, deviceClass.extendedResourceName ?? null] as const,
  );
  return { ...BARE, deviceClasses: new Map(named), extendedClaims: featureGates['DRAExtendedResource'] ?? false };
}

const charge = (resource: GroupResource, counted: CountedObject, context = BARE) =>
  evaluatorFor(resource).usage(counted, context);

const options = z.strictObject({
  useStatusResources: z.boolean().optional(),
  skipPodLevelResources: z.boolean().optional(),
  excludeOverhead: z.boolean().optional(),
});

function optionsOf(given: z.infer<typeof options>): PodResourcesOptions {
  return {
    status: given.useStatusResources ?? false,
    podLevel: given.skipPodLevelResources !== true,
    overhead: given.excludeOverhead !== true,
  };
}

const podWithOptions = z.strictObject({ pod, options });
const bothSides = z.strictObject({ requests: list, limits: list });
const selector = z.strictObject({
  scopeName: z.string(),
  operator: z.string().optional(),
  values: z.array(z.string()).optional(),
});
const selectors = z.array(selector);
const scopeSelector = z.strictObject({ matchExpressions: z.array(selector).optional() }).optional();

/** What a claim asks for, and the pod that it was made for, where there is one. */
const resourceClaimInput = z.strictObject({
  devices: devices.optional(),
  claim: resourceClaim.optional(),
  pod: pod.optional(),
  pods: z.array(pod).optional(),
  deviceClasses: deviceClasses.optional(),
  featureGates: deviceGates,
});

function resourceClaimCharge(input: z.infer<typeof resourceClaimInput>): unknown {
  const owners = [...(input.pods ?? []), ...(input.pod === undefined ? [] : [input.pod])];
  const context = {
    ...deviceContext(input.deviceClasses, input.featureGates),
    podNamed: (name: string) => owners.find(({ metadata }) => metadata?.name === name),
  };
  return charge(resourceClaims, input.claim ?? { spec: { devices: input.devices } }, context);
}

const handled = notApplicable(
  'which requests are charged is decided by the API server, where its own evaluators are; Headroom only counts',
);

const names = z.array(z.string());

const matchingResources = (resource: GroupResource) =>
  adapter(
    z.strictObject({ resources: names, deviceClasses: deviceClasses.optional(), featureGates: deviceGates }),
    names,
    (input) =>
      evaluatorFor(resource).matchingResources(input.resources, deviceContext(input.deviceClasses, input.featureGates)),
    sameMembers,
  );

/** Those of the conditions that an object satisfies, for an evaluator; `key` is what a case calls the object. */
const matchingScopes = (resource: GroupResource, key: string, object: z.ZodType<CountedObject>) =>
  adapter(
    z.strictObject({ selectors, [key]: object }),
    selectors,
    (input: Readonly<Record<string, unknown>>) => {
      const { selectors: terms, [key]: counted } = input;
      const matches = (term: ScopeRequirement) => evaluatorFor(resource).matchesScope(term, counted as CountedObject);
      return (terms as readonly ScopeRequirement[]).filter(matches);
    },
    sameJson,
  );

const statsInput = z.strictObject({
  pods: z.array(pod),
  scopes: z.array(z.string()).optional(),
  scopeSelector,
});

/** The original is asked for no resource by name, so it names only what some counted pod is charged. */
function podStats(input: z.infer<typeof statsInput>): unknown {
  const evaluator = evaluatorFor(pods);
  const all = Object.fromEntries(input.pods.flatMap((given) => Object.entries(evaluator.usage(given, BARE))));
  const count = calculateUsage({ ...input, hard: all }, [evaluator], () => ({ objects: input.pods }), BARE);
  return Object.fromEntries(Object.entries(count.used).filter(([, amount]) => amount !== '0'));
}

/** No error is null, an empty text or nothing at all. */
const constraintAnswer = z
  .strictObject({ error: z.string().nullish() })
  .nullish()
  .transform((answer) => ({ error: answer?.error || null }));

const usageInput = z.strictObject({
  hard: list,
  scopes: z.array(z.string()).optional(),
  scopeSelector,
  pods: z.array(pod).optional(),
  services: z.array(service).optional(),
  persistentvolumeclaims: z.array(volumeClaim).optional(),
});

const quotaObject = z.strictObject({
  name: z.string(),
  spec: z.strictObject({ scopes: z.array(z.string()).optional(), scopeSelector }).optional(),
  status: z.strictObject({ hard: list.optional(), used: list.optional() }).optional(),
});
const sides = z.strictObject({ requests: list.optional(), limits: list.optional() });
const admissionInput = z.strictObject({ quota: quotaObject, pod: sides });
const admissionAnswer = z.strictObject({ allowed: z.boolean(), message: z.string().nullish() });

/** A pod of one container without a name, as the tests of the original make it. */
const podOf = (resources: NonNullable<Container['resources']>): Pod => ({ spec: { containers: [{ resources }] } });

/** The pod's own name is not in a case's input, only in the words before the plugin's message. */
function admission(input: z.infer<typeof admissionInput>, { message }: z.infer<typeof admissionAnswer>): unknown {
  const [words] = /^pods "[^"]*" is forbidden: /.exec(message ?? '') ?? [''];
  const answer = admit(input.quota, podOf(input.pod), evaluatorFor(pods), BARE);
  return answer.allowed ? { ...answer, message: null } : { ...answer, message: words + answer.message };
}

/** `deployments.apps`, and `pods` for the core group. */
function groupResource(name: string): GroupResource {
  const [resource = '', ...group] = name.split('.');
  return { resource, group: group.join('.') };
}

/** An object of a resource that is only counted: nothing is read of it. */
const anyObject = z.custom<CountedObject>((value) => typeof value === 'object' && value !== null);

const objects: ReadonlyMap<string, z.ZodType<CountedObject>> = new Map<string, z.ZodType<CountedObject>>([
  ['pods', pod],
  ['services', service],
  ['persistentvolumeclaims', volumeClaim],
]);

/** Whether an update may lower a quota's usage. */
const updated = (object: z.ZodType<CountedObject>): Adapter =>
  adapter(
    z.strictObject({ resource: z.string(), old: object, new: object }),
    z.boolean(),
    (input) => replenishes(groupResource(input.resource), inTime(input.old as Pod), inTime(input.new as Pod), NOW),
    sameJson,
  );

export const quotaEvaluatorKinds: Readonly<Record<string, Adapter>> = {
  podUsage: adapter(
    z.strictObject({ pod, featureGates: podGates }),
    list,
    (input) => charge(pods, inTime(ungated(input.pod, input.featureGates))),
    sameAmounts,
  ),
  podUsageStats: adapter(statsInput, list, podStats, sameAmounts),
  podRequests: adapter(podWithOptions, list, (input) => podRequests(input.pod, optionsOf(input.options)), sameAmounts),
  podLimits: adapter(podWithOptions, list, (input) => podLimits(input.pod, optionsOf(input.options)), sameAmounts),
  podRequestsAndLimits: adapter(
    podWithOptions,
    bothSides,
    (input) => ({
      requests: podRequests(input.pod, optionsOf(input.options)),
      limits: podLimits(input.pod, optionsOf(input.options)),
    }),
    (expected, got) => {
      const [wanted, given] = [bothSides.parse(expected), bothSides.parse(got)];
      return sameAmounts(wanted.requests, given.requests) && sameAmounts(wanted.limits, given.limits);
    },
  ),
  podConstraints: adapter(
    z.strictObject({ pod, required: names, featureGates: podGates }),
    constraintAnswer,
    (input) => ({ error: podConstraints(input.required, ungated(input.pod, input.featureGates)) }),
    sameJson,
  ),
  podMatchingResources: matchingResources(pods),
  podMatchingScopes: matchingScopes(pods, 'pod', pod),
  podHandles: handled,
  serviceUsage: adapter(z.strictObject({ service }), list, (input) => charge(services, input.service), sameAmounts),
  serviceMatchingResources: matchingResources(services),
  serviceMatchingScopes: matchingScopes(services, 'service', service),
  serviceHandles: handled,
  pvcUsage: adapter(
    z.strictObject({ pvc: volumeClaim, featureGates: gates('RecoverVolumeExpansionFailure') }),
    list,
    (input) => charge(volumeClaims, unexpanded(input.pvc, input.featureGates)),
    sameAmounts,
  ),
  pvcMatchingResources: matchingResources(volumeClaims),
  pvcMatchingScopes: matchingScopes(volumeClaims, 'pvc', volumeClaim),
  pvcHandles: handled,
  claimUsage: adapter(resourceClaimInput, list, resourceClaimCharge, sameAmounts),
  claimMatchingResources: matchingResources(resourceClaims),
  claimMatchingScopes: matchingScopes(resourceClaims, 'claim', resourceClaim),
  claimHandles: handled,
  objectCountHandles: handled,
  objectCountMatchingResources: adapter(
    z.strictObject({ resource: z.string(), resources: names }),
    names,
    (input) => evaluatorFor(groupResource(input.resource)).matchingResources(input.resources, BARE),
    sameMembers,
  ),
  updateFilter: (testCase) => {
    const { data } = z.looseObject({ resource: z.string() }).safeParse(testCase.input);
    return updated(objects.get(data?.resource ?? '') ?? anyObject)(testCase);
  },
  calculateUsage: adapter(
    usageInput,
    list,
    (input) =>
      calculateUsage(
        input,
        evaluatorsFor([]),
        ({ resource }) => ({
          objects: Object.entries(input).flatMap(([key, objects]) =>
            key === resource ? (objects as CountedObject[]) : [],
          ),
        }),
        BARE,
      ).used,
    sameAmounts,
  ),
  admission: adapter(admissionInput, admissionAnswer, admission, sameExpectedKeys),
};

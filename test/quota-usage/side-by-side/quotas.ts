/** Quotas of every kind: what they limit, in which scopes; how they come, change and go. No limit is ever met. */
import type { Random } from '../../chaos/random.ts';
import { attributesClasses, deviceClasses, storageClasses } from './claims.ts';
import { countNames, customCount } from './objects.ts';
import type { Operation } from './operation.ts';
import { priorityClasses } from './pods.ts';
import { chance, corePath, type Maker, type Namespace, type PodRule, removeFrom, type World } from './world.ts';

/** What quotas of a scope of pods may limit among the standard names. */
const COMPUTE = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];
const PODS = ['pods', 'count/pods'];
/** Limited without asking every pod to say how much it wants. */
const OTHER_COMPUTE = [
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'hugepages-2Mi',
  'requests.hugepages-2Mi',
  'requests.hugepages-1Gi',
];
const EXTENDED = [
  'requests.example.com/gpu',
  'requests.example.com/tpu',
  'requests.vendor.io/nic',
  'requests.example.com/never',
];
const DEVICES = [
  'count/resourceclaims.resource.k8s.io',
  ...[...Object.keys(deviceClasses), 'tpu'].flatMap((name) => [
    `${name}.deviceclass.resource.k8s.io/devices`,
    `requests.deviceclass.resource.kubernetes.io/${name}`,
  ]),
];
const SERVICES = [
  'services',
  'count/services',
  'services.nodeports',
  'services.loadbalancers',
  'count/endpointslices.discovery.k8s.io',
];
const CLAIMS = [
  'persistentvolumeclaims',
  'count/persistentvolumeclaims',
  'requests.storage',
  ...Object.keys(storageClasses).flatMap((name) => [
    `${name}.storageclass.storage.k8s.io/requests.storage`,
    `${name}.storageclass.storage.k8s.io/persistentvolumeclaims`,
  ]),
];
const OBJECTS = [
  'configmaps',
  'secrets',
  'replicationcontrollers',
  'resourcequotas',
  'count/resourcequotas',
  'count/replicasets.apps',
  ...countNames(),
];
/** What no controller counts: such a name never gets a number. */
const UNCOUNTABLE = ['count/events', 'count/nothings.example.com'];

/** A selector of pods. `In` and the like need values, the others must have none. */
const POD_SELECTORS: readonly (readonly Requirement[])[] = [
  ...(['Exists', 'DoesNotExist'] as const).map((operator) => [{ scopeName: 'PriorityClass', operator }]),
  [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }],
  [{ scopeName: 'PriorityClass', operator: 'In', values: [...priorityClasses] }],
  [{ scopeName: 'PriorityClass', operator: 'NotIn', values: ['low', 'middle'] }],
  [
    { scopeName: 'PriorityClass', operator: 'Exists' },
    { scopeName: 'PriorityClass', operator: 'NotIn', values: ['high'] },
    { scopeName: 'NotTerminating', operator: 'Exists' },
  ],
  [{ scopeName: 'CrossNamespacePodAffinity', operator: 'Exists' }],
  [{ scopeName: 'Terminating', operator: 'Exists' }],
];
const CLAIM_SELECTORS: readonly (readonly Requirement[])[] = [
  ...(['Exists', 'DoesNotExist'] as const).map((operator) => [{ scopeName: 'VolumeAttributesClass', operator }]),
  [{ scopeName: 'VolumeAttributesClass', operator: 'In', values: ['gold'] }],
  [{ scopeName: 'VolumeAttributesClass', operator: 'NotIn', values: ['gold'] }],
  [
    { scopeName: 'VolumeAttributesClass', operator: 'In', values: [...attributesClasses] },
    { scopeName: 'VolumeAttributesClass', operator: 'NotIn', values: ['silver'] },
  ],
];
const POD_SCOPES: readonly (readonly string[])[] = [
  ['Terminating'],
  ['NotTerminating'],
  ['NotBestEffort'],
  ['BestEffort'],
  ['Terminating', 'NotBestEffort'],
  ['NotTerminating', 'BestEffort'],
  ['CrossNamespacePodAffinity'],
];

interface Requirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

interface Form {
  /** What it may limit. */
  readonly names: readonly string[];
  readonly scopes?: readonly string[];
  readonly selector?: readonly Requirement[];
}

function some(random: Random, names: readonly string[], share: number): string[] {
  const chosen = names.filter(() => chance(random, share));
  return chosen.length === 0 ? [random.pick(names)] : chosen;
}

/** The forms that a namespace's pods allow. */
function formOf(random: Random, rule: PodRule): Form {
  const mayLimitCompute = rule === 'complete' || rule === 'closed';
  const ofPods = (isNotBestEffort: boolean): string[] => [
    ...PODS,
    ...EXTENDED,
    ...(mayLimitCompute || (rule === 'besteffort' && isNotBestEffort) ? COMPUTE : []),
  ];
  switch (random.between(0, 7)) {
    case 0:
    case 1:
      return { names: [...ofPods(false), ...OTHER_COMPUTE] };
    case 2: {
      const scopes = random.pick(POD_SCOPES);
      const names = ofPods(scopes.includes('NotBestEffort'));
      // Nothing but pods themselves can be limited among those that want nothing; and a scope that is none of a name's
      // own leaves nothing to count.
      return { names: scopes.includes('BestEffort') ? PODS : [...names, 'count/configmaps'], scopes };
    }
    case 3:
      return { names: ofPods(false), selector: random.pick(POD_SELECTORS) };
    case 4:
      return chance(random, 0.5)
        ? { names: CLAIMS, selector: random.pick(CLAIM_SELECTORS) }
        : { names: CLAIMS, scopes: ['VolumeAttributesClass'] };
    case 5:
      return { names: [...SERVICES, ...CLAIMS] };
    case 6:
      return { names: [...DEVICES, ...EXTENDED] };
    default:
      return { names: [...OBJECTS, ...UNCOUNTABLE] };
  }
}

/** A limit that nothing meets, in one spelling or the other. */
function generous(random: Random, name: string): string {
  if (name === 'requests.example.com/never') return '0';
  if (/memory|storage$|hugepages/.test(name)) return random.pick(['1Pi', '2048Ti', '1e15']);
  return random.pick(['100k', '200000', '1M']);
}

function hardOf(random: Random, names: Iterable<string>): Record<string, string> {
  return Object.fromEntries([...names].map((name) => [name, generous(random, name)]));
}

const createQuota: Maker = (world, namespace) => {
  const { random } = world;
  // A name that comes back is a new quota in the place of the old.
  const names = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
  const free = names.filter((name) => namespace.quotas.every((quota) => quota.name !== name));
  if (free.length === 0) return null;
  const form = formOf(random, namespace.podRule);
  return quotaOperation(world, namespace, random.pick(free), {
    ...form,
    names: some(random, form.names, 0.5),
  });
};

function quotaOperation(world: World, namespace: Namespace, name: string, form: Form): Operation {
  const { scopes, selector } = form;
  namespace.quotas.push({ name, hard: new Set(form.names), hasSelector: selector !== undefined });
  const narrowed =
    scopes?.join('+') ?? selector?.map(({ scopeName, operator }) => `${scopeName} ${operator}`).join('+');
  return {
    kind: 'create',
    path: corePath(namespace, 'resourcequotas'),
    words: `${namespace.name}: quota ${name} of ${form.names.join(', ')}${narrowed === undefined ? '' : ` in ${narrowed}`} is created`,
    body: {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name },
      spec: {
        hard: hardOf(world.random, form.names),
        ...(scopes === undefined ? {} : { scopes }),
        ...(selector === undefined ? {} : { scopeSelector: { matchExpressions: selector } }),
      },
    },
  };
}

/** Other limits of a quota: the same names, one name less, or more of those that its form allows. */
const changeQuota: Maker = (world, namespace) => {
  const { random } = world;
  if (namespace.quotas.length === 0) return null;
  const quota = random.pick(namespace.quotas);
  const path = corePath(namespace, 'resourcequotas', quota.name);
  const names = [...quota.hard];
  if (names.length > 1 && chance(random, 0.4)) {
    const gone = random.pick(names);
    // A custom resource that both controllers know by now must not leave and come back unknown.
    if (!gone.startsWith('count/widgets') && !gone.startsWith('count/gadgets')) {
      quota.hard.delete(gone);
      return {
        kind: 'patch',
        patch: 'merge',
        path,
        body: { spec: { hard: { [gone]: null } } },
        words: `${namespace.name}: quota ${quota.name} no longer limits ${gone}`,
      };
    }
  }
  // Names with a slash can be limited in every scope.
  const more = chance(random, 0.4)
    ? [random.pick([...EXTENDED, 'count/pods', 'count/secrets', 'count/jobs.batch'])]
    : [];
  for (const name of more) quota.hard.add(name);
  return {
    kind: 'patch',
    patch: 'merge',
    path,
    body: { spec: { hard: hardOf(random, quota.hard) } },
    words: `${namespace.name}: quota ${quota.name} has other limits${more.length === 0 ? '' : ` and limits ${more.join(', ')}`}`,
  };
};

/** Another selector of the same kind. */
const reselectQuota: Maker = (world, namespace) => {
  const { random } = world;
  const fitting = namespace.quotas.filter(({ hasSelector }) => hasSelector);
  if (fitting.length === 0) return null;
  const quota = random.pick(fitting);
  const isOfClaims = [...quota.hard].some((name) => CLAIMS.includes(name));
  const selector = random.pick(isOfClaims ? CLAIM_SELECTORS : POD_SELECTORS);
  return {
    kind: 'patch',
    patch: 'merge',
    path: corePath(namespace, 'resourcequotas', quota.name),
    body: { spec: { scopeSelector: { matchExpressions: selector } } },
    words: `${namespace.name}: quota ${quota.name} selects ${selector.map(({ scopeName, operator }) => `${scopeName} ${operator}`).join('+')}`,
  };
};

const deleteQuota: Maker = (world, namespace) => {
  const fitting = namespace.quotas.filter(({ name }) => name !== 'everything');
  if (fitting.length < 3) return null;
  const quota = world.random.pick(fitting);
  removeFrom(namespace.quotas, quota);
  return {
    kind: 'delete',
    path: corePath(namespace, 'resourcequotas', quota.name),
    words: `${namespace.name}: quota ${quota.name} is deleted`,
  };
};

/** The quota that a namespace has from the start, of everything that its pods allow. It is never deleted. */
export function firstQuota(world: World, namespace: Namespace): Operation {
  return quotaOperation(world, namespace, 'everything', {
    names: [
      ...PODS,
      ...(namespace.podRule === 'complete' ? COMPUTE : []),
      ...OTHER_COMPUTE,
      ...EXTENDED,
      ...DEVICES,
      ...SERVICES,
      ...CLAIMS,
      ...OBJECTS,
      ...UNCOUNTABLE,
      customCount('widgets'),
      ...(namespace.isDoomed ? [] : [customCount('gadgets')]),
    ],
  });
}

/** A quota for each way of choosing pods, for a namespace whose pods were made without any limit of cpu and memory. */
export function lateQuotas(world: World, namespace: Namespace): Operation[] {
  const names = [...COMPUTE, 'pods'];
  return [
    { names },
    ...POD_SCOPES.map((scopes) => ({ names: scopes.includes('BestEffort') ? PODS : names, scopes })),
    ...POD_SELECTORS.map((selector) => ({ names, selector })),
  ].map((form, index) => quotaOperation(world, namespace, `late-${index}`, form));
}

/** Makers with how often each is asked, relative to each other. */
export const quotaMakers: readonly (readonly [weight: number, Maker])[] = [
  [4, createQuota],
  [3, changeQuota],
  [2, reselectQuota],
  [2, deleteQuota],
];

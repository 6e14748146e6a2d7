/** The whole stream of one run: what is there first, a random middle, and what has its place in it. */
import { seededRandom } from '../../chaos/random.ts';
import { attributesClasses, claimMakers, deviceClasses, storageClasses } from './claims.ts';
import { customCount, customDefinition, type customKinds, objectMakers } from './objects.ts';
import type { Fault, Operation } from './operation.ts';
import { claimTemplate, podMakers, priorityClasses, runtimeClasses } from './pods.ts';
import { firstQuota, lateQuotas, quotaMakers } from './quotas.ts';
import { serviceMakers } from './services.ts';
import { emptyWorld, type Namespace, newNamespace, type PodRule, removeFrom, type World } from './world.ts';

export interface StreamOptions {
  readonly seed: number;
  /** How many random operations; those with a place of their own come beside them. */
  readonly operations: number;
  /** Whether processes are killed and API servers restarted on the way. */
  readonly faults: boolean;
}

const MAKERS = [...podMakers, ...serviceMakers, ...claimMakers, ...objectMakers, ...quotaMakers];

/** The namespaces of the start. */
const NAMESPACES: readonly (readonly [name: string, PodRule])[] = [
  ['complete-1', 'complete'],
  ['complete-2', 'complete'],
  ['besteffort', 'besteffort'],
  ['free-1', 'free'],
  ['free-2', 'free'],
];

/** Makes the stream of a seed: the same one every time. */
export function makeStream({ seed, operations, faults }: StreamOptions): Operation[] {
  const random = seededRandom(seed);
  const world = emptyWorld(random);
  const stream = clusterSetup();
  for (const [name, rule] of NAMESPACES) stream.push(...openNamespace(world, newNamespace(name, rule)));
  const places = [...milestones(world), ...(faults ? outages(operations) : [])].toSorted((a, b) => a.at - b.at);
  for (let done = 0; done < operations; done += 1) {
    while (places[0] !== undefined && places[0].at * operations <= done) stream.push(...(places.shift()?.make() ?? []));
    stream.push(randomOperation(world));
  }
  for (const place of places) stream.push(...place.make());
  return stream;
}

function randomOperation(world: World): Operation {
  const total = MAKERS.reduce((sum, [weight]) => sum + weight, 0);
  for (;;) {
    let left = world.random.next() * total;
    const maker = MAKERS.find(([weight]) => (left -= weight) < 0)?.[1];
    const operation = maker?.(world, world.random.pick(world.namespaces)) ?? null;
    if (operation !== null) return operation;
  }
}

/** Something that is done when a share of the stream is over. */
interface Place {
  readonly at: number;
  readonly make: () => Operation[];
}

/** Custom resources are used only once both controllers have found them, which takes the original up to 30 s. */
function milestones(world: World): Place[] {
  const named = (name: string): Namespace | undefined => world.namespaces.find((each) => each.name === name);
  const late = ['late-1', 'late-2', 'late-3'].map((name, index) => newNamespace(name, 'free', index > 0));
  return [
    ...late.map((namespace, index) => ({ at: 0.2 + index / 20, make: () => openNamespace(world, namespace) })),
    { at: 0.4, make: () => knowCustom(world, 'widgets') },
    {
      at: 0.41,
      make: () => [
        createClass('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses', 'tpu', {
          spec: { extendedResourceName: 'example.com/tpu' },
        }),
      ],
    },
    { at: 0.42, make: () => [defineCustom('gadgets')] },
    { at: 0.75, make: () => closeNamespace(world, named('free-2')) },
    { at: 0.78, make: () => [deleteClusterObject('/apis/resource.k8s.io/v1/deviceclasses/gpu')] },
    { at: 0.8, make: () => knowCustom(world, 'gadgets') },
    { at: 0.85, make: () => removeNamespace(world, named('late-2')) },
    { at: 0.9, make: () => closeNamespace(world, named('free-1')) },
    { at: 0.93, make: () => removeCustom(world, 'gadgets') },
    { at: 0.95, make: () => removeNamespace(world, named('late-3')) },
  ];
}

/** From so many operations on, each fault comes several times. A restart costs as much as a hundred operations. */
const LONG = 1_000;

/** Faults in the spans in which nothing is awaited of a controller. */
function outages(operations: number): Place[] {
  const fault = (at: number, what: Fault, words: string): Place => ({
    at,
    make: () => [{ kind: 'fault', fault: what, words }],
  });
  const once = [
    fault(0.15, 'starterKilled', 'the starter is killed'),
    fault(0.18, 'starterStarted', 'a starter is started'),
    fault(0.28, 'apiServersRestarted', 'the API servers are restarted'),
    fault(0.34, 'workerKilled', 'the worker is killed'),
    fault(0.38, 'workerStarted', 'a worker is started'),
  ];
  if (operations < LONG) return once;
  return [
    ...once,
    fault(0.5, 'starterKilled', 'the starter is killed'),
    fault(0.52, 'workerKilled', 'the worker is killed'),
    fault(0.55, 'workerStarted', 'a worker is started'),
    fault(0.56, 'starterStarted', 'a starter is started'),
    fault(0.65, 'apiServersRestarted', 'the API servers are restarted'),
    fault(0.87, 'workerKilled', 'the worker is killed'),
    fault(0.88, 'apiServersRestarted', 'the API servers are restarted'),
    fault(0.89, 'workerStarted', 'a worker is started'),
    fault(0.97, 'starterKilled', 'the starter is killed'),
    fault(0.99, 'starterStarted', 'a starter is started'),
  ];
}

function openNamespace(world: World, namespace: Namespace): Operation[] {
  world.namespaces.push(namespace);
  return [
    {
      kind: 'create',
      path: '/api/v1/namespaces',
      words: `namespace ${namespace.name} is created`,
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace.name } },
    },
    claimTemplate(namespace),
    firstQuota(world, namespace),
  ];
}

/** Limits of cpu and memory come to pods that were made without. */
function closeNamespace(world: World, namespace: Namespace | undefined): Operation[] {
  if (namespace === undefined) return [];
  namespace.podRule = 'closed';
  return lateQuotas(world, namespace);
}

function removeNamespace(world: World, namespace: Namespace | undefined): Operation[] {
  if (namespace === undefined) return [];
  removeFrom(world.namespaces, namespace);
  const path = `/api/v1/namespaces/${namespace.name}`;
  return [{ kind: 'delete', path, words: `namespace ${namespace.name} is deleted` }];
}

function defineCustom(plural: keyof typeof customKinds): Operation {
  return {
    kind: 'create',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    words: `the custom resource ${plural} is defined`,
    body: customDefinition(plural).body,
  };
}

/** Both controllers count it in every namespace that will have some. */
function knowCustom(world: World, plural: keyof typeof customKinds): Operation[] {
  world.customResources.add(plural);
  return countedEverywhere(world, plural);
}

function countedEverywhere(world: World, plural: string, used?: string): Operation[] {
  return world.namespaces
    .filter(({ quotas }) => quotas.some(({ hard, name }) => name === 'everything' && hard.has(customCount(plural))))
    .map((namespace) => ({
      kind: 'counted',
      path: `/api/v1/namespaces/${namespace.name}/resourcequotas/everything`,
      resource: customCount(plural),
      words: `${namespace.name}: ${plural} are counted${used === undefined ? '' : ` as ${used}`}`,
      ...(used === undefined ? {} : { used }),
    }));
}

/**
 * What was made of a definition is deleted and counted as gone before the definition is. When both go at once, the watch
 * often breaks before it tells of the deletions, and Kubernetes' own controller goes on saying what it last saw.
 */
function removeCustom(world: World, plural: keyof typeof customKinds): Operation[] {
  world.customResources.delete(plural);
  const deletions = world.namespaces.flatMap(({ name, objects }) =>
    objects
      .filter(({ kind }) => kind === plural)
      .map((object): Operation => {
        removeFrom(objects, object);
        return { kind: 'delete', path: object.path, words: `${name}: the last of the ${plural} are deleted` };
      }),
  );
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${customDefinition(plural).name}`;
  return [
    ...deletions,
    ...countedEverywhere(world, plural, '0'),
    { kind: 'delete', path, words: `the definition of ${plural} is deleted` },
  ];
}

/** What a whole cluster has one of, before the first namespace. */
function clusterSetup(): Operation[] {
  return [
    defineCustom('widgets'),
    ...priorityClasses.map((name, index) =>
      createClass('scheduling.k8s.io/v1', 'PriorityClass', 'priorityclasses', name, { value: index * 10 }),
    ),
    ...Object.entries(runtimeClasses).map(([name, podFixed]) =>
      createClass('node.k8s.io/v1', 'RuntimeClass', 'runtimeclasses', name, {
        handler: name,
        overhead: { podFixed },
      }),
    ),
    ...Object.entries(storageClasses).map(([name, allowVolumeExpansion]) =>
      createClass('storage.k8s.io/v1', 'StorageClass', 'storageclasses', name, {
        provisioner: 'example.com/none',
        allowVolumeExpansion,
      }),
    ),
    ...attributesClasses.map((name) =>
      createClass('storage.k8s.io/v1', 'VolumeAttributesClass', 'volumeattributesclasses', name, {
        driverName: 'example.com/none',
        parameters: { iops: '1' },
      }),
    ),
    ...Object.entries(deviceClasses).map(([name, extendedResourceName]) =>
      createClass('resource.k8s.io/v1', 'DeviceClass', 'deviceclasses', name, {
        spec: extendedResourceName === null ? {} : { extendedResourceName },
      }),
    ),
  ];
}

function createClass(groupVersion: string, kind: string, resource: string, name: string, rest: object): Operation {
  return {
    kind: 'create',
    path: `/apis/${groupVersion}/${resource}`,
    words: `${kind} ${name} is created`,
    body: { apiVersion: groupVersion, kind, metadata: { name }, ...rest },
  };
}

function deleteClusterObject(path: string): Operation {
  return { kind: 'delete', path, words: `${path.split('/').slice(-2).join('/')} is deleted` };
}

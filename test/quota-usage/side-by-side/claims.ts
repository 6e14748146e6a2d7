/** Claims of storage, by class and by attributes class, that grow and shrink; and claims of devices. */
import { chance, type ClaimModel, corePath, groupPath, type Maker, removeFrom } from './world.ts';

export const storageClasses = { fast: true, slow: false } as const;
export const attributesClasses = ['silver', 'gold'] as const;
/** Device classes that are there from the start, and the extended resource that each stands for. */
export const deviceClasses = { gpu: 'example.com/gpu', nic: null } as const;

/** Sizes that are not whole bytes are charged rounded up. */
const SIZES: readonly (readonly [text: string, gi: number])[] = [
  ['1Gi', 1],
  ['5Gi', 5],
  ['10737418240', 10],
  ['2147483648000m', 2],
  ['1500000000.5', 2],
];

const createClaim: Maker = (world, namespace) => {
  const { random } = world;
  const storageClass = random.pick(['fast', 'fast', 'slow', null] as const);
  // The annotation of old beats the field, and decides whether it grows.
  const annotated = chance(random, 0.15) ? random.pick(['fast', 'slow'] as const) : undefined;
  const [size, gi] = random.pick(SIZES);
  const attributes = chance(random, 0.35) ? random.pick(attributesClasses) : undefined;
  const effective = annotated ?? storageClass;
  const claim: ClaimModel = {
    name: world.fresh('claim'),
    isExpandable: effective !== null && storageClasses[effective],
    isBound: false,
    requestGi: gi,
    capacityGi: gi,
  };
  namespace.claims.push(claim);
  return {
    kind: 'create',
    path: corePath(namespace, 'persistentvolumeclaims'),
    words: `${namespace.name}: claim ${claim.name} of ${size} is created, class ${effective}, attributes ${attributes}`,
    body: {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: claim.name,
        ...(annotated === undefined ? {} : { annotations: { 'volume.beta.kubernetes.io/storage-class': annotated } }),
      },
      spec: {
        accessModes: ['ReadWriteOnce'],
        resources: { requests: { storage: size } },
        ...(storageClass === null ? {} : { storageClassName: storageClass }),
        ...(attributes === undefined ? {} : { volumeAttributesClassName: attributes }),
      },
    },
  };
};

/** What the binder would say: it is bound. */
const bindClaim: Maker = (world, namespace) => {
  const unbound = namespace.claims.filter(({ isBound }) => !isBound);
  if (unbound.length === 0) return null;
  const claim = world.random.pick(unbound);
  claim.isBound = true;
  return {
    kind: 'patch',
    patch: 'merge',
    path: `${corePath(namespace, 'persistentvolumeclaims', claim.name)}/status`,
    body: {
      status: { phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: `${claim.capacityGi}Gi` } },
    },
    words: `${namespace.name}: claim ${claim.name} is bound`,
  };
};

/** Asks for more, or takes back some of what was asked for and never given. */
const resizeClaim: Maker = (world, namespace) => {
  const fitting = namespace.claims.filter(({ isBound, isExpandable }) => isBound && isExpandable);
  if (fitting.length === 0) return null;
  const claim = world.random.pick(fitting);
  const mayShrink = claim.requestGi > claim.capacityGi + 1;
  claim.requestGi =
    mayShrink && chance(world.random, 0.5)
      ? world.random.between(claim.capacityGi + 1, claim.requestGi - 1)
      : claim.requestGi + world.random.between(1, 10);
  return {
    kind: 'patch',
    patch: 'merge',
    path: corePath(namespace, 'persistentvolumeclaims', claim.name),
    body: { spec: { resources: { requests: { storage: `${claim.requestGi}Gi` } } } },
    words: `${namespace.name}: claim ${claim.name} wants ${claim.requestGi}Gi`,
  };
};

/** What the resizer would say: how much it has set aside, which counts even when less is wanted by now. */
const allocateClaim: Maker = (world, namespace) => {
  const fitting = namespace.claims.filter(({ isBound, isExpandable }) => isBound && isExpandable);
  if (fitting.length === 0) return null;
  const claim = world.random.pick(fitting);
  const gi = claim.requestGi + world.random.between(-1, 3);
  const status = chance(world.random, 0.3)
    ? { allocatedResources: null, allocatedResourceStatuses: null }
    : {
        allocatedResources: { storage: `${Math.max(gi, 1)}Gi` },
        allocatedResourceStatuses: { storage: 'ControllerResizeInProgress' },
      };
  return {
    kind: 'patch',
    patch: 'merge',
    path: `${corePath(namespace, 'persistentvolumeclaims', claim.name)}/status`,
    body: { status },
    words: `${namespace.name}: claim ${claim.name} has ${JSON.stringify(status.allocatedResources)} set aside`,
  };
};

/** Moves a claim between attributes classes: wanted, present, or on the way. */
const reclassClaim: Maker = (world, namespace) => {
  const fitting = namespace.claims.filter(({ isBound }) => isBound);
  if (fitting.length === 0) return null;
  const { random } = world;
  const claim = random.pick(fitting);
  const path = corePath(namespace, 'persistentvolumeclaims', claim.name);
  const name = random.pick(attributesClasses);
  const where = random.between(0, 2);
  const words = `${namespace.name}: claim ${claim.name} has the attributes ${name}`;
  if (where === 0) {
    return {
      kind: 'patch',
      patch: 'merge',
      path,
      body: { spec: { volumeAttributesClassName: name } },
      words: `${words} as wanted`,
    };
  }
  const status =
    where === 1
      ? { currentVolumeAttributesClassName: name, modifyVolumeStatus: null }
      : { modifyVolumeStatus: { status: 'InProgress', targetVolumeAttributesClassName: name } };
  return {
    kind: 'patch',
    patch: 'merge',
    path: `${path}/status`,
    body: { status },
    words: `${words} ${where === 1 ? 'as present' : 'as target'}`,
  };
};

const deleteClaim: Maker = (world, namespace) => {
  if (namespace.claims.length === 0) return null;
  const claim = world.random.pick(namespace.claims);
  removeFrom(namespace.claims, claim);
  return {
    kind: 'delete',
    path: corePath(namespace, 'persistentvolumeclaims', claim.name),
    words: `${namespace.name}: claim ${claim.name} is deleted`,
  };
};

/** Kinds of device requests: a number, all of a class, and the first that there is. */
const createDeviceClaim: Maker = (world, namespace) => {
  const { random } = world;
  const deviceClass = () => random.pick(['gpu', 'gpu', 'nic', 'tpu']);
  const amount = () =>
    chance(random, 0.2) ? { allocationMode: 'All' } : { allocationMode: 'ExactCount', count: random.between(1, 6) };
  const requests = Array.from({ length: random.between(1, 3) }, (_, index) => ({
    name: `request-${index}`,
    ...(chance(random, 0.35)
      ? {
          firstAvailable: Array.from({ length: random.between(1, 3) }, (__, which) => ({
            name: `choice-${which}`,
            deviceClassName: deviceClass(),
            ...amount(),
          })),
        }
      : { exactly: { deviceClassName: deviceClass(), ...amount() } }),
  }));
  const name = world.fresh('devices');
  const path = groupPath('resource.k8s.io/v1', namespace, 'resourceclaims');
  namespace.objects.push({ kind: 'resourceclaims', path: `${path}/${name}` });
  return {
    kind: 'create',
    path,
    words: `${namespace.name}: device claim ${name} with ${requests.length} requests is created`,
    body: {
      apiVersion: 'resource.k8s.io/v1',
      kind: 'ResourceClaim',
      metadata: { name },
      spec: { devices: { requests } },
    },
  };
};

/** Makers with how often each is asked, relative to each other. */
export const claimMakers: readonly (readonly [weight: number, Maker])[] = [
  [6, createClaim],
  [4, bindClaim],
  [4, resizeClaim],
  [3, allocateClaim],
  [4, reclassClaim],
  [3, deleteClaim],
  [5, createDeviceClaim],
];

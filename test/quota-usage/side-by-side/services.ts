/** Services of each type, and their way from one type to another. */
import { chance, corePath, type Maker, type ServiceModel, removeFrom, type World } from './world.ts';

/** The cluster's range has 254 addresses. */
const MOST = 110;

type ServiceType = ServiceModel['type'];

function typesFor(hasSelector: boolean): readonly ServiceType[] {
  const types: readonly ServiceType[] = ['ClusterIP', 'NodePort', 'LoadBalancer'];
  return hasSelector ? types : [...types, 'ExternalName'];
}

/** Ports without node ports of their own choice, apart from `explicit`, which are never used twice. */
function portsOf(count: number, explicit: readonly number[]): object[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `port-${index}`,
    port: 8_000 + index,
    ...(explicit[index] === undefined ? {} : { nodePort: explicit[index] }),
  }));
}

function shapeOf(world: World, type: ServiceType, ports: number): { spec: Record<string, unknown>; words: string } {
  const { random } = world;
  switch (type) {
    case 'ExternalName':
      return { spec: { type, externalName: 'example.com' }, words: type };
    case 'ClusterIP':
      return { spec: { type, ports: portsOf(ports, []) }, words: `${type} with ${ports} ports` };
    case 'NodePort':
      return { spec: { type, ports: portsOf(ports, []) }, words: `${type} with ${ports} ports` };
    case 'LoadBalancer': {
      if (chance(random, 0.5))
        return { spec: { type, ports: portsOf(ports, []) }, words: `${type} with ${ports} ports` };
      const explicit = world.nodePorts.splice(0, random.between(0, ports));
      return {
        spec: { type, allocateLoadBalancerNodePorts: false, ports: portsOf(ports, explicit) },
        words: `${type} with ${explicit.length} node ports of its own for ${ports} ports`,
      };
    }
  }
}

const createService: Maker = (world, namespace) => {
  if (world.namespaces.reduce((sum, { services }) => sum + services.length, 0) >= MOST) return null;
  const { random } = world;
  const hasSelector = chance(random, 0.5);
  const service: ServiceModel = {
    name: world.fresh('service'),
    hasSelector,
    type: random.pick(typesFor(hasSelector)),
    ports: random.between(1, 4),
  };
  namespace.services.push(service);
  const { spec, words } = shapeOf(world, service.type, service.ports);
  return {
    kind: 'create',
    path: corePath(namespace, 'services'),
    words: `${namespace.name}: service ${service.name} is created: ${words}`,
    body: {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: service.name },
      spec: { ...spec, ...(hasSelector ? { selector: { app: 'stream' } } : {}) },
    },
  };
};

const changeService: Maker = (world, namespace) => {
  if (namespace.services.length === 0) return null;
  const { random } = world;
  const service = random.pick(namespace.services);
  const type = chance(random, 0.5) ? service.type : random.pick(typesFor(service.hasSelector));
  service.type = type;
  service.ports = random.between(1, 5);
  const { spec, words } = shapeOf(world, type, service.ports);
  return {
    kind: 'patch',
    patch: 'merge',
    path: corePath(namespace, 'services', service.name),
    words: `${namespace.name}: service ${service.name} becomes a ${words}`,
    body: {
      spec: {
        externalName: null,
        ...(type === 'LoadBalancer' ? {} : { allocateLoadBalancerNodePorts: null }),
        ...(type === 'ExternalName' ? { ports: null } : {}),
        ...spec,
      },
    },
  };
};

const deleteService: Maker = (world, namespace) => {
  if (namespace.services.length === 0) return null;
  const service = world.random.pick(namespace.services);
  removeFrom(namespace.services, service);
  return {
    kind: 'delete',
    path: corePath(namespace, 'services', service.name),
    words: `${namespace.name}: service ${service.name} is deleted`,
  };
};

/** Makers with how often each is asked, relative to each other. */
export const serviceMakers: readonly (readonly [weight: number, Maker])[] = [
  [6, createService],
  [6, changeService],
  [3, deleteService],
];

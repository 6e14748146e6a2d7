import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { type NodePlane, startNodePlane } from '../plane.ts';
import { VpsieWorld } from '../vpsie/world.ts';
import { nodeProviderContract } from './contract.ts';

let plane: NodePlane;
let world: VpsieWorld;

beforeAll(async () => {
  plane = await startNodePlane();
  world = await VpsieWorld.open(plane.adminKubeconfig, 'vpsie-contract');
});

beforeEach(async () => {
  await world.fresh();
});

afterEach(async () => {
  await world.stop();
});

afterAll(async () => {
  await plane?.stop();
});

nodeProviderContract('vpsie', () => ({
  group: world.group(),
  connect: (process) => world.connect(process),
  record: async (names) => await world.record(names),
  machines: () => Promise.resolve(world.server.machines),
}));

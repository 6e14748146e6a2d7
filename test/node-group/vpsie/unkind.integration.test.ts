/** Exactly as many machines as were asked for, whatever VPSie answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CoreV1Api } from '@kubernetes/client-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Creation, MachineRequest, NodeProvider } from '../../../activities/node-group/provider/provider.ts';
import { accessOf } from '../../kernel/stack/access.ts';
import { eventually } from '../../kernel/stack/eventually.ts';
import { type NodePlane, startNodePlane, untilNodeReady } from '../plane.ts';
import { Mortal } from '../provider/mortal.ts';
import type { AddBehaviour } from './behaviour.ts';
import { CREDENTIALS } from './server.ts';
import { UNHURRIED, VpsieWorld } from './world.ts';
import { partOf, stepNumbers } from '../../kernel/long.ts';

const NAMES = ['unkind-1', 'unkind-2', 'unkind-3'];
const WITHIN_MS = 60_000;

let plane: NodePlane;
let core: CoreV1Api;
let world: VpsieWorld;

beforeAll(async () => {
  plane = await startNodePlane();
  core = accessOf(plane.adminKubeconfig).makeApiClient(CoreV1Api);
  world = await VpsieWorld.open(plane.adminKubeconfig, 'vpsie-unkind');
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

/** Asks until nothing waits any more; what throws `ProviderUnavailable` is asked again, as Temporal does. */
async function settled(
  requests: readonly MachineRequest[],
  provider: NodeProvider = world.connect(new Mortal()),
  group = world.group(),
): Promise<readonly Creation[]> {
  return await eventually(
    'nothing waits any more',
    async () => {
      const answers = await provider.ensureCreated(group, requests);
      return answers.every(({ kind }) => kind !== 'waiting') && answers;
    },
    WITHIN_MS,
  );
}

/** Asks until nothing waits any more or the process has ended, whichever is first. */
async function untilDeath(requests: readonly MachineRequest[], process: Mortal): Promise<void> {
  const provider = world.connect(process);
  await eventually('the process has ended, or nothing waits any more', async () => {
    const answers = await provider.ensureCreated(world.group(), requests).catch((error: unknown) => {
      if (process.isDead) return [];
      throw error;
    });
    return answers.every(({ kind }) => kind !== 'waiting');
  });
}

function idsOf(answers: readonly Creation[]): readonly string[] {
  return answers.map((answer) => (answer.kind === 'made' ? answer.providerId : `${answer.kind}: ${answer.detail}`));
}

/** There is one machine for each VPSieNode, and it is written there; nothing is under way. */
async function expectOneEach(requests: readonly MachineRequest[], answers: readonly Creation[]): Promise<void> {
  const ids = idsOf(answers);
  expect([...world.server.machines].toSorted()).toEqual(ids.toSorted());
  expect(await Promise.all(requests.map(({ name }) => world.identifierOf(name)))).toEqual(ids);
  expect(await world.holder()).toBeNull();
  expect(world.server.mostUnderWay).toBe(1);
  expect(world.server.calls.filter(({ path }) => path.includes('reduce'))).toEqual([]);
}

const LATE_MS = 300;
const behaviours: readonly AddBehaviour[] = [
  ...(['true', 'data-true', 'without-identifier', 'error', 'page', 'silence', 'break'] as const).flatMap((answer) => [
    { answer },
    { answer, listedAfterMs: LATE_MS },
    { answer, machines: 0 },
    { answer, machines: 2 },
  ]),
  { machines: 2 },
  { listedAfterMs: LATE_MS },
  { answer: 'limited', machines: 0 },
  { answer: 'unauthorized', machines: 0 },
];

describe('one machine for each request', () => {
  it.each(partOf(behaviours, 8))('after the answer %o to the first of them', async (behaviour) => {
    world.server.next(behaviour);
    const requests = await world.record(NAMES);
    await expectOneEach(requests, await settled(requests));
  });

  it.each([
    ...(['true', 'without-identifier', 'error', 'silence'] as const).flatMap((answer) => [
      // Theirs comes before ours, and after it.
      { answer, listedAfterMs: LATE_MS, foreignAfterMs: 0 },
      { answer, listedAfterMs: 0, foreignAfterMs: LATE_MS },
      { answer, machines: 0, foreignAfterMs: 0 },
    ]),
    { listedAfterMs: LATE_MS, foreignAfterMs: 0 },
    { machines: 2, foreignAfterMs: 0 },
  ])('and never the machine that somebody else makes meanwhile: %o', async (behaviour) => {
    world.server.next(behaviour);
    const requests = await world.record(NAMES);
    const answers = await settled(requests);
    const [theirs = ''] = world.server.foreignMachines;
    expect(theirs).not.toBe('');
    // Both may have come before VPSie is asked again; then nobody can tell which is ours, and a person is told.
    const made = answers.filter(({ kind }) => kind === 'made');
    const unclear = answers.filter(({ kind }) => kind !== 'made');
    expect(unclear.length).toBeLessThanOrEqual(1);
    for (const answer of unclear)
      expect(answer).toMatchObject({ kind: 'failed', detail: expect.stringContaining(theirs) as string });
    const ids = idsOf(made);
    expect(ids).not.toContain(theirs);
    for (const id of ids) expect(world.server.machines).toContain(id);
    expect(new Set(ids).size).toBe(made.length);
    const recorded = await Promise.all(requests.map(({ name }) => world.identifierOf(name)));
    expect(recorded.filter((identifier) => identifier !== null)).toEqual(ids);
    expect(await world.holder()).toBeNull();
  });

  it('none where one is ours, one is not, and VPSie does not tell which: both are named, and nothing more is asked for', async () => {
    world.server.next({ answer: 'true', foreignAfterMs: 0 });
    const requests = await world.record(['unclear']);
    const [answer] = await settled(requests);
    expect(answer?.kind).toBe('failed');
    const detail = answer?.kind === 'failed' ? answer.detail : '';
    for (const id of [...world.server.machines, ...world.server.foreignMachines]) expect(detail).toContain(id);
    expect(detail).toContain('delete what nobody needs at VPSie');
    expect(await world.identifierOf('unclear')).toBeNull();
    expect(await world.holder()).toBeNull();
    // Also for who asks again, because the answer was lost.
    expect(await settled(requests)).toEqual([answer]);
    expect(world.server.machines).toHaveLength(1);
    // The next one is not confused by them.
    const [other] = await world.record(['after-it']);
    const [made] = await settled(other === undefined ? [] : [other]);
    expect(made?.kind).toBe('made');
    expect(world.server.foreignMachines).not.toContain(idsOf(made === undefined ? [] : [made])[0]);
    expect(world.server.machines).toHaveLength(2);
  });

  it('also while another one of its group is being deleted', async () => {
    const [first] = await world.record(['first']);
    if (first === undefined) throw new Error('there is no request');
    const [providerId = null] = idsOf(await settled([first]));
    world.server.next({ answer: 'true', listedAfterMs: LATE_MS });
    const requests = await world.record(['second']);
    const provider = world.connect(new Mortal());
    await provider.ensureCreated(world.group(), requests);
    expect(await provider.ensureDeleted(world.group(), { ...first, providerId })).toEqual({ kind: 'gone' });
    await world.removeObject('first');
    await expectOneEach(requests, await settled(requests));
  });

  it.each(partOf([{ answer: 'true', listedAfterMs: LATE_MS }, { answer: 'silence' }, { answer: 'error' }] as const, 2))(
    'from three groups and processes at once, where every answer is %o',
    async (behaviour) => {
      world.server.usual = behaviour;
      const groups = ['one', 'two', 'three'].map((name) => world.group(name));
      const requests = await Promise.all(
        groups.map(async (group) => await world.record([`${group.name}-1`, `${group.name}-2`], group)),
      );
      const answers = await Promise.all(
        groups.map(async (group, at) => await settled(requests[at] ?? [], world.connect(new Mortal()), group)),
      );
      await expectOneEach(requests.flat(), answers.flat());
      const { account } = world.server;
      expect(account.groups.map(({ name }) => name).toSorted()).toEqual(['one', 'three', 'two']);
      const perGroup = account.groups.map(({ id }) =>
        [...account.machines.values()].filter(({ group }) => group === id),
      );
      expect(perGroup.map(({ length }) => length)).toEqual([2, 2, 2]);
    },
  );

  it('although the process ends wherever it is, and every answer is lost', async () => {
    world.server.usual = { answer: 'break', listedAfterMs: 100 };
    for (const when of ['before', 'after'] as const) {
      for (const at of stepNumbers({ from: 4, count: 2 })) {
        const process = new Mortal({ at, when });
        const requests = await world.record([`${when}-${at}`]);
        const before = world.server.machines.length;
        await untilDeath(requests, process);
        await settled(requests);
        expect(world.server.machines.length - before).toBe(1);
        if (!process.isDead) break;
      }
    }
  }, 240_000);

  it('also where a request makes two, and the process ends wherever it is', async () => {
    world.server.usual = { answer: 'true', machines: 2, listedAfterMs: 50 };
    for (const when of ['before', 'after'] as const) {
      for (const at of stepNumbers({ from: 4, count: 2 })) {
        const process = new Mortal({ at, when });
        const requests = await world.record([`twice-${when}-${at}-1`, `twice-${when}-${at}-2`]);
        const before = world.server.machines.length;
        await untilDeath(requests, process);
        const ids = idsOf(await settled(requests));
        expect(new Set(ids).size).toBe(2);
        expect(world.server.machines.length - before).toBe(2);
        if (!process.isDead) break;
      }
    }
  }, 240_000);

  it('with no more than four requests of VPSie for each, and five at the beginning', async () => {
    const requests = await world.record(Array.from({ length: 20 }, (_, at) => `many-${at}`));
    const provider = world.connect(new Mortal(), { times: UNHURRIED });
    await expectOneEach(requests, await settled(requests, provider));
    expect(world.server.calls.length).toBeLessThanOrEqual(4 * requests.length + 5);
  });

  it('also one that another process has asked for, and whose answer nobody heard', async () => {
    world.server.usual = { answer: 'true', listedAfterMs: LATE_MS };
    const [first, second] = await world.record(['first', 'second']);
    if (first === undefined || second === undefined) throw new Error('there are no requests');
    const answers = await world.connect(new Mortal()).ensureCreated(world.group(), [first, second]);
    const asked = expect.objectContaining({
      kind: 'waiting',
      detail: 'VPSie is making the machine, and does not list it yet',
    });
    expect(answers).toEqual([asked, expect.objectContaining({ kind: 'waiting', isQueued: true })]);
    expect(await world.holder()).toBe('first');
    expect(idsOf(await settled([second]))).toEqual([await world.identifierOf('second')]);
    expect(await world.identifierOf('first')).not.toBeNull();
    expect(world.server.machines).toHaveLength(2);
  });
});

describe('no machine', () => {
  it('where the account has no more, and the reason is said', async () => {
    world.server.next({ answer: 'terminal', machines: 0 });
    const [request] = await world.record(['refused']);
    expect(await settled(request === undefined ? [] : [request])).toEqual([
      { kind: 'failed', detail: 'VPSie makes no machine: Your plan does not allow more nodes' },
    ]);
    expect(world.server.machines).toEqual([]);
    expect(await world.holder()).toBeNull();
  });

  it.each(['error', 'page', 'break', 'silence'] as const)(
    'is asked for while the list of machines is not told (%s)',
    async (answer) => {
      const path = `byId/${world.server.account.cluster}`;
      world.server.fault({ method: 'GET', path, answer });
      const requests = await world.record(['one']);
      const provider = world.connect(new Mortal());
      await expect(provider.ensureCreated(world.group(), requests)).rejects.toMatchObject({
        type: 'ProviderUnavailable',
      });
      expect(world.server.machines).toEqual([]);
      await expectOneEach(requests, await settled(requests));
    },
  );

  it('for a VPSieNode that is gone', async () => {
    const requests = await world.record(['gone']);
    await world.removeObject('gone');
    expect(await settled(requests)).toEqual([{ kind: 'failed', detail: 'the VPSieNode gone is gone' }]);
    expect(world.server.machines).toEqual([]);
  });
});

describe('a machine', () => {
  it('is known by the name of its Node, also when that comes late', async () => {
    world.server.nodes = { afterMs: LATE_MS, nodes: 1 };
    const requests = await world.record(['late']);
    const [answer] = await settled(requests);
    const node = answer?.kind === 'made' ? answer.nodeName : null;
    expect(node).toMatch(/^slave-\d+$/u);
    expect(await world.hostnameOf('late')).toBe(node);
    const ready = await eventually('the Node is there', async () => await untilNodeReady(core, node ?? ''));
    expect(ready.metadata?.name).toBe(node);
  });

  it.each(['error', 'page', 'silence', 'break', 'limited', 'limited-without-time'] as const)(
    'is deleted although the first answer is %s',
    async (answer) => {
      const [request] = await world.record(['deleted']);
      if (request === undefined) throw new Error('there is no request');
      const [providerId = null] = idsOf(await settled([request]));
      world.server.fault({ method: 'DELETE', path: 'delete/slave', answer, takesEffect: answer !== 'limited' });
      // Another process has another clock for what it may ask.
      const gone = async (): Promise<boolean> => {
        const provider = world.connect(new Mortal());
        return (await provider.ensureDeleted(world.group(), { ...request, providerId })).kind === 'gone';
      };
      await eventually('it is gone', gone, WITHIN_MS);
      expect(world.server.machines).toEqual([]);
    },
  );

  it('that VPSie lists is not gone because VPSie once says that it is not there', async () => {
    const [request] = await world.record(['denied']);
    if (request === undefined) throw new Error('there is no request');
    const [providerId = null] = idsOf(await settled([request]));
    world.server.fault({ method: 'DELETE', path: 'delete/slave', answer: 'not-found' });
    const provider = world.connect(new Mortal());
    const machine = { ...request, providerId };
    expect(await provider.ensureDeleted(world.group(), machine)).toMatchObject({
      kind: 'going',
      detail: 'VPSie does not delete the machine: it says that it is not there (404), and lists it',
    });
    expect(world.server.machines).toEqual([providerId]);
    expect(await provider.ensureDeleted(world.group(), machine)).toEqual({ kind: 'gone' });
    expect(world.server.machines).toEqual([]);
  });

  it.each(['number', 'name of a cloud controller'] as const)('is deleted also by its %s', async (form) => {
    const [request] = await world.record(['adopted']);
    if (request === undefined) throw new Error('there is no request');
    await settled([request]);
    const [machine] = world.server.account.machines.values();
    if (machine === undefined) throw new Error('there is no machine');
    const providerId = form === 'number' ? `${machine.id}` : `vpsie://datacenter/cluster/${machine.id}`;
    const provider = world.connect(new Mortal());
    expect(await provider.ensureDeleted(world.group(), { ...request, providerId })).toEqual({ kind: 'gone' });
    expect(world.server.machines).toEqual([]);
  });

  it('that comes up in the list after its VPSieNode was to be deleted is deleted too', async () => {
    world.server.next({ answer: 'silence', listedAfterMs: 600 });
    const [request] = await world.record(['unheard']);
    if (request === undefined) throw new Error('there is no request');
    const provider = world.connect(new Mortal());
    await provider.ensureCreated(world.group(), [request]);
    await eventually('it is gone', async () => {
      return (await provider.ensureDeleted(world.group(), { ...request, providerId: null })).kind === 'gone';
    });
    expect(world.server.machines).toEqual([]);
    expect(await world.holder()).toBeNull();
  });

  it('whose VPSieNode is being deleted is not made any more by whoever began before', async () => {
    const [request] = await world.record(['raced']);
    if (request === undefined) throw new Error('there is no request');
    const slow = world.connect(new Mortal(), {
      // Between what was read of the VPSieNode and the request it is deleted.
      readSecret: async () => {
        await eventually('it is gone', async () => {
          const deleting = world.connect(new Mortal());
          return (await deleting.ensureDeleted(world.group(), { ...request, providerId: null })).kind === 'gone';
        });
        await world.removeObject('raced').catch(() => undefined);
        return { token: CREDENTIALS.token };
      },
    });
    await settled([request], slow);
    await sleep(LATE_MS);
    expect(world.server.machines).toEqual([]);
  });
});

describe('groups at VPSie', () => {
  it.each(['error', 'break', 'silence', 'page'] as const)(
    'are added once although the answer is lost (%s)',
    async (answer) => {
      world.server.fault({ method: 'POST', path: 'add/group', answer, takesEffect: true });
      const requests = await world.record(['one']);
      await expectOneEach(requests, await settled(requests));
      expect(world.server.account.groups).toHaveLength(1);
    },
  );

  it('each size has its own, and those of others are not used', async () => {
    world.server.account.addGroup('contract', 22);
    const [small] = await world.record(['small']);
    const [large] = await world.record(['large']);
    if (small === undefined || large === undefined) throw new Error('there are no requests');
    await settled([small, { ...large, instanceType: 'large' }]);
    const { groups, machines } = world.server.account;
    expect(groups.map(({ name, size }) => [name, size])).toEqual([
      ['contract', 22],
      ['contract-21', 21],
    ]);
    expect([...machines.values()].map(({ group }) => groups.find(({ id }) => id === group)?.size)).toEqual([21, 22]);
  });
});

describe('credentials', () => {
  it('tokens that end are renewed', async () => {
    await world.fresh({ tokenLastsMs: 200 });
    world.server.usual = { answer: 'true', listedAfterMs: LATE_MS };
    const requests = await world.record(NAMES);
    await expectOneEach(requests, await settled(requests));
    expect(world.server.calls.filter(({ path }) => path === '/auth/from/api').length).toBeGreaterThan(1);
  });

  it('a token that is not accepted any more is renewed at once', async () => {
    const [first, second] = await world.record(['first', 'second']);
    if (first === undefined || second === undefined) throw new Error('there are no requests');
    const provider = world.connect(new Mortal());
    await settled([first], provider);
    world.server.endTokens();
    expect(idsOf(await provider.ensureCreated(world.group(), [first, second]))).toEqual([...world.server.machines]);
  });

  it('a token of a person goes in the header Vpsie-Auth to the API below /apps', async () => {
    await world.fresh({ authentication: 'vpsie-auth' });
    const readSecret = (): Promise<Record<string, string>> => Promise.resolve({ token: CREDENTIALS.token });
    const requests = await world.record(NAMES);
    const provider = world.connect(new Mortal(), { readSecret });
    await expectOneEach(requests, await settled(requests, provider));
  });

  it('that are not accepted are said to be so, and are not quoted', async () => {
    for (const data of [
      { token: 'a-token-of-nobody' },
      { clientId: CREDENTIALS.clientId, clientSecret: 'a-secret-of-nobody' },
    ]) {
      const provider = world.connect(new Mortal(), { readSecret: () => Promise.resolve({ ...data }) });
      const failure: unknown = await provider.instanceTypes(world.group()).catch((error: unknown) => error);
      expect(failure).toMatchObject({ type: 'ProviderUnavailable' });
      expect(String(failure)).not.toContain('of-nobody');
      expect(String(failure)).not.toContain('127.0.0.1');
    }
  });
});

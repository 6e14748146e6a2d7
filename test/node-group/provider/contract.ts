/** What every provider of machines holds to. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Creation, MachineRequest, NodeProvider } from '../../../activities/node-group/provider/provider.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { Died, Mortal } from './mortal.ts';

/** A provider that really makes machines. */
export interface ProviderWorld {
  /** A group of this provider, of which there are the offerings `small` and `large`, and `withdrawn` which the provider does not have. */
  readonly group: NodeGroup;
  /** The provider as a new process has it: it knows nothing of those before. */
  readonly connect: (process: Mortal) => NodeProvider;
  /** Records machines as whoever asks for them does before. */
  readonly record: (names: readonly string[]) => Promise<readonly MachineRequest[]>;
  /** The provider's own names of all the machines that exist, made ready and being made. */
  readonly machines: () => Promise<readonly string[]>;
}

/** Milliseconds until the machines are there. */
const MADE_WITHIN_MS = 90_000;
/** A process has ended by then: no call has so many requests. */
const MOST_REQUESTS = 200;

/** @param world asked for in each test, with no machines. */
export function nodeProviderContract(provider: string, world: () => ProviderWorld): void {
  describe(`the provider ${provider}`, () => {
    it('knows the instance types of the offerings, without those that it does not have', async () => {
      const { connect, group } = world();
      const types = await connect(new Mortal()).instanceTypes(group);
      expect(types.map(({ id }) => id).toSorted()).toEqual(['large', 'small']);
      for (const { capacity, allocatable } of types) {
        expect(allocatable['cpu']).toBeGreaterThan(0);
        expect(capacity['memory']).toBeGreaterThanOrEqual(allocatable['memory'] ?? Number.POSITIVE_INFINITY);
        expect(allocatable['pods']).toBeGreaterThan(0);
      }
    });

    it('makes one machine for each request, and says the same when it is asked again', async () => {
      const { connect, group, record, machines } = world();
      const requests = await record(['contract-1', 'contract-2', 'contract-3']);
      const ids = await untilMade(world(), requests);
      expect(new Set(ids).size).toBe(3);
      expect((await machines()).toSorted()).toEqual(ids.toSorted());
      const again = await connect(new Mortal()).ensureCreated(group, requests);
      expect(again.map(idOf)).toEqual(ids);
      expect((await machines()).toSorted()).toEqual(ids.toSorted());
    });

    it('processes that ask for the same machines at the same time get the same ones', async () => {
      const { record, machines } = world();
      const requests = await record(['contract-1', 'contract-2', 'contract-3']);
      const answers = await Promise.all([1, 2, 3].map(async () => await untilMade(world(), requests)));
      expect(answers[1]).toEqual(answers[0]);
      expect(answers[2]).toEqual(answers[0]);
      expect((await machines()).toSorted()).toEqual(answers[0]?.toSorted());
    });

    it.each(['before', 'after'] as const)(
      'a process that ends %s any of its requests takes nothing with it: there is one machine for each request',
      async (when) => {
        const { connect, group, record, machines } = world();
        let made: string[] = [];
        await atEachRequest(when, async (process, at) => {
          const requests = await record([`${when}-${at}-1`, `${when}-${at}-2`]);
          await allUntilDeath(connect(process), group, requests, process);
          made = [...made, ...(await untilMade(world(), requests))];
          expect((await machines()).toSorted()).toEqual(made.toSorted());
        });
        expect(new Set(made).size).toBe(made.length);
      },
    );

    it('deletes exactly the machine that is meant, and says so when it is asked again', async () => {
      const { record, machines } = world();
      const requests = await record(['contract-1', 'contract-2']);
      const [first = '', second = ''] = await untilMade(world(), requests);
      const [request] = requests;
      if (request === undefined) throw new Error('there is no request');
      await untilGone(world(), request, first);
      expect(await machines()).toEqual([second]);
      await untilGone(world(), request, first);
      expect(await machines()).toEqual([second]);
    });

    it.each(['before', 'after'] as const)(
      'a machine whose creation ended %s any request is deleted by its name alone',
      async (when) => {
        const { connect, group, record, machines } = world();
        await atEachRequest(when, async (process, at) => {
          const [request] = await record([`${when}-${at}`]);
          if (request === undefined) throw new Error('there is no request');
          await allUntilDeath(connect(process), group, [request], process);
          await untilGone(world(), request, null);
          expect(await machines()).toEqual([]);
        });
      },
    );

    it.each(['before', 'after'] as const)(
      'a deletion that ended %s any request is brought to its end',
      async (when) => {
        const { connect, group, record, machines } = world();
        await atEachRequest(when, async (process, at) => {
          const [request] = await record([`${when}-${at}`]);
          if (request === undefined) throw new Error('there is no request');
          const [providerId = null] = await untilMade(world(), [request]);
          await deathOr(process, async () => {
            await connect(process).ensureDeleted(group, { ...request, providerId });
          });
          await untilGone(world(), request, providerId);
          expect(await machines()).toEqual([]);
        });
      },
    );

    it('a machine that was never asked for is gone', async () => {
      const { record, machines } = world();
      const [request] = await record(['contract-1']);
      if (request === undefined) throw new Error('there is no request');
      await untilGone(world(), request, null);
      expect(await machines()).toEqual([]);
    });
  });
}

/** Runs with a process that ends at its first request, then at its second one, and so on until one does not come so far. */
async function atEachRequest(
  when: 'before' | 'after',
  run: (process: Mortal, at: number) => Promise<void>,
): Promise<void> {
  for (let at = 1; at <= MOST_REQUESTS; at += 1) {
    const process = new Mortal({ at, when });
    await run(process, at);
    if (!process.isDead) return;
  }
  throw new Error(`a process made more than ${MOST_REQUESTS} requests`);
}

async function deathOr(process: Mortal, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!process.isDead) throw error;
    if (!(error instanceof Died) && !(error instanceof Error)) throw error;
  }
}

/** Asks until the machines are made, or the process ended. */
async function allUntilDeath(
  provider: NodeProvider,
  group: NodeGroup,
  requests: readonly MachineRequest[],
  process: Mortal,
): Promise<void> {
  await deathOr(process, async () => void (await asking(provider, group, requests)));
}

/** The machines' names at the provider, asked for by a process that lives. */
async function untilMade(
  { connect, group }: ProviderWorld,
  requests: readonly MachineRequest[],
): Promise<readonly string[]> {
  return await asking(connect(new Mortal()), group, requests);
}

async function asking(
  provider: NodeProvider,
  group: NodeGroup,
  requests: readonly MachineRequest[],
): Promise<readonly string[]> {
  const deadline = Date.now() + MADE_WITHIN_MS;
  for (;;) {
    const answers = await provider.ensureCreated(group, requests);
    const waiting = answers.filter((answer) => answer.kind === 'waiting');
    if (waiting.length === 0) return answers.map(idOf);
    if (Date.now() > deadline) throw new Error(`in vain waited for machines: ${JSON.stringify(answers)}`);
    await sleep(Math.min(...waiting.map(({ retryAfterMs }) => retryAfterMs)));
  }
}

function idOf(answer: Creation): string {
  if (answer.kind !== 'made') throw new Error(`no machine was made: ${JSON.stringify(answer)}`);
  return answer.providerId;
}

async function untilGone(
  { connect, group }: ProviderWorld,
  { name, uid }: MachineRequest,
  providerId: string | null,
): Promise<void> {
  const provider = connect(new Mortal());
  const deadline = Date.now() + MADE_WITHIN_MS;
  for (;;) {
    const answer = await provider.ensureDeleted(group, { name, uid, providerId });
    if (answer.kind === 'gone') return;
    if (Date.now() > deadline) throw new Error(`in vain waited until ${name} is gone: ${answer.detail}`);
    await sleep(answer.retryAfterMs);
  }
}

/** Processes that end at each of their writes, before it or after it took effect, and others that go on. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notYet } from '../../../activities/kernel/not-yet.ts';
import { Died, Mortal } from '../provider/mortal.ts';
import { attempt, MachineCluster, nodesOf, TestClock } from './cluster.ts';
import { silent } from './providers.ts';
import { amount, stepNumbers } from '../../kernel/long.ts';

/** More than a group waits for a node. */
const LATE_MS = 16 * 60_000;

let cluster: MachineCluster;

beforeAll(async () => {
  cluster = await MachineCluster.start();
});

afterAll(async () => {
  await cluster?.stop();
});

const WHEN = ['before', 'after'] as const;
/** Of the writes that each activity has at least. */
const TRIED = { from: 6, count: 2 };
/** Until the deletion of a machine is asked for: it says so, the size goes down, an Event, the deletion. */
const GIVING_BACK = [1, 2, 3, 4];
const LEAST_DEATHS = amount({ short: TRIED.count, long: TRIED.from });

/**
 * Runs an attempt of a process that ends at its write with this number.
 *
 * @returns whether it ended: one with fewer writes does not.
 */
async function ends(mortal: Mortal, activity: () => Promise<unknown>): Promise<boolean> {
  try {
    await attempt(activity);
  } catch (error) {
    if (!mortal.isDead && !(error instanceof Died)) throw error;
  }
  return mortal.isDead;
}

describe.each(WHEN)('a process that ends %s each of its writes', (when) => {
  it('creates exactly the machines that were wanted', async () => {
    let deaths = 0;
    for (const at of stepNumbers(TRIED)) {
      const name = `up-${when}-${at}`;
      const input = { ...(await cluster.createGroup(name)), newNodes: [nodesOf(name, 3)] };
      const scaleUp = { ...input, fence: await cluster.fence(`plan-${name}`) };
      const mortal = new Mortal({ at, when });
      const dying = cluster.process({ mortal });
      const ended = await ends(mortal, async () => await dying.ensureScaledUp(scaleUp));
      const again = cluster.process();
      const { kind } = await again.ensureScaledUp(scaleUp);
      const machines = await cluster.machines(name);
      expect([at, kind, machines.length]).toEqual([at, 'created', 3]);
      expect(await cluster.status(name)).toMatchObject({ desiredNodes: 3 });
      expect(await cluster.events(name)).toEqual(['Normal ScalingUp']);
      if (!ended) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(LEAST_DEATHS);
  });

  it('drives machines to exactly as many nodes', async () => {
    let deaths = 0;
    for (const at of stepNumbers(TRIED)) {
      const name = `drive-${when}-${at}`;
      const input = await cluster.createGroup(name, { labels: { pool: name } });
      const alive = cluster.process();
      const fence = await cluster.fence(`plan-${name}`);
      await alive.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 2)] });
      const mortal = new Mortal({ at, when });
      const dying = cluster.process({ mortal });
      let isOver = false;
      const ended = await cluster.untilDone('the process has ended', async () =>
        ends(mortal, async () => {
          await dying.ensureMachinesSettled(input);
          isOver = true;
        }).then((isDead) => {
          if (isDead || isOver) return isDead;
          throw notYet('it has more to do', 0);
        }),
      );
      await cluster.untilDone('the machines are ready', async () => await alive.ensureMachinesSettled(input));
      const nodes = await cluster.nodes(name);
      expect([at, nodes.length, nodes.every(({ metadata }) => metadata?.labels?.['pool'] === name)]).toEqual([
        at,
        2,
        true,
      ]);
      expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Ready', 'Ready']);
      expect(await cluster.status(name)).toMatchObject({ currentNodes: 2, readyNodes: 2, desiredNodes: 2 });
      if (!ended) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(LEAST_DEATHS);
  });

  it('gives back exactly the machine that it was to', async () => {
    let deaths = 0;
    for (const at of stepNumbers(TRIED)) {
      const name = `down-${when}-${at}`;
      const input = await cluster.createGroup(name);
      const alive = cluster.process();
      const fence = await cluster.fence(`plan-${name}`);
      await alive.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 2)] });
      await cluster.untilDone('the machines are ready', async () => await alive.ensureMachinesSettled(input));
      const [machine = '', other = ''] = (await cluster.machines(name)).map((each) => each.name);
      await cluster.markDrained(machine);
      const mortal = new Mortal({ at, when });
      const dying = cluster.process({ mortal });
      const ended = await ends(mortal, async () => await dying.ensureMachineDeleted({ ...input, machine }));
      await cluster.untilDone('it is gone', async () => await alive.ensureMachineDeleted({ ...input, machine }));
      expect([at, (await cluster.machines(name)).map((each) => each.name)]).toEqual([at, [other]]);
      expect((await cluster.nodes(name)).map(({ metadata }) => metadata?.name)).toEqual([other]);
      expect(await cluster.status(name)).toMatchObject({ desiredNodes: 1 });
      expect(await cluster.events(name)).toEqual(['Normal ScalingDown', 'Normal ScalingUp']);
      if (!ended) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(LEAST_DEATHS);
  });

  it('wants as many nodes as before where the node is taken back then, and one less where it goes', async () => {
    let deaths = 0;
    for (const at of GIVING_BACK) {
      for (const isTakenBack of [true, false]) {
        const name = `back-${when}-${at}-${String(isTakenBack)}`;
        const input = await cluster.populated(name, 2);
        const alive = cluster.process();
        // A person wants more than there are: nothing but a record says whether the size is lowered already.
        await cluster.patchGroupStatus(name, { desiredNodes: isTakenBack ? 2 : 5 });
        const [machine = ''] = (await cluster.machines(name)).map((each) => each.name);
        await cluster.markDrained(machine);
        const mortal = new Mortal({ at, when });
        const dying = cluster.process({ mortal });
        const ended = await ends(mortal, async () => await dying.ensureMachineDeleted({ ...input, machine }));
        const isAsked = (await cluster.machines(name)).some((each) => each.isDeleting) || !ended;
        if (isTakenBack && !isAsked) {
          await cluster.unmark(machine);
          await cluster.untilDone('the machine is ready', async () => await alive.ensureMachinesSettled(input));
          expect((await cluster.machines(name)).map(({ phase }) => phase)).toEqual(['Ready', 'Ready']);
          expect([at, await cluster.status(name)]).toMatchObject([at, { desiredNodes: 2, currentNodes: 2 }]);
          // Drained again it goes as if nothing had been.
          await cluster.markDrained(machine);
        }
        await cluster.untilDone('it is gone', async () => await alive.ensureMachineDeleted({ ...input, machine }));
        await alive.ensureGroupStatus(input);
        expect([at, await cluster.status(name)]).toMatchObject([at, { desiredNodes: isTakenBack ? 1 : 4 }]);
        expect(await cluster.status(name)).not.toHaveProperty('loweredFor');
        deaths += Number(ended);
      }
    }
    expect(deaths).toBe(2 * GIVING_BACK.length);
  });

  it('gives up machines that never register once, and leaves none', async () => {
    let deaths = 0;
    for (const at of stepNumbers(TRIED)) {
      const name = `never-${when}-${at}`;
      const provider = silent();
      let now = Date.now();
      const given = { provider: () => provider, clock: new TestClock(() => now) };
      const input = await cluster.createGroup(name, { minNodes: 1 });
      const alive = cluster.process(given);
      const fence = await cluster.fence(`plan-${name}`);
      await alive.ensureScaledUp({ ...input, fence, newNodes: [nodesOf(name, 2)] });
      await attempt(async () => await alive.ensureMachinesSettled(input));
      now += LATE_MS;
      const mortal = new Mortal({ at, when });
      const dying = cluster.process({ ...given, mortal });
      const ended = await ends(mortal, async () => await dying.ensureMachinesSettled(input));
      await cluster.untilDone('they are gone', async () => await alive.ensureMachinesSettled(input));
      expect([at, provider.made.size, await cluster.machines(name)]).toEqual([at, 0, []]);
      expect(await cluster.status(name)).toMatchObject({ desiredNodes: 1, currentNodes: 0, backoff: { failures: 1 } });
      expect(await cluster.events(name)).toEqual([
        'Normal ScalingUp',
        'Warning ScaleUpFailed',
        'Warning ScaleUpFailed',
      ]);
      if (!ended) break;
      deaths += 1;
    }
    expect(deaths).toBeGreaterThanOrEqual(LEAST_DEATHS);
  });
});

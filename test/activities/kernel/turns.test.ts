import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endTurn, takeTurn, Turns, type TurnsOptions } from '../../../activities/kernel/turns.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const OPTIONS: TurnsOptions = {
  most: 1,
  first: 10,
  graceMs: 300,
  longestMs: 60_000,
  patienceMs: 20_000,
  mostWaiting: 10,
};

/** Workflows whose activities note what they have come to. */
function workflows(options: Partial<TurnsOptions> = {}) {
  const turns = new Turns({ ...OPTIONS, ...options });
  const noted: string[] = [];
  const never = new AbortController().signal;
  /** An activity that waits for its turn, notes its name, and goes on until it is ended. */
  const begin = (workflow: string, name = workflow, signal = never) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = turns.during(workflow, signal, async () => {
      await takeTurn();
      noted.push(name);
      await promise;
    });
    return {
      end: async () => {
        resolve();
        await done;
      },
      fail: async () => {
        reject(new Error('the API server is away'));
        await expect(done).rejects.toThrow('the API server is away');
      },
    };
  };
  const step = async (workflow: string, run: () => void = () => {}) =>
    await turns.during(workflow, never, async () => run());
  const pass = async (ms: number) => await vi.advanceTimersByTimeAsync(ms);
  return { begin, step, pass, noted };
}

describe('turns', () => {
  it('let as many workflows begin as may, and the next one when the activities of one no longer follow each other', async () => {
    const { begin, step, pass, noted } = workflows({ most: 2 });
    const a = begin('a');
    begin('b');
    begin('c');
    begin('d');
    await pass(0);
    expect(noted).toEqual(['a', 'b']);
    await a.end();
    await pass(200);
    await step('a');
    await pass(299);
    expect(noted).toEqual(['a', 'b']);
    await pass(1);
    expect(noted).toEqual(['a', 'b', 'c']);
  });

  it('end after a while, whatever the workflow does, and not sooner for the next one', async () => {
    const { begin, pass, noted } = workflows({ longestMs: 15_000 });
    const slow = begin('a');
    await pass(10_000);
    const next = begin('b');
    begin('c');
    await pass(4_999);
    expect(noted).toEqual(['a']);
    await pass(1);
    expect(noted).toEqual(['a', 'b']);
    // What goes on without a turn neither gets nor ends one.
    await slow.end();
    await pass(4_000);
    expect(noted).toEqual(['a', 'b']);
    await next.end();
    await pass(300);
    expect(noted).toEqual(['a', 'b', 'c']);
  });

  it('are kept by all activities of a workflow that has one, and none of them waits', async () => {
    const { begin, pass, noted } = workflows();
    const first = begin('a', 'a1');
    const second = begin('a', 'a2');
    begin('b');
    await pass(0);
    expect(noted).toEqual(['a1', 'a2']);
    await first.end();
    await pass(10_000);
    expect(noted).toEqual(['a1', 'a2']);
    await second.end();
    await pass(300);
    expect(noted).toEqual(['a1', 'a2', 'b']);
  });

  it('end where the rest can wait, and what comes after it waits for another one', async () => {
    const { begin, step, pass, noted } = workflows();
    const a = begin('a');
    begin('b');
    await pass(0);
    await a.end();
    await step('a', endTurn);
    await pass(0);
    expect(noted).toEqual(['a', 'b']);
    begin('a', 'a later');
    await pass(1_000);
    expect(noted).toEqual(['a', 'b']);
  });

  it('are given in the order of asking, to all activities of a workflow that wait', async () => {
    const { begin, pass, noted } = workflows();
    const a = begin('a');
    begin('b', 'b1');
    begin('c');
    begin('b', 'b2');
    await a.end();
    await pass(300);
    expect(noted).toEqual(['a', 'b1', 'b2']);
  });

  it('are few at first, and one more for each that ends, until all have come to rest', async () => {
    const { begin, step, pass, noted } = workflows({ most: 3, first: 1 });
    const end = async (workflow: string) => {
      await step(workflow, endTurn);
      await pass(0);
    };
    for (const workflow of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) begin(workflow);
    await pass(0);
    expect(noted).toEqual(['a']);
    await end('a');
    expect(noted).toEqual(['a', 'b', 'c']);
    await end('b');
    expect(noted).toEqual(['a', 'b', 'c', 'd', 'e']);
    await end('c');
    expect(noted).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    for (const workflow of ['d', 'e', 'f', 'g']) await end(workflow);
    begin('h');
    begin('i');
    await pass(0);
    expect(noted.slice(6)).toEqual(['g', 'h']);
  });

  it('are given first to a workflow that lost its own because its next step was late', async () => {
    const { begin, step, pass, noted } = workflows();
    const a = begin('a', 'a1');
    const b = begin('b');
    begin('c');
    await a.end();
    // Longer than the grace.
    await pass(400);
    expect(noted).toEqual(['a1', 'b']);
    begin('a', 'a2');
    await pass(0);
    await step('b', endTurn);
    await b.end();
    await pass(0);
    expect(noted).toEqual(['a1', 'b', 'a2']);
  });

  it('are given in the order of asking to one that has had its own for too long', async () => {
    const { begin, step, pass, noted } = workflows({ longestMs: 2_000 });
    const a = begin('a', 'a1');
    const b = begin('b');
    begin('c');
    await pass(2_000);
    expect(noted).toEqual(['a1', 'b']);
    await a.end();
    begin('a', 'a2');
    await step('b', endTurn);
    await b.end();
    expect(noted).toEqual(['a1', 'b', 'c']);
  });

  it('are not waited for any longer than the patience, nor by a cancelled activity, nor by one too many', async () => {
    const { begin, pass, noted } = workflows({ mostWaiting: 2 });
    begin('a');
    const stop = new AbortController();
    begin('b', 'b', stop.signal);
    begin('c');
    await pass(0);
    expect(noted).toEqual(['a']);
    begin('d');
    await pass(0);
    expect(noted).toEqual(['a', 'd']);
    stop.abort();
    await pass(0);
    expect(noted).toEqual(['a', 'd', 'b']);
    await pass(19_999);
    expect(noted).toEqual(['a', 'd', 'b']);
    await pass(1);
    expect(noted).toEqual(['a', 'd', 'b', 'c']);
  });

  it('go on to the next workflow when an activity fails', async () => {
    const { begin, pass, noted } = workflows();
    const a = begin('a');
    begin('b');
    await a.fail();
    await pass(300);
    expect(noted).toEqual(['a', 'b']);
  });

  it('are nobody else’s to end', async () => {
    const { begin, step, pass, noted } = workflows();
    begin('a');
    begin('b');
    await step('c', endTurn);
    await pass(1_000);
    expect(noted).toEqual(['a']);
  });
});

it('an activity of a worker that gives no turns does not wait', async () => {
  await takeTurn();
  endTurn();
});

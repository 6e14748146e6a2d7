import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../chaos/random.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { stopNowAndThen } from './stops.ts';

const MARK = 'HEADROOM_STOPS_TEST';

/** A process that does nothing until it is ended. */
function idle(mark: string): number {
  const sleeper = spawn('sleep', ['600'], { stdio: 'ignore', env: { ...process.env, [MARK]: mark } });
  onTestFinished(() => {
    sleeper.kill('SIGKILL');
  });
  return sleeper.pid ?? 0;
}

/** `S` for one that sleeps, `T` for one that is stopped. */
async function state(pid: number): Promise<string | undefined> {
  return /\) (\w) /.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1];
}

it.skipIf(process.platform !== 'linux')(
  'processes of the run are stopped now and then, no others, and none for good',
  async () => {
    const [own, others] = [idle(`own-${process.pid}`), idle(`others-${process.pid}`)];
    const over = new AbortController();
    const [seen, seenOfOthers] = [new Set<string | undefined>(), new Set<string | undefined>()];
    const stopping = stopNowAndThen({
      random: seededRandom(7),
      mark: `${MARK}=own-${process.pid}`,
      nameOf: ([command]) => (command === 'sleep' ? 'sleeper' : undefined),
      signal: over.signal,
    });
    await eventually('it is stopped and goes on', async () => {
      seenOfOthers.add(await state(others));
      return seen.add(await state(own)).has('T') && seen.has('S');
    });
    over.abort();
    const stops = await stopping;
    expect([...stops.keys()]).toEqual(['sleeper']);
    expect(stops.get('sleeper')).toBeGreaterThan(0);
    expect([...seenOfOthers]).not.toContain('T');
    await eventually('it goes on', async () => (await state(own)) === 'S');
  },
  // Each of the two waits says after a minute what it waited for.
  150_000,
);

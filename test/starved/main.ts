/**
 * `npm run starved -- --seed 7 test/faults`: integration tests on a machine that serves others as well. One of the processes
 * that they start, a server, a worker or a starter, is stopped for a moment, and then another one, for as long as they run. A
 * test that goes by what it hopes for fails here and not on the one bad day; the same seed draws the same spans, but not at
 * the same moments.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { seededRandom } from '../chaos/random.ts';
import { stopNowAndThen } from './stops.ts';

const MARK = 'HEADROOM_STARVED_RUN';
/** The API server, the controller manager, etcd, Temporal, and the product's own processes; not what runs the tests. */
const STOPPED = /\/(kube-apiserver|kube-controller-manager|etcd|temporal|worker|starter)(?:\.js)?$/;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { seed: { type: 'string', default: String(Date.now() % 1_000_000) } },
    allowPositionals: true,
  });
  const seed = Number(values.seed);
  if (!Number.isInteger(seed)) throw new Error(`expected --seed with a whole number, got "${values.seed}"`);
  if (process.platform !== 'linux') throw new Error(`this needs the /proc of Linux, and this is ${process.platform}`);
  const value = `${process.pid}-${seed}`;
  const tests = spawn('vitest', ['run', '--project=integration', ...positionals], {
    stdio: 'inherit',
    env: { ...process.env, [MARK]: value },
  });
  // Ctrl-C reaches vitest too, which ends what it has started; nothing is left stopped here meanwhile.
  process.on('SIGINT', () => {});
  const over = new AbortController();
  const ended = once(tests, 'close').finally(() => over.abort());
  const random = seededRandom(seed);
  // A server itself, or the file that Node was started with, which comes behind Node's flags.
  const nameOf = ([command = '', ...args]: readonly string[]): string | undefined =>
    [command, args.find((arg) => !arg.startsWith('-')) ?? ''].flatMap((path) => STOPPED.exec(path)?.[1] ?? [])[0];
  const [stops, [code]] = await Promise.all([
    stopNowAndThen({ random, mark: `${MARK}=${value}`, nameOf, signal: over.signal }),
    ended,
  ]);
  const counts = [...stops].map(([name, count]) => `${name} ${count} times`);
  console.log(`stopped with the seed ${seed}: ${counts.length === 0 ? 'nothing' : counts.join(', ')}`);
  // Tests of which no process was ever stopped have shown nothing that they do not show without this program.
  return code === 0 && stops.size > 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

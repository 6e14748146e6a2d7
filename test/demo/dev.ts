/** `make dev`: the servers and processes of the demo, with worker and starter restarted when the source changes. */
import { fileURLToPath } from 'node:url';
import { ensureServers } from '../../tools/resolver/ensure-servers.ts';
import { logTail, type SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import type { Stack } from '../kernel/stack/stack.ts';
import { INTERRUPTED, interruptSignal, unlessInterrupted, untilAborted } from './interrupt.ts';
import { addresses, readSwitches, startDemoServers } from './servers.ts';
import { type ProcessName, watchSource } from './source-watch.ts';
import { KUBERNETES_AND_TEMPORAL } from './story.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROCESSES: readonly ProcessName[] = ['worker', 'starter'];

readSwitches([]);
const interrupt = interruptSignal();
const running = new Map<ProcessName, SupervisedProcess>();
const toRestart = new Set<ProcessName>();
let restarting: Promise<void> | undefined;
let stack: Stack | undefined;

try {
  await unlessInterrupted({ interrupt }, async () => await ensureServers(KUBERNETES_AND_TEMPORAL));
  console.log('Starting Kubernetes, Temporal, a Git forge, and Headroom');
  const sayUntilUp = (message: string) => (stack === undefined ? say(message) : undefined);
  stack = await startDemoServers({ log: sayUntilUp, interrupt, headroom: false });
  const unwatch = watchSource(ROOT, (files, processes) => {
    const [first, ...others] = files;
    say(`changed: ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`);
    // What does not run may have been waiting for exactly this change.
    const down = PROCESSES.filter((name) => running.get(name)?.exit() !== undefined || !running.has(name));
    restart([...processes, ...down]);
  });
  restart(PROCESSES);
  await restarting;
  console.log(`\n${addresses(stack, null)}`);
  console.log('\nA change of the source restarts what runs it. Everything stays up until Ctrl-C.');
  await untilAborted(interrupt);
  unwatch();
} catch (error) {
  process.exitCode = interrupt.aborted ? INTERRUPTED : 1;
  if (!interrupt.aborted) console.error(error instanceof Error ? error.message : error);
} finally {
  console.log('\nStopping');
  await stack?.stop();
}
process.exit();

/** Restarts these processes; what is asked for in the middle of a restart comes after it. */
function restart(names: readonly ProcessName[]): void {
  for (const name of names) toRestart.add(name);
  restarting ??= restartAll().finally(() => {
    restarting = undefined;
  });
}

async function restartAll(): Promise<void> {
  while (toRestart.size > 0 && !interrupt.aborted) {
    const names = [...toRestart];
    toRestart.clear();
    await Promise.all(names.map(restartOne));
  }
}

async function restartOne(name: ProcessName): Promise<void> {
  if (stack === undefined) return;
  const began = Date.now();
  const old = running.get(name);
  running.delete(name);
  await old?.stop();
  if (interrupt.aborted) return;
  try {
    const fresh = await (name === 'worker' ? stack.startWorker() : stack.startStarter());
    running.set(name, fresh);
    say(`the ${name} is ready after ${((Date.now() - began) / 1000).toFixed(1)} s; its log: ${fresh.logFile}`);
    void fresh.exited.then(async ({ code, signal }) => {
      if (running.get(name) !== fresh || interrupt.aborted) return;
      say(`the ${name} ended with ${code ?? signal}; the next change starts it again\n${await logTail(fresh.logFile)}`);
    });
  } catch (error) {
    if (interrupt.aborted) return;
    // One that never became ready may still run.
    const left = stack.processes.filter((process) => process.name === name && process.exit() === undefined);
    await Promise.all(left.map(async (process) => await process.stop()));
    say(`${error instanceof Error ? error.message : String(error)}\nThe next change starts the ${name} again.`);
  }
}

function say(message: string): void {
  console.log(`${new Date().toTimeString().slice(0, 8)}  ${message}`);
}

import { readFile } from 'node:fs/promises';
import type { PairName } from '../../../domain/kernel/controllers.ts';
import { freePort } from '../servers/free-port.ts';
import { logTail, type SupervisedProcess, startProcess } from '../servers/supervised-process.ts';
import { eventually } from './eventually.ts';
import { parted, startWith } from './programs.ts';

export interface LaunchOptions {
  readonly name: keyof typeof READY;
  /** Variables of its environment, and constants by their path, such as `timings.syncPoll`. */
  readonly env: Readonly<Record<string, string>>;
  /** Those that it runs; all of them by default. */
  readonly controllers?: readonly PairName[];
  readonly logFile: string;
  /** Called as soon as the process runs, so that it is ended also when it never becomes ready. */
  readonly onStarted: (started: SupervisedProcess) => void;
}

/** Milliseconds. A start takes three to five seconds, and ten times as long where all cores are busy with those of others. */
const START_MS = 120_000;

const WORKER_RUNS = '"the worker is running"';
const STARTER_WATCHES = '"the starter is watching"';

/** What each says in its log when it is ready. */
const READY = {
  worker: [WORKER_RUNS],
  starter: [STARTER_WATCHES],
  'all-in-one': [WORKER_RUNS, STARTER_WATCHES],
} as const;

/**
 * Starts one of the product's processes, and returns when it is ready.
 *
 * @throws Error with the end of its log when it ends before that.
 */
export async function launchProgram({
  name,
  logFile,
  onStarted,
  ...options
}: LaunchOptions): Promise<SupervisedProcess> {
  const { env, constants } = parted(options.env);
  const program = await startWith(constants, name);
  const started = await startProcess({
    name,
    command: program.command,
    args: [...program.args, ...(options.controllers ?? [])],
    env: { ...program.env, ...(await withMetricsPort(env)) },
    logFile,
  });
  onStarted(started);
  await eventually(
    `the ${name} is ready`,
    async () => started.exit() !== undefined || (await logHas(logFile, READY[name])),
    START_MS,
  );
  const exit = started.exit();
  if (exit !== undefined) {
    throw new Error(`the ${name} ended with ${exit.code ?? exit.signal}:\n${await logTail(logFile)}`);
  }
  return started;
}

/** A worker chooses a port itself and then has the SDK listen on it: one of the system's choice is anybody's in between. */
async function withMetricsPort(env: LaunchOptions['env']): Promise<LaunchOptions['env']> {
  return env['METRICS_ADDRESS'] === '127.0.0.1:0' ? { ...env, METRICS_ADDRESS: `127.0.0.1:${await freePort()}` } : env;
}

async function logHas(file: string, texts: readonly string[]): Promise<boolean> {
  const log = await readFile(file, 'utf8').catch(() => '');
  return texts.every((text) => log.includes(text));
}

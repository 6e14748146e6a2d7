/** Temporal and processes that run budgets: all that permits need. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type Logger, pino } from 'pino';
import { createGitHubPermits } from '../../activities/forge/github/budget-permits.ts';
import type { WritePermits, PermitAsk } from '../../activities/forge/write-permits.ts';
import type { BudgetLimits } from '../../domain/github-budget/limits.ts';
import { githubBudgetId } from '../../domain/github-budget/target.ts';
import {
  logTail,
  type SupervisedProcess,
  startProcess,
  temporaryDirectory,
} from '../kernel/servers/supervised-process.ts';
import { borrowTemporal } from '../kernel/servers/shared-temporal.ts';
import type { TemporalServer } from '../kernel/servers/temporal.ts';
import { eventually } from '../kernel/stack/eventually.ts';

const PROGRAM = fileURLToPath(new URL('./worker-main.ts', import.meta.url));
const HOST = 'github.example';
/** Milliseconds. A start takes some seconds, and ten times as long where all cores are busy with those of others. */
const START_MS = 120_000;

export interface BudgetServers {
  readonly temporal: TemporalServer;
  readonly processes: readonly SupervisedProcess[];
  readonly client: Client;
  /** A process that runs budgets, as those of any cluster. */
  startWorker(): Promise<SupervisedProcess>;
  /** @param log of the asker; none unless given. */
  permits(credentialId: string, limits: BudgetLimits, log?: Logger): WritePermits;
  workflowId(credentialId: string): string;
  stop(): Promise<void>;
}

export async function startBudgetServers({ workers }: { readonly workers: number }): Promise<BudgetServers> {
  const dir = await temporaryDirectory('budget');
  const temporal = await borrowTemporal();
  const connection = await Connection.connect({ address: temporal.address });
  const client = new Client({ connection, namespace: temporal.namespace });
  const processes: SupervisedProcess[] = [];
  let launched = 0;
  const startWorker = async (): Promise<SupervisedProcess> => {
    const logFile = join(dir, `worker-${launched}.log`);
    launched += 1;
    const started = await startProcess({
      name: 'budget worker',
      command: process.execPath,
      args: [PROGRAM, temporal.address, temporal.namespace],
      logFile,
    });
    processes.push(started);
    await eventually(
      'the worker runs',
      async () => started.exit() !== undefined || (await readFile(logFile, 'utf8')).includes('running'),
      START_MS,
    );
    if (started.exit() !== undefined) throw new Error(`the budget worker ended:\n${await logTail(logFile)}`);
    return started;
  };
  await Promise.all(Array.from({ length: workers }, startWorker));
  return {
    temporal,
    processes,
    client,
    startWorker,
    permits: (credentialId, limits, log = pino({ enabled: false })) =>
      createGitHubPermits({ client, host: HOST, credentialId, limits, log }),
    workflowId: (credentialId) => githubBudgetId({ host: HOST, credentialId }),
    stop: async () => {
      await Promise.all(processes.map(async (process) => await process.stop()));
      await connection.close();
      await temporal.stop();
    },
  };
}

/**
 * Asks until there is a permit, as Temporal retries an activity: after the delay that the failure names, with the same id.
 *
 * @returns the moments before and after which the permit can be used, and the messages of the failures.
 */
export async function persist(
  permits: WritePermits,
  ask: PermitAsk,
): Promise<{ readonly at: number; readonly waits: readonly string[] }> {
  const waits: string[] = [];
  for (;;) {
    try {
      await permits.acquire(ask);
      return { at: performance.now(), waits };
    } catch (error) {
      if (!(error instanceof ApplicationFailure) || error.type !== 'WriteBudgetSpent') throw error;
      waits.push(error.message);
      await sleep(Number(error.nextRetryDelay ?? 0));
    }
  }
}

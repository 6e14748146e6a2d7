/** Permits from a real Temporal, for more askers than there are permits. */
import { ApplicationFailure } from '@temporalio/common';
import { type Logger, pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PermitAsk } from '../../activities/forge/write-permits.ts';
import type { BudgetLimits } from '../../domain/github-budget/limits.ts';
import type { WritePriority } from '../../domain/github-budget/write-priority.ts';
import { githubBudgetTaskQueue } from '../../domain/github-budget/target.ts';
import { budgetCommands, type BudgetStatus, status } from '../../workflows/github-budget/messages.ts';
import type { githubBudget } from '../../workflows/github-budget/workflow.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type BudgetServers, persist, startBudgetServers } from './budget-servers.ts';

/** Ten in a second, and two more to use a permit in, which is generous to a machine under load. */
const LIMITS: BudgetLimits = { windows: [{ ms: 1_000, most: 10 }], validMs: 2_000, takenWithinMs: 1_000 };
/** For tests that count permits: no answer comes too late to be used, because whoever asks again may have two in the end. */
const UNHURRIED = { validMs: 60_000, takenWithinMs: 30_000 };
const NO_LIMIT: BudgetLimits = { windows: [{ ms: 600_000, most: 100_000 }], ...UNHURRIED };

let servers: BudgetServers;

beforeAll(async () => {
  servers = await startBudgetServers({ workers: 2 });
});
afterAll(async () => await servers?.stop());

function ask(id: string, priority: WritePriority = 'demand'): PermitAsk {
  return { id, priority, target: `team-a/${id}`, cluster: 'eu', write: 'open pull request' };
}

async function statusOf(credential: string): Promise<BudgetStatus> {
  return await servers.client.workflow.getHandle(servers.workflowId(credential)).query(status);
}

/** The most permits that were used in any span of the length of the window. */
function mostAtOnce(moments: readonly number[], ms: number): number {
  const sorted = moments.toSorted((a, b) => a - b);
  return Math.max(...sorted.map((first) => sorted.filter((at) => at >= first && at < first + ms).length));
}

/** Writes of two clusters' workers, as they come: each with its own way to the budget. */
async function writeAll(credential: string, asks: readonly PermitAsk[], log?: Logger) {
  const workers = [servers.permits(credential, LIMITS, log), servers.permits(credential, LIMITS, log)];
  return await Promise.all(
    asks.map(async (asked, index) => {
      const permits = workers[index % 2];
      if (permits === undefined) throw new Error('there are two workers');
      return { ...asked, ...(await persist(permits, asked)) };
    }),
  );
}

/**
 * On a machine that starves, an answer may come too late to be used. Whoever waited for it asks again like the others, and
 * those who asked meanwhile go first.
 */
const TOO_LATE = /^no GitHub permit: .* (take|gives no answer)/;

describe('sixty writes of two clusters at once, ten a second', () => {
  /** The writes that had such an answer and asked again by themselves. */
  const late = new Set<string>();

  it('are never more than ten in any second, the most urgent first, and each knows its place', async () => {
    const writePriorities = ['threshold', 'demand', 'approved'] as const;
    const asks = Array.from({ length: 60 }, (_, index) => ({
      ...ask(`${index}`, writePriorities[index % 3]),
      write: `write ${index}`,
    }));
    const log = pino({ level: 'debug' }, { write: (line) => late.add((JSON.parse(line) as PermitAsk).write) });
    const written = await writeAll('sixty', asks, log);

    expect(
      mostAtOnce(
        written.map(({ at }) => at),
        1_000,
      ),
    ).toBeLessThanOrEqual(10);
    const isInTime = ({ write, waits }: (typeof written)[number]) =>
      !late.has(write) && !waits.some((message) => TOO_LATE.test(message));
    const lastOf = (priority: WritePriority) =>
      Math.max(...written.filter((entry) => entry.priority === priority && isInTime(entry)).map(({ at }) => at));
    // The first ten went before anybody else had asked.
    const later = written.toSorted((a, b) => a.at - b.at).slice(10);
    for (const { at, priority } of later.filter(isInTime)) {
      if (priority === 'demand') expect(at).toBeGreaterThan(lastOf('approved') - 1_000);
      if (priority === 'threshold') expect(at).toBeGreaterThan(lastOf('demand') - 1_000);
    }
    const messages = written.flatMap(({ waits }) => waits);
    const queued = messages.filter((message) => !TOO_LATE.test(message));
    expect(queued.length).toBeGreaterThan(0);
    for (const message of queued) {
      expect(message).toMatch(
        /^waits for a GitHub permit: place \d+ of \d+ \(github-budget\/github\.example\/sixty\); asks again in \d+ s$/,
      );
    }
  });

  it('are fewer events than five for each write', async () => {
    const { events } = await servers.client.workflow.getHandle(servers.workflowId('sixty')).fetchHistory();
    expect(events?.length).toBeLessThan(60 * 5);
  });
});

describe('more workers than the server takes updates at once', () => {
  it('all get their permits', async () => {
    const workers = Array.from({ length: 40 }, () => servers.permits('forty', NO_LIMIT));
    const started = performance.now();
    await Promise.all(workers.map(async (permits, index) => await permits.acquire(ask(`w${index}`))));
    process.stdout.write(`40 workers had a permit each after ${Math.round(performance.now() - started)} ms\n`);
    expect((await statusOf('forty')).windows).toEqual([{ seconds: 600, most: 100_000, used: 40 }]);
  });

  it('wait for one no longer than an exchange with Temporal takes', async () => {
    const permits = servers.permits('alone', NO_LIMIT);
    const took: number[] = [];
    for (let index = 0; index < 50; index += 1) {
      const started = performance.now();
      await permits.acquire(ask(`w${index}`));
      took.push(performance.now() - started);
    }
    took.sort((a, b) => a - b);
    process.stdout.write(`a permit took ${took[25]?.toFixed(0)} ms, 95 % up to ${took[47]?.toFixed(0)} ms\n`);
    expect((await statusOf('alone')).windows[0]?.used).toBe(50);
    // Milliseconds on a machine at rest. Whoever waits for a timer or asks again waits for seconds each time.
    expect(took[25]).toBeLessThan(500);
  });
});

describe('a budget', () => {
  it('is one for all: the queue has a place, an urgency and a turn for everybody who waits', async () => {
    const limits: BudgetLimits = { windows: [{ ms: 60_000, most: 1 }], ...UNHURRIED };
    const [first, other] = [servers.permits('shown', limits), servers.permits('shown', limits)];
    await first.acquire(ask('first'));
    await expect(first.acquire(ask('by-threshold', 'threshold'))).rejects.toThrow('place 1 of 1');
    const refused = await other.acquire(ask('approved', 'approved')).catch((error: unknown) => error);
    if (!(refused instanceof ApplicationFailure)) throw new Error('it was granted');
    expect(refused.type).toBe('WriteBudgetSpent');
    expect(refused.nonRetryable).toBe(false);
    expect(Number(refused.nextRetryDelay)).toBeGreaterThan(60_000);

    const { phase, reason, windows, queue } = await statusOf('shown');
    expect({ phase, reason, windows }).toEqual({
      phase: 'Waiting',
      reason: 'PermitsUsedUp',
      windows: [{ seconds: 60, most: 1, used: 1 }],
    });
    expect(
      queue.map(({ position, priority, target, cluster, write }) => [position, priority, target, cluster, write]),
    ).toEqual([
      [1, 'approved', 'team-a/approved', 'eu', 'open pull request'],
      [2, 'threshold', 'team-a/by-threshold', 'eu', 'open pull request'],
    ]);
    const { typedSearchAttributes } = await servers.client.workflow.getHandle(servers.workflowId('shown')).describe();
    expect(Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]))).toMatchObject(
      {
        HeadroomController: 'github-budget',
        HeadroomTarget: 'github.example/shown',
        HeadroomPhase: 'Waiting',
        HeadroomCluster: '*',
      },
    );
  });

  it('gives nobody a permit while GitHub limits, whoever was told so', async () => {
    const [first, other] = [servers.permits('limited', NO_LIMIT), servers.permits('limited', NO_LIMIT)];
    await first.limited(60_000, 'You have exceeded a secondary rate limit');
    await expect(other.acquire(ask('a', 'approved'))).rejects.toThrow(
      /place 1 of 1 .*GitHub allows no writes until .*: You have exceeded a secondary rate limit; asks again in \d+ s$/,
    );
    expect((await statusOf('limited')).phase).toBe('Limited');
  });

  it('gives nobody a permit while an operator has paused it, and goes on afterwards', async () => {
    const handle = await servers.client.workflow.signalWithStart<typeof githubBudget, [{ by: string; reason: string }]>(
      'githubBudget',
      {
        workflowId: servers.workflowId('paused'),
        taskQueue: githubBudgetTaskQueue,
        signal: budgetCommands.signals.pause.name,
        signalArgs: [{ by: 'alice', reason: 'an incident' }],
      },
    );
    const permits = servers.permits('paused', NO_LIMIT);
    await expect(permits.acquire(ask('a'))).rejects.toThrow('paused by alice: an incident; asks again in 30 s');
    await expect(handle.executeUpdate(budgetCommands.updates.pause, { args: [{ by: 'bob' }] })).rejects.toMatchObject({
      cause: { message: expect.stringMatching(/^already paused by alice since /) },
    });
    expect(await handle.executeUpdate(budgetCommands.updates.resume, { args: [{ by: 'bob' }] })).toBe('resumed by bob');
    await permits.acquire(ask('a'));
    expect((await statusOf('paused')).queue).toEqual([]);
  });

  it('ends when no permit counts any more, and begins again with the next question', async () => {
    const limits: BudgetLimits = { windows: [{ ms: 500, most: 2 }], validMs: 1_000, takenWithinMs: 500 };
    const permits = servers.permits('ends', limits);
    const handle = servers.client.workflow.getHandle(servers.workflowId('ends'));
    for (let round = 0; round < 2; round += 1) {
      await persist(permits, ask(`round-${round}`));
      await eventually('the budget is over', async () => (await handle.describe()).status.name === 'COMPLETED');
    }
  });

  it('keeps its count and its queue through continue-as-new in the middle of it', async () => {
    const workflowId = servers.workflowId('continued');
    const { firstExecutionRunId } = await servers.client.workflow.start<typeof githubBudget>('githubBudget', {
      workflowId,
      taskQueue: githubBudgetTaskQueue,
      args: [{ limits: LIMITS, continueAfterEvents: 20 }],
    });
    const written = await writeAll(
      'continued',
      Array.from({ length: 40 }, (_, index) => ask(`${index}`)),
    );
    expect(
      mostAtOnce(
        written.map(({ at }) => at),
        1_000,
      ),
    ).toBeLessThanOrEqual(10);
    const first = await servers.client.workflow.getHandle(workflowId, firstExecutionRunId).describe();
    expect(first.status.name).toBe('CONTINUED_AS_NEW');
  });

  it('goes on with another worker when its own is killed', async () => {
    const victims = [...servers.processes];
    const asks = Array.from({ length: 30 }, (_, index) => ask(`${index}`));
    const writing = writeAll('killed', asks);
    await eventually('some wait', async () => (await statusOf('killed')).queue.length > 0);
    await servers.startWorker();
    await Promise.all(victims.map(async (victim) => await victim.kill()));
    const written = await writing;
    expect(written.length).toBe(30);
    expect(
      mostAtOnce(
        written.map(({ at }) => at),
        1_000,
      ),
    ).toBeLessThanOrEqual(10);
    // A worker that starts, and writes that wait meanwhile for one that is gone.
  }, 300_000);

  it('that nobody runs is named by whoever waits for it', async () => {
    await Promise.all(servers.processes.map(async (process) => await process.kill()));
    await expect(servers.permits('nobody', NO_LIMIT).acquire(ask('a'))).rejects.toThrow(
      /^no GitHub permit: github-budget\/github\.example\/nobody on the task queue headroom-github gives no answer: /,
    );
  });
});

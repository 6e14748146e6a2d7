/**
 * The workers' reports of their configuration, which the command line uses. They are stored in the memo of the action
 * of the Schedule that every cluster has, so that they can be read while no worker runs.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { defaultPayloadConverter } from '@temporalio/common';
import { type Client, isGrpcServiceError, ScheduleNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import { digestOf } from '../../domain/kernel/digest.ts';
import type { ReportedSetting, WrittenValue } from '../../domain/kernel/settings/setting.ts';
import { taskQueue } from '../../domain/kernel/target.ts';
import type { Log } from '../log/log.ts';

const MEMO = 'headroomWorkers';

/** The settings of one worker that affect decisions. */
export interface WorkerReport {
  /** The worker's identity in Temporal: `headroom-worker@<cluster>/<host>/<process id>`. */
  readonly worker: string;
  readonly release: string;
  /** When it started, RFC 3339. */
  readonly since: string;
  /** The controllers that have workers of their own and that this one is there for; null: it runs all. */
  readonly pairs: readonly string[] | null;
  /** By the setting's path. */
  readonly settings: ReadonlyMap<string, ReportedSetting>;
}

/** What is known of the workers of a cluster. */
export interface WorkerReports {
  /** The most recently started worker first. */
  readonly reports: readonly WorkerReport[];
  /** Workers that poll Temporal now. A running worker without a report is of an earlier release. */
  readonly running: readonly string[];
}

const settingForm = z.object({ text: z.string(), where: z.string(), layer: z.string() });
/** Equal settings of several workers are stored once, by their digest: a cluster may have dozens of workers. */
const memoForm = z.object({
  workers: z.record(
    z.string(),
    z.object({
      release: z.string(),
      since: z.iso.datetime(),
      settings: z.string(),
      pairs: z.array(z.string()).optional(),
    }),
  ),
  settings: z.record(z.string(), z.record(z.string(), settingForm)),
});
type Memo = z.infer<typeof memoForm>;

/** A waiting worker polls again every minute. */
const POLLED_WITHIN_MS = 2 * 60_000;
/** A worker that has just reported may not have polled yet. */
const YOUNG_MS = 10 * 60_000;
/** Concurrent updates of workers that start together fail and are repeated. */
const MOST_ATTEMPTS = 20;
const RETRY_MS = 200;
/** A gRPC status code. */
const FAILED_PRECONDITION: number = 9;
const CHECK_EVERY_MS = 10 * 60_000;

interface ReportTarget {
  readonly cluster: string;
  /** The Schedule that every cluster has. */
  readonly scheduleId: string;
}

/**
 * All reports of the cluster's workers, and which workers run.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export async function readWorkers(client: Client, { cluster, scheduleId }: ReportTarget): Promise<WorkerReports> {
  const [memo, running] = await Promise.all([readMemo(client, scheduleId), runningWorkers(client, cluster)]);
  const reports = Object.entries(memo.workers).map(
    ([worker, { release, since, settings, pairs = null }]): WorkerReport => {
      const named = Object.entries(memo.settings[settings] ?? {});
      return {
        worker,
        release,
        since,
        pairs,
        settings: new Map(named.map(([path, value]) => [path, { ...value, reportedBy: 'worker' }])),
      };
    },
  );
  return { reports: reports.toSorted((a, b) => Date.parse(b.since) - Date.parse(a.since)), running };
}

export interface OwnReport extends ReportTarget {
  readonly worker: string;
  readonly release: string;
  readonly pairs: WorkerReport['pairs'];
  /** By path; never a secret. */
  readonly settings: ReadonlyMap<string, WrittenValue>;
}

/**
 * Reports the configuration of this worker, and restores the report if it is lost: somebody may delete the Schedule, or
 * a program of an earlier release may overwrite it. Ends with the signal; never rejects, because a worker also works
 * without its report.
 */
export async function keepReported(
  client: Client,
  own: OwnReport,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const since = new Date().toISOString();
  while (!signal.aborted) {
    try {
      await ensureReported(client, own, since, signal);
    } catch (error) {
      if (signal.aborted) return;
      const reason = error instanceof Error ? error.message : String(error);
      log.warn({ reason }, 'The settings of this worker could not be reported. The command line may not know them.');
    }
    await sleep(CHECK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

async function ensureReported(client: Client, own: OwnReport, since: string, signal: AbortSignal): Promise<void> {
  const settings = Object.fromEntries([...own.settings].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  const digest = digestOf(JSON.stringify(settings), 12);
  const mine = {
    release: own.release,
    since,
    settings: digest,
    ...(own.pairs === null ? {} : { pairs: [...own.pairs] }),
  };
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
    const { raw, action } = await client.schedule.getHandle(own.scheduleId).describe();
    const memo = memoOf(action.memo);
    if (memo.workers[own.worker]?.since === since) return;
    const running = await runningWorkers(client, own.cluster);
    const workers = { ...stillOfUse(memo.workers, running), [own.worker]: mine };
    const used = new Set(Object.values(workers).map((worker) => worker.settings));
    const all = Object.entries({ ...memo.settings, [digest]: settings }).filter(([key]) => used.has(key));
    await update(client, own.scheduleId, raw, { workers, settings: Object.fromEntries(all) });
    // A conflicting update is dropped silently, so the result is checked in the next pass.
    await sleep(attempt === 0 ? 0 : RETRY_MS * Math.random(), undefined, { signal });
  }
  throw new Error(`other workers wrote the Schedule ${own.scheduleId} at the same moments`);
}

type RawSchedule = Awaited<ReturnType<ReturnType<Client['schedule']['getHandle']>['describe']>>['raw'];

/** Writes only the memo of the Schedule, and only if nobody has changed the Schedule since it was read. */
async function update(client: Client, scheduleId: string, raw: RawSchedule, memo: Memo): Promise<void> {
  const startWorkflow = raw.schedule?.action?.startWorkflow;
  const fields = { ...startWorkflow?.memo?.fields, [MEMO]: defaultPayloadConverter.toPayload(memo) };
  const schedule = { ...raw.schedule, action: { startWorkflow: { ...startWorkflow, memo: { fields } } } };
  const { namespace, identity } = client.options;
  const { conflictToken = null } = raw;
  try {
    await client.workflowService.updateSchedule({ namespace, identity, scheduleId, schedule, conflictToken });
  } catch (error) {
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    if (code !== FAILED_PRECONDITION) throw error;
  }
}

/** The reports of workers that run or may just have started. */
function stillOfUse(workers: Memo['workers'], running: readonly string[]): Memo['workers'] {
  const isOfUse = (worker: string, since: string): boolean =>
    running.includes(worker) || Date.now() - Date.parse(since) < YOUNG_MS;
  return Object.fromEntries(Object.entries(workers).filter(([worker, { since }]) => isOfUse(worker, since)));
}

async function readMemo(client: Client, scheduleId: string): Promise<Memo> {
  try {
    const { action } = await client.schedule.getHandle(scheduleId).describe();
    return memoOf(action.memo);
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return memoOf(undefined);
    throw error;
  }
}

/** A memo in an unknown format, of another release, counts as empty. */
function memoOf(memo: Readonly<Record<string, unknown>> | undefined): Memo {
  const read = memoForm.safeParse(memo?.[MEMO]);
  return read.success ? read.data : { workers: {}, settings: {} };
}

async function runningWorkers(client: Client, cluster: string): Promise<readonly string[]> {
  // Without a type the request is about workflow tasks.
  const { namespace } = client.options;
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace,
    taskQueue: { name: taskQueue(cluster) },
  });
  const since = Date.now() - POLLED_WITHIN_MS;
  const recent = (pollers ?? []).filter(({ lastAccessTime }) => Number(lastAccessTime?.seconds ?? 0) * 1000 > since);
  return [...new Set(recent.map(({ identity }) => identity ?? ''))];
}

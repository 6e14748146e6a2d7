/** Which settings a command answers by: those of the workers that run, as far as they are known. */
import type { Client } from '@temporalio/client';
import type { ReportedSetting } from '../../domain/kernel/settings/setting.ts';
import { clusterSchedule } from '../../domain/registry.ts';
import type { ConfigSources } from '../../platform/config/config.ts';
import { release } from '../../platform/process/release.ts';
import { type WorkerReports, readWorkers, type WorkerReport } from '../../platform/temporal/worker-reports.ts';
import { type Config, loadConfig, settingEntries } from '../config.ts';
import { TemporalUnreachable, withClient } from './connection.ts';
import { ANSWER_MS, innermost, isTemporalAnswer } from './shared.ts';

/** Whose settings an answer goes by. */
export interface SettingsSource {
  readonly from: 'running worker' | 'last worker' | 'command line';
  /** The worker whose they are; null for the command line's own. */
  readonly worker: { readonly name: string; readonly release: string; readonly since: string } | null;
  /** What whoever reads the answer should know of it, one sentence each. */
  readonly notes: readonly string[];
  /** What other workers that run do by other settings, one sentence for each kind of worker. */
  readonly differences: readonly string[];
}

/** The configuration that a command answers by. */
export interface SettingsInForce {
  readonly config: Config;
  readonly settings: SettingsSource;
}

/** What Temporal knows of the workers, or why it does not say. */
export type WorkersAnswer = { readonly reports: WorkerReports } | { readonly unknown: string };

/**
 * The workers' settings in place of the command line's own.
 *
 * @param sources what the configuration of the command was loaded from.
 */
export function settingsInForce(config: Config, sources: ConfigSources, answer: WorkersAnswer): SettingsInForce {
  const cluster = config.kubernetes.clusterName;
  const own = 'This answer goes by the settings of the command line.';
  const ofCommand = (...notes: readonly string[]): SettingsInForce => ({
    config,
    settings: { from: 'command line', worker: null, notes: [...notes, own], differences: [] },
  });
  if ('unknown' in answer) return ofCommand(`The settings of the workers are not known: ${answer.unknown}`);
  const { reports, running } = answer.reports;
  const silent = silentWorkers(answer.reports);
  const current = reports.filter(({ worker }) => running.includes(worker));
  const chosen = current[0] ?? reports[0];
  if (chosen === undefined) return ofCommand(`No worker of ${cluster} has reported its settings.`, ...silent);

  const { understood, strange } = readable(chosen);
  return {
    config: loadConfig({ ...sources, reported: understood }),
    settings: {
      from: current.length > 0 ? 'running worker' : 'last worker',
      worker: { name: chosen.worker, release: chosen.release, since: chosen.since },
      notes: [
        ...whose(chosen, { isRunning: current.length > 0, doesAnyRun: running.length > 0 }),
        ...silent,
        ...strange,
      ],
      differences: differences(chosen, current),
    },
  };
}

/** Asks Temporal for the workers of the cluster; that it cannot be asked is an answer as well. */
export async function askWorkers(config: Config): Promise<WorkersAnswer> {
  try {
    return await withClient(config, async (client) => await workersOf(client, config));
  } catch (error) {
    return unanswered(error);
  }
}

/** The same with a connection that is there already. */
export async function workersOf(client: Client, config: Config): Promise<WorkersAnswer> {
  const { cluster, id } = clusterSchedule(config);
  try {
    const read = async (): Promise<WorkerReports> => await readWorkers(client, { cluster, scheduleId: id });
    return { reports: await client.withDeadline(Date.now() + ANSWER_MS, read) };
  } catch (error) {
    return unanswered(error);
  }
}

/** @throws the error where it is none of Temporal's. */
function unanswered(error: unknown): WorkersAnswer {
  if (error instanceof TemporalUnreachable) return { unknown: error.message };
  if (isTemporalAnswer(error)) return { unknown: `Temporal did not answer: ${innermost(error)}.` };
  throw error;
}

function whose(
  { worker, since, release: itsRelease }: WorkerReport,
  { isRunning, doesAnyRun }: { readonly isRunning: boolean; readonly doesAnyRun: boolean },
): readonly string[] {
  const others =
    itsRelease === release ? [] : [`The worker is of release ${itsRelease}, and this command of release ${release}.`];
  if (isRunning) return [`The settings are those of the worker ${worker}, which has run since ${since}.`, ...others];
  const last = `The settings are those of the worker ${worker}, which was the last one to report, at ${since}.`;
  return [...(doesAnyRun ? [] : ['No worker runs now.']), last, ...others];
}

/** Workers that run and whose settings nobody knows. */
function silentWorkers({ reports, running }: WorkerReports): readonly string[] {
  return running
    .filter((worker) => reports.every((report) => report.worker !== worker))
    .map(
      (worker) =>
        `The worker ${worker} runs and has not reported its settings. It has just started, or it is of an earlier release.`,
    );
}

function differences(chosen: WorkerReport, current: readonly WorkerReport[]): readonly string[] {
  const others = Map.groupBy(
    current.flatMap((other) => {
      const paths = new Set([...chosen.settings.keys(), ...other.settings.keys()]);
      const differing = [...paths].filter((path) => chosen.settings.get(path)?.text !== other.settings.get(path)?.text);
      const words = differing.map((path) => `${path} is ${shown(other, path)} there and ${shown(chosen, path)} here`);
      return differing.length === 0 ? [] : [{ worker: other.worker, words: words.join(', ') }];
    }),
    ({ words }) => words,
  );
  return [...others].map(([words, workers]) => {
    const names = workers.map(({ worker }) => worker).join(', ');
    const who = workers.length === 1 ? `The worker ${names} runs` : `The workers ${names} run`;
    return `${who} with other settings: ${words}. Either kind of worker may decide about the next step; one that has ended is named for two minutes.`;
  });
}

function shown({ settings }: WorkerReport, path: string): string {
  const setting = settings.get(path);
  return setting === undefined ? 'not set' : `"${setting.text}"`;
}

/** The settings that this release understands, and a sentence for each that it does not. */
function readable({ settings, release: itsRelease }: WorkerReport): {
  readonly understood: ReadonlyMap<string, ReportedSetting>;
  readonly strange: readonly string[];
} {
  const understood = new Map<string, ReportedSetting>();
  const strange: string[] = [];
  const reports = new Map(settingEntries.map(({ path, setting }) => [path, setting]));
  for (const [path, reported] of settings) {
    const setting = reports.get(path);
    if (setting === undefined) {
      strange.push(`The worker has a setting ${path}, which this command does not know. It is left out.`);
    } else if (setting.type.safeParse(reported.text).success) {
      understood.set(path, reported);
    } else {
      const value = `The worker's value "${reported.text}" of ${path} is not understood by this command`;
      strange.push(`${value}, because the worker is of release ${itsRelease}. This answer goes by the default.`);
    }
  }
  return { understood, strange };
}

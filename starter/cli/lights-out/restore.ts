/** `headroom lights-out restore`: wakes what sleeps with nothing but a kubeconfig; neither Temporal nor a worker is asked. */
import {
  findAsleep,
  forgetWoken,
  type Restored,
  type RestoreOptions,
  type Sleeper,
  wakeAll,
} from '../../../activities/lights-out/restore.ts';
import { oneLine } from '../../../domain/kernel/sentence.ts';
import { counted } from '../../../domain/lights-out/decide/sentences.ts';
import { workloadName } from '../../../domain/lights-out/workload/workload.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { type Cluster, readingFailure, withCluster } from '../cluster.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';

export interface RestoreQuestion {
  /** Null: all of them. */
  readonly schedule: string | null;
  /** False: only says what would be woken. */
  readonly isConfirmed: boolean;
}

const RIGHTS =
  'headroom lights-out restore acts with your own rights, and needs to list and patch deployments, statefulsets, cronjobs, rollouts, horizontalpodautoscalers, scaledobjects and scaledjobs in all namespaces; for what sleeps by the number of its owner, to get the definition of that kind, list it and patch its /scale.';

/** @throws {CommandFailed} where the cluster cannot be read, or does not answer any more. */
export async function restore(loaded: LoadedConfig, question: RestoreQuestion, tools: CommandTools): Promise<void> {
  await withCluster(loaded, async ({ kubernetes, name }) => {
    const options = { kubernetes, systemNamespace: loaded.config.kubernetes.systemNamespace, now: Date.now() };
    const sleepers = await found(options, question.schedule, tools);
    if (question.isConfirmed && sleepers.length > 0) await wakeThem(options, sleepers, tools);
    else showSleepers(name, sleepers, question, tools);
  });
}

async function found(
  options: RestoreOptions,
  schedule: string | null,
  { output }: CommandTools,
): Promise<readonly Sleeper[]> {
  try {
    const { sleepers, withoutMemory } = await findAsleep(options, schedule);
    if (withoutMemory !== null) {
      const { systemNamespace } = options;
      output.note(
        `The memory in the namespace ${systemNamespace} cannot be read, so only what still has its marks is found: ${sentenceOf(withoutMemory)}`,
      );
    }
    return sleepers;
  } catch (error) {
    throw readingFailure(error, RIGHTS);
  }
}

function sentenceOf(error: unknown): string {
  const failure = readingFailure(error, 'It needs list of configmaps there.');
  return oneLine(failure instanceof Error ? failure.message : String(failure));
}

function showSleepers(
  cluster: Cluster['name'],
  sleepers: readonly Sleeper[],
  { schedule }: RestoreQuestion,
  { output, shared }: CommandTools,
): void {
  if (shared().output === 'json') {
    output.json(sleepers.map((sleeper) => ({ ...rowOf(sleeper), result: 'asleep' })));
    return;
  }
  if (sleepers.length === 0) {
    const whose = schedule === null ? 'any schedule' : `the schedule ${schedule}`;
    output.line(`Nothing in ${cluster} is asleep because of ${whose}.`);
    return;
  }
  for (const sleeper of sleepers) output.line(lineOf(sleeper));
  output.line(`${counted(sleepers.length, 'workload')} would be woken. Nothing was changed: add --yes to wake them.`);
}

async function wakeThem(
  options: RestoreOptions,
  sleepers: readonly Sleeper[],
  { output, shared }: CommandTools,
): Promise<void> {
  let results: readonly Restored[];
  try {
    results = await wakeAll(options, sleepers);
  } catch (error) {
    throw readingFailure(error, RIGHTS);
  }
  const failed = results.filter(({ failure }) => failure !== null);
  if (shared().output === 'json') {
    output.json(
      results.map(({ sleeper, failure }) => ({
        ...rowOf(sleeper),
        ...(failure === null ? { result: 'awake' } : { result: 'failed', failure }),
      })),
    );
  } else {
    for (const { sleeper, failure } of results) {
      output.line(failure === null ? lineOf(sleeper) : `${lineOf(sleeper)}: FAILED: ${failure}`);
    }
    output.line(
      `${counted(results.length - failed.length, 'workload')} woken${failed.length === 0 ? '' : `, ${failed.length} failed`}.`,
    );
    output.line(
      'A schedule that is followed leaves them up until its next morning, and puts them to sleep after that.',
    );
  }
  if (failed.length > 0) output.endWith(exitCodes.failed);
  try {
    await forgetWoken(options, results);
  } catch (error) {
    output.note(`They are awake, but still in Headroom's memory, which does no harm: ${sentenceOf(error)}`);
  }
}

function rowOf({ schedule, item, isRecalled }: Sleeper): object {
  const { kind, namespace, name } = item.workload;
  const by = item.owner === undefined ? {} : { owner: item.owner };
  return {
    schedule,
    kind,
    namespace,
    name,
    ...by,
    from: item.from,
    to: item.to,
    source: isRecalled ? 'memory' : 'marks',
  };
}

/** `Deployment team-a/web: 0 -> 3 (nights)`. */
function lineOf({ schedule, item, isRecalled }: Sleeper): string {
  const { from, to, owner } = item;
  const what =
    from === null ? 'resumed' : from === to ? 'stays at its replicas, only its marks go' : `${from} -> ${to}`;
  const by = owner === undefined ? '' : `, by ${owner}`;
  return `${workloadName(item.workload)}: ${what}${by} (${schedule}${isRecalled ? ', from the memory' : ''})`;
}

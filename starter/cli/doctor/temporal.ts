/** Temporal: whether it answers, and has what Headroom needs there. */
import { type Client, isGrpcServiceError } from '@temporalio/client';
import { controllerNames } from '../../../domain/kernel/controllers.ts';
import { activityTaskQueue, taskQueue } from '../../../domain/kernel/target.ts';
import { release } from '../../../platform/process/release.ts';
import { searchAttributeProblem } from '../../../platform/temporal/search-attributes.ts';
import type { Config } from '../../config.ts';
import { controllers } from '../../registry.ts';
import { TemporalUnreachable, withClient } from '../connection.ts';
import { settingsInForce, type WorkersAnswer, workersOf } from '../settings-in-force.ts';
import type { LoadedConfig } from '../controller.ts';
import type { Findings } from './finding.ts';

/** A gRPC status code. */
const NOT_FOUND = 5;
/** `TASK_QUEUE_TYPE_ACTIVITY` of Temporal's API. */
const ACTIVITY = 2;

/** What the workers say of themselves. */
export interface OfWorkers {
  /** The configuration that they have reported, or the own one. */
  readonly config: Config;
  /** Whether each controller has a worker of its own, by the last worker that reported. */
  readonly areApart: boolean;
}

export async function lookAtTemporal({ config, sources }: LoadedConfig, findings: Findings): Promise<OfWorkers> {
  const unknown = { config, areApart: false };
  try {
    return await withClient(config, async (client) => {
      findings.ok(`Temporal answers at ${config.temporal.address}.`);
      if (!(await hasNamespace(client, findings))) return unknown;
      const problem = await searchAttributeProblem(client, config.temporal);
      if (problem === null) findings.ok('The search attributes are registered.');
      else findings.wrong(problem.what, problem.mend);
      const answer = await workersOf(client, config);
      const inForce = settingsInForce(config, sources, answer).config;
      lookAtWorkers(config, answer, findings);
      await lookAtQueues(client, inForce, findings);
      const [last] = 'unknown' in answer ? [] : answer.reports.reports;
      const areApart = last !== undefined && last.pairs !== null;
      if (areApart && inForce.lightsOut.enabled && inForce.nodeGroups.enabled) {
        findings.warning(
          'LightsOut and node groups run in processes of their own, so nodes do not come before a schedule wakes its workloads (spec.prewarm), but when their pods wait.',
          'Where that is too late, set processes: together in the values of the chart.',
        );
      }
      return { config: inForce, areApart };
    });
  } catch (error) {
    if (!(error instanceof TemporalUnreachable)) throw error;
    findings.wrong(error.message, 'See whether the address, its certificate and the API key are right.');
    return unknown;
  }
}

async function hasNamespace(client: Client, findings: Findings): Promise<boolean> {
  const { namespace } = client.options;
  try {
    await client.workflowService.describeNamespace({ namespace });
    findings.ok(`The Temporal namespace ${namespace} exists.`);
    return true;
  } catch (error) {
    const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
    if (code !== NOT_FOUND) throw error;
    findings.wrong(
      `There is no Temporal namespace ${namespace}.`,
      `temporal operator namespace create --namespace ${namespace}; on Temporal Cloud: tcld namespace create`,
    );
    return false;
  }
}

function lookAtWorkers({ kubernetes: { clusterName } }: Config, answer: WorkersAnswer, findings: Findings): void {
  if ('unknown' in answer) {
    findings.unknown(`Which workers run is not known: ${answer.unknown}`, 'Mend that, and ask again.');
    return;
  }
  const { running, reports } = answer.reports;
  if (running.length === 0) {
    findings.wrong(
      `No worker polls ${taskQueue(clusterName)}.`,
      'Start one, and see that it has the same CLUSTER_NAME, Temporal address and namespace as this command.',
    );
    return;
  }
  const releases = Map.groupBy(running, (name) => reports.find(({ worker }) => worker === name)?.release ?? 'unknown');
  const words = [...releases].map(([itsRelease, { length }]) => `${length} of release ${itsRelease}`).join(', ');
  findings.ok(`Workers that poll ${taskQueue(clusterName)}: ${words}. This command is of release ${release}.`);
}

/** Each controller that is on has a queue of its own: a worker in which it is off leaves its activities waiting. */
async function lookAtQueues(client: Client, config: Config, findings: Findings): Promise<void> {
  const { namespace } = client.options;
  const name = taskQueue(config.kubernetes.clusterName);
  for (const controller of controllerNames) {
    if (!controllers[controller].isEnabled(config)) continue;
    const queue = activityTaskQueue(name, controller);
    const { pollers } = await client.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: queue },
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum's package is not ours
      taskQueueType: ACTIVITY,
    });
    if ((pollers ?? []).length > 0) continue;
    findings.wrong(
      `${controller} is on, and no worker polls ${queue}.`,
      `Switch ${controller} on in the worker as well, or off in the starter, and see that a worker runs.`,
    );
  }
}

/** Worker Versioning: workflows run on the release that somebody has made the current one of a worker deployment. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import type { Log } from '../log/log.ts';
import { currentVersionCommand } from './administrator-commands.ts';
import type { TemporalTarget, WorkerDeployment } from './temporal-target.ts';

const LOOK_EVERY_MS = 10_000;

/**
 * The options of a worker that takes part. Workflows move on to the next current version, as all of them do without versioning:
 * their code replays the histories of every release.
 */
export function versioned(deployment: WorkerDeployment | null): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (deployment === null) return {};
  const { name: deploymentName, buildId } = deployment;
  const version = { deploymentName, buildId };
  return {
    workerDeploymentOptions: { useWorkerVersioning: true, version, defaultVersioningBehavior: 'AUTO_UPGRADE' },
  };
}

/**
 * Says in the log, until the process stops, whether this version is given workflows, and the command where it is not: Temporal
 * waits for it in silence. Never rejects.
 */
export async function watchDeployment(
  client: Client,
  target: TemporalTarget,
  { log, signal }: { readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const { deployment } = target;
  if (deployment === null) return;
  let said = '';
  while (!signal.aborted) {
    const current = await routedTo(client, deployment);
    const isCurrent = current?.includes(deployment.buildId) === true;
    const now = current === undefined ? said : current.join(' and ');
    if (now !== said && isCurrent) {
      log.info(deployment, `${deployment.buildId} is a current version of the worker deployment ${deployment.name}`);
    } else if (now !== said) {
      log.warn(
        { ...deployment, current: now },
        `${deployment.buildId} is given no workflows, because the worker deployment ${deployment.name} has ${now} as its current version. ` +
          `When this release is to take over: ${currentVersionCommand(target, deployment)}`,
      );
    }
    said = now;
    await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** The build ids that workflows run on; undefined while the deployment is not known, or Temporal not there. */
async function routedTo(client: Client, { name }: WorkerDeployment): Promise<readonly string[] | undefined> {
  try {
    const { namespace } = client.options;
    const { workerDeploymentInfo } = await client.workflowService.describeWorkerDeployment({
      namespace,
      deploymentName: name,
    });
    const { currentDeploymentVersion, rampingDeploymentVersion } = workerDeploymentInfo?.routingConfig ?? {};
    const ids = [currentDeploymentVersion?.buildId, rampingDeploymentVersion?.buildId];
    const known = ids.filter((id) => typeof id === 'string' && id !== '');
    return known.length === 0 ? ['no version'] : (known as string[]);
  } catch {
    // Before its first worker polls there is no deployment, and that Temporal is away is said elsewhere.
    return undefined;
  }
}

/** Looks at a quota, its cluster and its episode, and explains what would happen to it. */
import { hostOfRepositories, parseRepositoryUrl } from '../../../../activities/forge/github/repository-url.ts';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Kubernetes } from '../../../../activities/kubernetes/kubernetes.ts';
import { kubernetesFailure, orNull } from '../../../../activities/kubernetes/failure.ts';
import { listAll } from '../../../../activities/kubernetes/list.ts';
import { createQuotaResizeKubernetesActivities } from '../../../../activities/quota-resize/kubernetes-activities.ts';
import {
  type CandidateOptions,
  candidateOptions,
} from '../../../../activities/quota-resize/source/source-candidates.ts';
import { noPullRequestEnds } from '../../../../activities/quota-resize/lease/ends.ts';
import type { QuotaTarget } from '../../../../domain/kernel/target.ts';
import { quotaResizeId } from '../../../../domain/quota-resize/target.ts';
import type { Config } from '../../../config.ts';
import { policyDefaults } from '../../../../domain/quota-resize/settings.ts';
import { type ResizeStatus, status } from '../../../../workflows/quota-resize/messages.ts';
import { withCluster } from '../../cluster.ts';
import type { LoadedConfig } from '../../controller.ts';
import { settingsInForce, workersOf, type WorkersAnswer } from '../../settings-in-force.ts';
import { TemporalUnreachable, withClient } from '../../connection.ts';
import type { QuotaArgument } from '../../quota-target.ts';
import { ANSWER_MS, CommandFailed, innermost, isTemporalAnswer, isUnanswered } from '../../shared.ts';
import { counting, type CountingCluster } from '../../quota-usage/cluster.ts';
import { warningsLog } from '../../warnings-log.ts';
import { countNamespace, observationWithCounts } from './counted.ts';
import { explain, type Explanation } from './facts.ts';
import { withReplicas } from './hypothetical-cluster.ts';
import { nothingElse, type WhatIf, withUsage } from './what-if.ts';

/**
 * The explanation of one quota of the cluster that the configuration names.
 *
 * @throws {CommandFailed} where there is no such cluster, namespace, quota or workload, or it may not be read.
 */
export async function explainQuota(
  { config: ofCommand, sources }: LoadedConfig,
  { namespace, quota }: QuotaArgument,
  whatIf: WhatIf,
): Promise<Explanation> {
  const target: QuotaTarget = { cluster: ofCommand.kubernetes.clusterName, namespace, quota };
  const { workers, ...episode } = await askTemporal(ofCommand, target);
  const { config, settings } = settingsInForce(ofCommand, sources, workers);
  const now = Date.now();
  const troubles: string[] = [];
  const { observation, replicas } = await withCluster(
    { config, sources },
    async (cluster) => await observe(config, counting(cluster), target, whatIf, troubles, now),
  );
  return explain({
    target,
    observation,
    whatIf: whatIf === nothingElse ? null : { used: whatIf.used, replicas },
    ...episode,
    provenance: config,
    settings,
    troubles,
    now,
  });
}

/** The same observation as an episode makes, of the cluster as it is or as assumed. */
async function observe(
  config: Config,
  cluster: CountingCluster,
  target: QuotaTarget,
  whatIf: WhatIf,
  troubles: string[],
  now: number,
) {
  try {
    await checkTarget(cluster.kubernetes, target);
    const supposed = await withReplicas(cluster.kubernetes, target, whatIf.replicas, now);
    const activities = createQuotaResizeKubernetesActivities({
      kubernetes: supposed.kubernetes,
      systemNamespace: config.kubernetes.systemNamespace,
      policyDefaults: policyDefaults(config),
      timings: config.timings,
      usage: config.quotaUsage.mode,
      candidates: candidateOptions(config, {
        kubernetes: supposed.kubernetes,
        repositories: repositoriesOf(config),
      }),
      pauses: null,
      abandonedHolder: null,
      ends: noPullRequestEnds,
      log: warningsLog(troubles),
    });
    // Counted before the demand is read, as an episode does it.
    const counts = config.quotaUsage.mode === 'off' ? null : await countNamespace(cluster, supposed, target);
    const read = await activities.observeQuota({ target });
    const observation = counts === null ? read : observationWithCounts(read, counts, troubles);
    return { observation: withUsage(observation, whatIf.used), replicas: supposed.scaled };
  } catch (error) {
    const failure = kubernetesFailure(error);
    if (failure instanceof ApplicationFailure) throw new CommandFailed(failure.message);
    throw error;
  }
}

/** The list of what may be changed; GitHub itself is not asked. */
function repositoriesOf({ gitOps }: Config): CandidateOptions['repositories'] {
  const names = gitOps.repositories.map(({ owner, repo }) => `${owner}/${repo}`);
  const nameOf = (repository: string): string | null =>
    names.find((name) => name.toLowerCase() === repository.toLowerCase()) ?? null;
  return { host: hostOfRepositories(gitOps.apiUrl), addressOf: parseRepositoryUrl, names, nameOf };
}

/** @throws {CommandFailed} when the namespace or the quota does not exist, with those that do. */
async function checkTarget({ core }: Kubernetes, { namespace, quota, cluster }: QuotaTarget): Promise<void> {
  if ((await orNull(core.readNamespace({ name: namespace }))) === null) {
    throw new CommandFailed(`there is no namespace "${namespace}" in ${cluster}`);
  }
  const quotas = await listAll((range) => core.listNamespacedResourceQuota({ namespace, ...range }));
  const names = quotas.map(({ metadata }) => metadata?.name ?? '').toSorted();
  if (names.includes(quota)) return;
  throw new CommandFailed(
    `there is no ResourceQuota "${quota}" in ${namespace}: ${names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`}`,
  );
}

interface EpisodeAnswer {
  readonly status: ResizeStatus | null;
  readonly episodeUnknown: string | null;
}

interface TemporalAnswer extends EpisodeAnswer {
  readonly workers: WorkersAnswer;
}

/** What the workers reported, and what a running episode says of itself. Without Temporal the explanation goes on. */
async function askTemporal(config: Config, target: QuotaTarget): Promise<TemporalAnswer> {
  try {
    return await withClient(config, async (client) => {
      const [workers, episode] = await Promise.all([workersOf(client, config), askEpisode(client, target)]);
      return { workers, ...episode };
    });
  } catch (error) {
    if (!(error instanceof TemporalUnreachable)) throw error;
    return { workers: { unknown: error.message }, ...episodeUnknown(error.message) };
  }
}

async function askEpisode(client: Client, target: QuotaTarget): Promise<EpisodeAnswer> {
  try {
    return { status: await running(client, target), episodeUnknown: null };
  } catch (error) {
    if (isUnanswered(error))
      return episodeUnknown(`no worker of ${target.cluster} answered within ${ANSWER_MS / 1000} s`);
    if (isTemporalAnswer(error)) return episodeUnknown(`Temporal did not answer: ${innermost(error)}`);
    throw error;
  }
}

function episodeUnknown(reason: string): EpisodeAnswer {
  return { status: null, episodeUnknown: `${reason} (what an episode remembers is taken from the Lease alone)` };
}

/** The status of the running episode; null when none runs. A query would also answer for one that has ended. */
async function running(client: Client, target: QuotaTarget): Promise<ResizeStatus | null> {
  const handle = client.workflow.getHandle(quotaResizeId(target));
  try {
    return await client.withDeadline(Date.now() + ANSWER_MS, async () => {
      const { status: execution } = await handle.describe();
      return execution.name === 'RUNNING' ? await handle.query(status) : null;
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** The cluster that a command writes to: whether it is the one that is meant, and where Headroom keeps its objects there. */
import { clusterSchedule } from '../../domain/registry.ts';
import { recordedClusterUid } from '../../platform/temporal/cluster-name.ts';
import type { Config } from '../config.ts';
import { readingFailure, withCluster } from './cluster.ts';
import { TemporalUnreachable, withClient } from './connection.ts';
import type { LoadedConfig } from './controller.ts';
import { settingsInForce, type WorkersAnswer, workersOf } from './settings-in-force.ts';
import { ANSWER_MS, CommandFailed, innermost, isTemporalAnswer } from './shared.ts';

const SYSTEM_NAMESPACE = 'kubernetes.systemNamespace';

interface ConfirmedCluster {
  /** With the namespace that the workers look into. */
  readonly loaded: LoadedConfig;
  /** Things that could not be verified, a sentence each. */
  readonly notes: readonly string[];
}

/**
 * The configuration with which a command uses the same objects as the cluster's workers, whatever its environment says.
 * Temporal knows the workers and the cluster; without Temporal the command uses its own settings and says so.
 *
 * @throws {CommandFailed} when the kubeconfig leads to another cluster than the one with the name.
 */
export async function confirmedCluster({ config, sources }: LoadedConfig): Promise<ConfirmedCluster> {
  const { workers, recordedUid } = await askTemporal(config);
  const { clusterName } = config.kubernetes;
  if (recordedUid !== null) {
    const uid = await ownUid({ config, sources });
    if (uid !== recordedUid) {
      throw new CommandFailed(
        `The kubeconfig leads to another cluster than ${clusterName}: the UID of its namespace kube-system is ${uid}, and ${clusterName} is recorded with ${recordedUid}. ` +
          'Nothing was changed. Choose the right cluster with --context, --kubeconfig or --cluster-name',
      );
    }
  }
  const { config: inForce, settings } = settingsInForce(config, sources, workers);
  const { systemNamespace } = inForce.kubernetes;
  const isUnconfirmed = settings.from === 'command line';
  const others = settings.differences.filter((difference) => difference.includes(SYSTEM_NAMESPACE));
  return {
    loaded: { config: { ...config, kubernetes: { ...config.kubernetes, systemNamespace } }, sources },
    notes: isUnconfirmed
      ? [
          ...settings.notes.slice(0, -1),
          `Pauses are looked for in the namespace ${systemNamespace}, as the settings of the command line say.`,
        ]
      : others,
  };
}

interface TemporalAnswer {
  readonly workers: WorkersAnswer;
  /** Null where the name is not recorded yet, or Temporal does not say. */
  readonly recordedUid: string | null;
}

async function askTemporal(config: Config): Promise<TemporalAnswer> {
  try {
    return await withClient(config, async (client) => {
      const scheduleId = clusterSchedule(config).id;
      const [workers, recordedUid] = await Promise.all([
        workersOf(client, config),
        client.withDeadline(Date.now() + ANSWER_MS, async () => await recordedClusterUid(client, scheduleId)),
      ]);
      return { workers, recordedUid };
    });
  } catch (error) {
    if (error instanceof TemporalUnreachable) return { workers: { unknown: error.message }, recordedUid: null };
    if (!isTemporalAnswer(error)) throw error;
    return { workers: { unknown: `Temporal did not answer: ${innermost(error)}.` }, recordedUid: null };
  }
}

async function ownUid(loaded: LoadedConfig): Promise<string | undefined> {
  return await withCluster(loaded, async ({ kubernetes: { core }, name }) => {
    try {
      const { metadata } = await core.readNamespace({ name: 'kube-system' });
      return metadata?.uid;
    } catch (error) {
      const right = 'get of the namespace kube-system, with your own rights';
      throw readingFailure(error, `To make sure that this is ${name}, headroom needs ${right}.`);
    }
  });
}

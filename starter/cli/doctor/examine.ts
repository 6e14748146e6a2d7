/** Looks at everything that Headroom needs, with the rights of whoever asks; it changes nothing. */
import { AuthenticationV1Api } from '@kubernetes/client-node';
import { connectKubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import { type PairedProcess, pairNames, processName } from '../../../domain/kernel/controllers.ts';
import { clusterSchedule } from '../../../domain/registry.ts';
import {
  type ClosableKubeConfig,
  KubernetesAccessError,
  loadKubeConfig,
} from '../../../platform/kubernetes/kubernetes-access.ts';
import { recordedClusterUid } from '../../../platform/temporal/cluster-name.ts';
import { needsPart } from './chart-parts.ts';
import type { Config } from '../../config.ts';
import { TemporalUnreachable, withClient } from '../connection.ts';
import type { LoadedConfig } from '../controller.ts';
import { lookAtGitHubClock, lookAtKubernetesClock, lookAtTemporalClock } from './clocks.ts';
import type { Account, DoctorContext, NamedAccounts } from './context.ts';
import { lookAtDefinitions } from './definitions.ts';
import { type CheckName, type Finding, type Findings, findingsOf } from './finding.ts';
import { lookAtGitHub } from './github.ts';
import { lookAtOthers } from './other-controllers.ts';
import { lookAtPolicies } from './policies.ts';
import { lookAtRights } from './rights.ts';
import { lookAtTemporal, type OfWorkers } from './temporal.ts';

type Look = (context: DoctorContext, findings: Findings) => Promise<void>;

/** The checks of the cluster, in their order. */
const ofCluster: readonly (readonly [CheckName, Look])[] = [
  ['rights', lookAtRights],
  ['definitions', lookAtDefinitions],
  ['policies', lookAtPolicies],
  ['other controllers', lookAtOthers],
  ['clocks', async ({ kubeConfig }, findings) => await lookAtKubernetesClock(kubeConfig, findings)],
];

/** @param accounts as the API server calls them, where they are others than those of the chart. */
export async function examine(loaded: LoadedConfig, accounts: NamedAccounts): Promise<readonly Finding[]> {
  let ofWorkers: OfWorkers = { config: loaded.config, areApart: false };
  let context: DoctorContext | null = null;
  let gitHub: string | null = null;
  const all: Finding[] = [];
  const look = async (check: CheckName, run: (findings: Findings) => Promise<void>): Promise<void> => {
    all.push(...(await findingsOf(check, run)));
  };
  await look('temporal', async (findings) => {
    ofWorkers = await lookAtTemporal(loaded, findings);
  });
  const kubeConfig = openKubeConfig(loaded, all);
  try {
    if (kubeConfig !== null) {
      await look('cluster', async (findings) => {
        context = await connected({ loaded, ...ofWorkers, kubeConfig, accounts }, findings);
      });
    }
    for (const [check, run] of ofCluster) {
      await look(check, async (findings) => (context === null ? undefined : await run(context, findings)));
    }
    await look('github', async (findings) => {
      gitHub = await lookAtGitHub(loaded, ofWorkers.config, findings);
    });
    await look('clocks', async (findings) => (gitHub === null ? undefined : await lookAtGitHubClock(gitHub, findings)));
    await look('clocks', async (findings) => {
      await ifThere(ofWorkers.config, async (client) => await lookAtTemporalClock(client, findings));
    });
    return all;
  } finally {
    await kubeConfig?.close();
  }
}

function openKubeConfig({ config, sources }: LoadedConfig, all: Finding[]): ClosableKubeConfig | null {
  try {
    const requestTimeoutMs = config.timings.requestTimeout;
    return loadKubeConfig({ ...config.kubernetes, requestTimeoutMs }, sources.env);
  } catch (error) {
    if (!(error instanceof KubernetesAccessError)) throw error;
    const mend = 'Set KUBECONFIG or --kubeconfig, and --context.';
    all.push({ check: 'cluster', status: 'wrong', what: error.message, mend });
    return null;
  }
}

/** What the checks of the cluster go by. */
async function connected(
  given: {
    readonly loaded: LoadedConfig;
    readonly kubeConfig: ClosableKubeConfig;
    readonly accounts: NamedAccounts;
  } & OfWorkers,
  findings: Findings,
): Promise<DoctorContext> {
  const { loaded, config, kubeConfig } = given;
  const { status } = await kubeConfig.makeApiClient(AuthenticationV1Api).createSelfSubjectReview({ body: {} });
  const self = status?.userInfo?.username ?? '';
  findings.ok(`The API server answers at ${kubeConfig.getCurrentCluster()?.server}, and takes you for ${self}.`);
  const kubernetes = connectKubernetes(kubeConfig);
  const { metadata } = await kubernetes.core.readNamespace({ name: 'kube-system' });
  await ifThere(config, async (client) => {
    const recorded = await recordedClusterUid(client, clusterSchedule(config).id);
    if (recorded === null || recorded === metadata?.uid) return;
    findings.wrong(
      `Temporal knows another cluster as ${config.kubernetes.clusterName}: its kube-system has the UID ${recorded}, and this one has ${metadata?.uid}.`,
      'Choose the right --context, or the right CLUSTER_NAME.',
    );
  });
  return {
    config,
    kubeConfig,
    kubernetes,
    self,
    accounts: (['worker', 'starter'] as const).flatMap((process) => accountsOf(process, given)),
    as: (user) => asUser(loaded, user),
  };
}

/** Those that the chart has; where they are others, the end of their names is the same. */
function accountsOf(
  process: PairedProcess,
  { config, areApart, accounts }: OfWorkers & { readonly accounts: NamedAccounts },
): readonly Account[] {
  const ofAll = processName(process, null);
  const named = accounts[process] ?? `system:serviceaccount:${config.kubernetes.systemNamespace}:${ofAll}`;
  const pairs = areApart ? pairNames.filter((pair) => needsPart(pair, config)) : [null];
  return pairs.map((pair) => ({ process, pair, user: `${named}${processName(process, pair).slice(ofAll.length)}` }));
}

function asUser({ config, sources }: LoadedConfig, user: string): ClosableKubeConfig {
  const requestTimeoutMs = config.timings.requestTimeout;
  const kubeConfig = loadKubeConfig({ ...config.kubernetes, requestTimeoutMs }, sources.env);
  kubeConfig.users = kubeConfig.users.map((own) => ({ ...own, impersonateUser: user }));
  return kubeConfig;
}

/** That Temporal does not answer was found already. */
async function ifThere(config: Config, run: Parameters<typeof withClient<void>>[1]): Promise<void> {
  try {
    await withClient(config, run);
  } catch (error) {
    if (!(error instanceof TemporalUnreachable)) throw error;
  }
}

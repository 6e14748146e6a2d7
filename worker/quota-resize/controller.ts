import { connectKubernetes, type Kubernetes } from '../../activities/kubernetes/kubernetes.ts';
import type { Forge } from '../../activities/forge/forge.ts';
import type { GitHubCredentials } from '../../activities/forge/github/credentials.ts';
import type { WritePermits } from '../../activities/forge/write-permits.ts';
import { connectRepositories } from '../../activities/forge/github/repositories.ts';
import { noRepositories } from '../../activities/forge/repositories.ts';
import { createGitHubPermits } from '../../activities/forge/github/budget-permits.ts';
import { createQuotaPauseGuard } from '../../activities/kernel/pause.ts';
import { createDeliveryReader, type DeliveredRepositories } from '../../activities/quota-resize/source/deliveries.ts';
import { APPROVAL_POLICY, approvalTrial } from '../../activities/quota-resize/lease/approval-policy.ts';
import { candidateOptions } from '../../activities/quota-resize/source/source-candidates.ts';
import type { OrphanActivities, QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { createQuotaResizeForgeActivities } from '../../activities/quota-resize/forge-activities.ts';
import { createMergeGate } from '../../activities/quota-resize/pull-request/merge-gate.ts';
import { createFileLocks } from '../../activities/quota-resize/lease/file-lock.ts';
import { LeaseStore } from '../../activities/quota-resize/lease/lease.ts';
import { createGuardrailReader, createPolicyGuard } from '../../activities/quota-resize/pull-request/policy-guard.ts';
import { createPullRequestEnds } from '../../activities/quota-resize/pull-request/pull-request-ends.ts';
import { createRecordedPullRequests } from '../../activities/quota-resize/lease/open-pull-requests.ts';
import { createQuotaResizeKubernetesActivities } from '../../activities/quota-resize/kubernetes-activities.ts';
import { pullRequestTexts } from '../../domain/quota-resize/pull-request/pull-request-texts.ts';
import type { Config } from '../config.ts';
import { policyDefaults } from '../../domain/quota-resize/settings.ts';
import { createEpisodeLookup, createEpisodeRequester } from './episodes.ts';
import { createGitHubCredentials } from '../../activities/quota-resize/github-credentials.ts';
import type { ControllerContext, WorkerController } from '../controller.ts';
import { quotaResizeAccess } from './access.ts';

export const quotaResizeController: WorkerController = {
  workflowTypes: ['quotaResize', 'orphanSearch'],
  access: quotaResizeAccess,
  policies: [
    {
      name: APPROVAL_POLICY,
      trial: approvalTrial,
      without: 'An approval that is kept in a Lease is not believed.',
    },
  ],
  isEnabled: () => true,
  createActivities,
};

function createActivities(context: ControllerContext): QuotaResizeActivities & OrphanActivities {
  const { config, kubeConfig, temporal, pauses, log } = context;
  const kubernetes = connectKubernetes(kubeConfig);
  const { systemNamespace } = config.kubernetes;
  const { repositories, permits } = connectGitHub(context, kubernetes);
  const ends = createPullRequestEnds(repositories);
  const leases = new LeaseStore({ kubernetes, systemNamespace, abandonedHolder: null, ends, log });
  const inCluster = createQuotaResizeKubernetesActivities({
    kubernetes,
    systemNamespace,
    pauses,
    policyDefaults: policyDefaults(config),
    timings: config.timings,
    usage: config.quotaUsage.mode,
    candidates: candidateOptions(config, { kubernetes, repositories }),
    abandonedHolder: abandonedHolder(repositories.default()),
    ends,
    log,
  });
  return {
    ...inCluster,
    ...createQuotaResizeForgeActivities({
      repositories,
      permits,
      config: {
        timings: { ...config.timings, webhookPoll: config.webhooks.pollMs },
        texts: textsOf(config),
        temporalUi: config.temporalUi,
        mergeMethod: config.github?.mergeMethod,
      },
      guard: createQuotaPauseGuard({ kubernetes, systemNamespace, pauses }, 'quota-resize'),
      policyGuard: createPolicyGuard({ kubernetes, policyDefaults: policyDefaults(config) }),
      guardrailOf: createGuardrailReader({ kubernetes, policyDefaults: policyDefaults(config) }),
      mergeGate: createMergeGate({
        kubernetes,
        policyDefaults: policyDefaults(config),
        systemNamespace,
        leases,
        ends,
        usage: config.quotaUsage.mode,
        log,
      }),
      decisions: leases,
      fileLocks: createFileLocks({ kubernetes, systemNamespace, leases, timings: config.timings, log }),
      observeQuota: inCluster.observeQuota,
      ensureLeaseUpdated: inCluster.ensureLeaseUpdated,
      ensureLeaseReleased: inCluster.ensureLeaseReleased,
      recordedPullRequests: createRecordedPullRequests({ kubernetes, systemNamespace }),
      isOfEpisode: createEpisodeLookup(temporal),
      requestEpisode: createEpisodeRequester(temporal),
      log,
    }),
  };
}

/** The repositories, and the budget of writes to them; neither where none is configured. */
function connectGitHub(
  { config, temporal, tracing, log }: ControllerContext,
  kubernetes: Kubernetes,
): {
  readonly repositories: DeliveredRepositories;
  readonly permits: WritePermits | null;
} {
  const { github, timings, githubBudget: limits } = config;
  if (github === undefined) return { repositories: noRepositories, permits: null };
  const { apiUrl, graphQl } = github;
  const credentials = createGitHubCredentials(github.credential, { apiUrl, requestTimeoutMs: timings.requestTimeout });
  const permits = permitsOf(credentials, ({ host, id }) =>
    createGitHubPermits({ client: temporal, host, credentialId: id, limits, log }),
  );
  const repositories = connectRepositories({
    apiUrl,
    credentials,
    graphQl,
    repositories: github.repositories,
    limits: config.gitLimits,
    requestTimeoutMs: timings.requestTimeout,
    writeSpacingMs: timings.githubWriteSpacing,
    onLimited: (waitMs, words) => void permits.limited(waitMs, words),
    traced: tracing?.child,
    log,
  });
  const deliveriesOf = createDeliveryReader(kubernetes, repositories, config.kubernetes.deliveryNamespaces);
  return { repositories: { ...repositories, deliveriesOf }, permits };
}

/** A token that is replaced while the process runs is another credential, with a budget of its own. */
function permitsOf(
  credentials: GitHubCredentials,
  create: (credential: Pick<GitHubCredentials, 'host' | 'id'>) => WritePermits,
): WritePermits {
  let current: { readonly id: string; readonly permits: WritePermits } | undefined;
  const now = (): WritePermits => {
    const { host, id } = credentials;
    current = current?.id === id ? current : { id, permits: create({ host, id }) };
    return current.permits;
  };
  return {
    acquire: async (ask) => await now().acquire(ask),
    limited: async (waitMs, words) => await now().limited(waitMs, words),
  };
}

function textsOf({ pullRequest }: Config): ReturnType<typeof pullRequestTexts> {
  const { titleTemplate, bodyTemplate, commitTemplate, branchTemplate, labels } = pullRequest;
  return pullRequestTexts({
    ...(titleTemplate === undefined ? {} : { title: titleTemplate }),
    ...(bodyTemplate === undefined ? {} : { body: bodyTemplate }),
    ...(commitTemplate === undefined ? {} : { commit: commitTemplate }),
    ...(branchTemplate === undefined ? {} : { branch: branchTemplate }),
    ...(labels === undefined ? {} : { labels }),
  });
}

/** Earlier tools had one repository: their locks name a pull request of the first one. */
function abandonedHolder(forge: Forge | null): ((number: number) => Promise<boolean>) | null {
  return forge === null ? null : async (number) => await isClosed(forge, number);
}

/** Whether the pull request of an earlier tool's lock is closed; what cannot be seen is respected as if it were open. */
async function isClosed(forge: Forge, number: number): Promise<boolean> {
  try {
    return (await forge.pullRequests.get(number)).state === 'closed';
  } catch {
    return false;
  }
}

import { connectKubernetes } from '../../activities/ports/kubernetes.ts';
import { GitHub } from '../../activities/ports/github.ts';
import { createGlobalPauseGuard } from '../../activities/kernel/global-pause.ts';
import type { QuotaResizeActivities } from '../../activities/quota-resize/interface.ts';
import { createQuotaResizeGitHubActivities } from '../../activities/quota-resize/github.ts';
import { createQuotaResizeKubernetesActivities } from '../../activities/quota-resize/kubernetes-activities.ts';
import { policyDefaults } from '../kernel/config.ts';
import type { Room, RoomContext } from '../kernel/room.ts';

export const quotaResizeRoom: Room = {
  workflowTypes: ['quotaResize'],
  createActivities,
};

function createActivities({ config, kubeConfig, log }: RoomContext): QuotaResizeActivities {
  const kubernetes = connectKubernetes(kubeConfig);
  const { systemNamespace } = config.kubernetes;
  const guard = createGlobalPauseGuard({ kubernetes, systemNamespace });
  const github =
    config.github === undefined
      ? null
      : new GitHub({
          apiUrl: config.github.apiUrl,
          owner: config.github.owner,
          repo: config.github.repo,
          baseBranch: config.github.baseBranch,
          token: () => config.github?.token.reveal() ?? '',
          requestTimeoutMs: config.timings.requestTimeout,
          writeSpacingMs: config.timings.githubWriteSpacing,
          log,
        });
  return {
    ...createQuotaResizeKubernetesActivities({
      kubernetes,
      systemNamespace,
      policyDefaults: policyDefaults(config),
      timings: config.timings,
      ...(github === null ? {} : { abandonedHolder: async (number: number) => await isClosed(github, number) }),
      log,
    }),
    ...createQuotaResizeGitHubActivities({
      github,
      config: {
        pathTemplate: config.gitPathTemplate.text,
        timings: config.timings,
      },
      guard,
      log,
    }),
  };
}

/** Whether the pull request of an earlier tool's lock is closed; what cannot be seen is respected as if it were open. */
async function isClosed(github: GitHub, number: number): Promise<boolean> {
  try {
    return (await github.pullRequest(number)).state === 'closed';
  } catch {
    return false;
  }
}

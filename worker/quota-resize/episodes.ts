import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { CommandInput } from '../../domain/kernel/command-input.ts';
import type { OrphanDependencies } from '../../activities/quota-resize/pull-request/orphan-search.ts';
import { commandSignals, quotaChanged, type ReconcileRequest, status } from '../../workflows/quota-resize/messages.ts';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import { episodeStart } from '../../workflows/quota-resize/start.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';

/** Starts or wakes a quota's episode for an open pull request of it; whoever reopened it skips the cooldown. */
export function createEpisodeRequester(client: Client): OrphanDependencies['requestEpisode'] {
  return async (target, { pullRequest, by }) => {
    const start = episodeStart(target);
    if (by === null) {
      await client.workflow.signalWithStart<typeof quotaResize, [ReconcileRequest]>('quotaResize', {
        ...start,
        signal: quotaChanged,
        signalArgs: [{ cause: `pull request #${pullRequest} is open`, resourceVersion: '' }],
      });
      return;
    }
    await client.workflow.signalWithStart<typeof quotaResize, [CommandInput?]>('quotaResize', {
      ...start,
      signal: commandSignals.skipCooldown,
      signalArgs: [{ by, reason: `reopened pull request #${pullRequest}` }],
    });
  };
}

/** Asks the quota's episode, if one runs, whether its decision has a pull request. */
export function createEpisodeLookup(client: Client): OrphanDependencies['isOfEpisode'] {
  return async ({ target, repository, number }) => {
    const episode = client.workflow.getHandle<typeof quotaResize>(quotaResizeId(target));
    try {
      if ((await episode.describe()).status.name !== 'RUNNING') return false;
      const { decision } = await episode.query(status);
      const known = decision?.merge === null ? decision.pullRequest : null;
      return known?.number === number && known.repository.toLowerCase() === repository.toLowerCase();
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  };
}

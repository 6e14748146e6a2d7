import { priorities } from '../../domain/kernel/priority.ts';
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { QuotaTarget } from '../../domain/kernel/target.ts';
import { orphanSearchId, quotaResizeId } from '../../domain/quota-resize/target.ts';
import {
  pullRequestChanged,
  quotaChanged,
  quotaPressureSeen,
  type ReconcileRequest,
} from '../../workflows/quota-resize/messages.ts';
import type { orphanSearch } from '../../workflows/quota-resize/orphan-search.ts';
import { episodeStart, orphanSearchStart } from '../../workflows/quota-resize/start.ts';
import type { quotaResize } from '../../workflows/quota-resize/workflow.ts';
import { type QueuedRequest, wakes } from '../kernel/work-queue.ts';

interface AnyQuotaRequest extends QueuedRequest {
  readonly target: QuotaTarget;
}

/** A request about the quota, about the pull request of its decision, or about those that no decision is about. */
export type QuotaRequest =
  | (AnyQuotaRequest & { readonly about: 'quota'; readonly resourceVersion: string })
  | (AnyQuotaRequest & { readonly about: 'pullRequest'; readonly delivery: string })
  | (QueuedRequest & { readonly about: 'orphans'; readonly cluster: string });

/**
 * A reconcile request for a quota's episode. One that starts an episode reports pressure, one that does not reports a
 * change.
 */
export function quotaRequest(
  target: QuotaTarget,
  starts: boolean,
  cause: string,
  resourceVersion: string,
): QuotaRequest {
  return { coalescingKey: quotaResizeId(target), target, about: 'quota', starts, cause, resourceVersion };
}

/** A reconcile request that a person's change of the quota or its namespace causes, for a running episode. */
export function quotaChangeRequest(target: QuotaTarget, cause: string, resourceVersion: string): QuotaRequest {
  return { ...quotaRequest(target, false, cause, resourceVersion), usesReserve: true };
}

/**
 * A request that the pull request of a quota's decision changed; it never starts an episode.
 *
 * @param delivery the id of GitHub's delivery, for people who read the history.
 */
export function pullRequestRequest(target: QuotaTarget, cause: string, delivery: string): QuotaRequest {
  // Separate from the quota's own requests, so that neither kind replaces the other in the queue.
  const coalescingKey = `${quotaResizeId(target)} (pull request)`;
  return { coalescingKey, target, about: 'pullRequest', starts: false, cause, delivery };
}

/**
 * A base branch moves with every merge by anybody, and each time all open pull requests may be behind or in conflict.
 * That is not urgent, so each gets such a request rarely, and not all at the same moment.
 */
const BASE_GAP_MS = 5 * 60_000;

/** A request that the base of the pull request moved, coalesced over minutes. */
export function baseRequest(target: QuotaTarget, cause: string, delivery: string): QuotaRequest {
  const coalescingKey = `${quotaResizeId(target)} (base)`;
  const gapMs = BASE_GAP_MS * (1 + Math.random() / 5);
  return { coalescingKey, target, about: 'pullRequest', starts: false, cause, delivery, gapMs };
}

/**
 * Anybody may reopen pull requests, also such as are not Headroom's, and each search is a request to GitHub for every
 * repository: one a minute is enough.
 */
const SEARCH_GAP_MS = 60_000;

/** A request to search for open pull requests that no Lease of the cluster knows. */
export function orphansRequest(cluster: string, cause: string): QuotaRequest {
  return {
    coalescingKey: orphanSearchId(cluster),
    about: 'orphans',
    cluster,
    starts: true,
    cause,
    priority: priorities.resync,
  };
}

/** The same because somebody reopened a pull request; coalesced over a minute. */
export function reopenedRequest(cluster: string, cause: string): QuotaRequest {
  return { ...orphansRequest(cluster, cause), priority: priorities.routine, gapMs: SEARCH_GAP_MS };
}

/**
 * Sends a reconcile request. Pressure starts an episode when none runs (at most one runs with this id); a mere change
 * only goes to a running one. A request with both starts an episode, or wakes one that ignores pressure alone.
 *
 * @throws the client's error when Temporal cannot be reached.
 */
export function createQuotaRequestSender(client: Client): (request: QuotaRequest) => Promise<void> {
  return async (request) => {
    if (request.about === 'orphans') {
      await client.workflow.start<typeof orphanSearch>('orphanSearch', orphanSearchStart(request.cluster));
      return;
    }
    const { target, starts } = request;
    const workflow = client.workflow.getHandle<typeof quotaResize>(quotaResizeId(target));
    try {
      if (request.about === 'pullRequest') {
        const { cause, delivery } = request;
        await workflow.signal(pullRequestChanged, { cause, delivery });
        return;
      }
      const { cause, resourceVersion } = request;
      if (!starts) {
        await workflow.signal(quotaChanged, { cause, resourceVersion });
        return;
      }
      await client.workflow.signalWithStart<typeof quotaResize, [ReconcileRequest]>('quotaResize', {
        ...episodeStart(target),
        signal: wakes(request) ? quotaChanged : quotaPressureSeen,
        signalArgs: [{ cause, resourceVersion }],
      });
    } catch (error) {
      // A request that starts nothing is for a running workflow only.
      if (starts || !(error instanceof WorkflowNotFoundError)) throw error;
    }
  };
}

import type { PullRequestEnd } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { PullRequest } from '../../forge/forge.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { NOT_ENDED, type PullRequestEnds } from '../lease/ends.ts';
import { mergeOf } from './pull-request-state.ts';

/** Asks the forge how pull requests that Leases record have ended. */
export function createPullRequestEnds(repositories: Repositories): PullRequestEnds {
  return {
    async endOf({ repository, number }) {
      if (repositories.nameOf(repository) === null) return null;
      return endOf(await repositories.of(repository).pullRequests.get(number));
    },
    async endOfDecision(target, decision) {
      const { pullRequest } = decision;
      if (pullRequest === null || repositories.nameOf(pullRequest.repository) === null) return NOT_ENDED;
      const forge = repositories.of(pullRequest.repository);
      const state = await forge.pullRequests.state(pullRequest.number, { mergedFile: pullRequest.path });
      const { user, state: now, mergedAt } = state.pull;
      if (now === 'closed' && mergedAt === null) {
        // Somebody whom the forge does not name, such as a deleted account, has rejected it as well.
        const by = (await state.closedBy()) ?? 'unknown';
        // Headroom may have opened it with other credentials than it has now.
        const isOwn = by === user || by === (await forge.pullRequests.ownAccount());
        return { merge: null, closedBy: isOwn ? null : by };
      }
      return { merge: await mergeOf(forge, target, decision, state), closedBy: null };
    },
  };
}

function endOf({ state, mergedAt, mergedBy, user }: PullRequest): PullRequestEnd {
  if (mergedAt !== null) return { kind: 'merged', at: mergedAt, isOwn: mergedBy !== null && mergedBy === user };
  return { kind: state };
}

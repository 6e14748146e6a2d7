import type { PullRequestEnd } from '../../../domain/quota-resize/policy/recorded-raise.ts';
import type { Forge, PullRequest } from '../../forge/forge.ts';
import type { Repositories } from '../../forge/repositories.ts';
import { NOT_ENDED, type PullRequestEnds } from '../lease/ends.ts';
import { isOwnAccount } from './own-account.ts';
import { mergeOf } from './pull-request-state.ts';

/** Asks the forge how pull requests that Leases record have ended. */
export function createPullRequestEnds(repositories: Repositories): PullRequestEnds {
  return {
    async endOf({ repository, number }) {
      if (repositories.nameOf(repository) === null) return null;
      const forge = repositories.of(repository);
      return await endOf(forge, await forge.pullRequests.get(number));
    },
    async endOfDecision(target, decision) {
      const { pullRequest } = decision;
      if (pullRequest === null || repositories.nameOf(pullRequest.repository) === null) return NOT_ENDED;
      const forge = repositories.of(pullRequest.repository);
      const state = await forge.pullRequests.state(pullRequest.number, { mergedFile: pullRequest.path });
      const { state: now, mergedAt } = state.pull;
      if (now === 'closed' && mergedAt === null) {
        const by = await state.closedBy();
        // Somebody whom the forge does not name, such as a deleted account, has rejected it as well.
        return { merge: null, closedBy: (await isOwnAccount(forge, state.pull, by)) ? null : (by ?? 'unknown') };
      }
      return { merge: await mergeOf(forge, target, decision, state), closedBy: null };
    },
  };
}

async function endOf(forge: Forge, pull: PullRequest): Promise<PullRequestEnd> {
  const { state, mergedAt, mergedBy } = pull;
  if (mergedAt === null) return { kind: state };
  return { kind: 'merged', at: mergedAt, isOwn: await isOwnAccount(forge, pull, mergedBy) };
}

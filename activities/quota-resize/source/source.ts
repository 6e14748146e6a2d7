import type { SourceObservation } from '../../../domain/quota-resize/model/observation.ts';
import type { QuotaResizeActivities } from '../interface.ts';
import { forbiddenPlace } from '../../../domain/quota-resize/policy/allowed-place.ts';
import type { PullRequestDependencies } from '../pull-request/own-work.ts';
import { changedPlace, findQuotaFile } from './quota-file.ts';

/**
 * Locates the quota in Git and proves that the edit is possible. Takes three requests when nothing is cached and one
 * file is enough (branch, tree, file), and one request without cost for the rate limit when nothing changed.
 */
export function createSourceActivities({
  repositories,
  config: { texts },
}: Pick<PullRequestDependencies, 'repositories' | 'config'>): Pick<QuotaResizeActivities, 'observeSource'> {
  return {
    async observeSource({ target, limits, candidates, current, guardrail }): Promise<SourceObservation> {
      if (repositories.names.length === 0) {
        return {
          kind: 'blocked',
          reason: 'RepositoryNotConfigured',
          message:
            'no GitOps repository is configured; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN to let Headroom propose',
        };
      }
      // Opening the pull request asks for open ones of the quota, which come with the base that is read here.
      const alongside = texts.branchBeginning(target);
      const file = await findQuotaFile(repositories, target, limits, {
        candidates,
        current,
        alongside,
        roundsUp: true,
      });
      if (file.kind === 'blocked') return file;
      const { tree, path, line, edits, limits: inGit, rounded, how, placement } = file;
      const forbidden = guardrail === undefined ? null : forbiddenPlace(guardrail, target, changedPlace(file));
      if (forbidden !== null) return { kind: 'blocked', reason: 'OutsideGuardrail', message: forbidden };
      return {
        kind: 'found',
        repository: tree.forge.repository,
        base: tree.base.name,
        baseSha: tree.base.sha,
        path,
        line,
        paths: edits.length === 0 ? [path] : edits.map((edit) => edit.path),
        limits: inGit,
        ...(Object.keys(rounded).length === 0 ? {} : { rounded }),
        how,
        placement,
      };
    },
  };
}

import type { SourceObservation } from '../../domain/quota-resize/observation.ts';
import type { GitHub } from '../ports/github.ts';
import type { QuotaResizeActivities } from './interface.ts';
import { findQuotaFile } from './quota-file.ts';

/**
 * Where the quota lives in Git, with proof that the edit is possible. Three requests when nothing is known yet (the
 * branch, its tree, the file), one that costs nothing of GitHub's limit when nothing changed.
 *
 * @param github null where no repository is configured, which is right for observing.
 */
export function createSourceActivities(
  github: GitHub | null,
  config: { readonly pathTemplate: string },
): Pick<QuotaResizeActivities, 'observeSource'> {
  return {
    async observeSource({ target, limits, gitPath }): Promise<SourceObservation> {
      if (github === null) {
        return {
          kind: 'blocked',
          reason: 'GitHubNotConfigured',
          message:
            'no GitOps repository is configured; set GITHUB_OWNER, GITHUB_REPO and GITHUB_TOKEN to let Headroom propose',
        };
      }
      const file = await findQuotaFile(github, target, limits, { template: config.pathTemplate, gitPath });
      if (file.kind === 'blocked') return file;
      const { base, path, line, limits: inGit } = file;
      return {
        kind: 'found',
        repository: github.repository,
        base: base.name,
        baseSha: base.sha,
        path,
        line,
        limits: inGit,
      };
    },
  };
}

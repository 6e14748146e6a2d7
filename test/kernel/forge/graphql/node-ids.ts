import type { ForgeContext } from '../context.ts';
import { idOf } from '../people.ts';
import { nodeId } from '../represent/urls.ts';
import type { IssueComment } from '../model.ts';
import type { Site } from '../site.ts';

export function repositoryNodeId({ owner, repo }: ForgeContext): string {
  return nodeId('Repository', idOf(`${owner}/${repo}`));
}

/** The id of a ref, by which mutations name a branch. */
export function refNodeId({ owner, repo }: ForgeContext, ref: string): string {
  return nodeId('Ref', `${idOf(`${owner}/${repo}`)}:${ref}`);
}

/** The repository that has this node id. */
export function repositoryOfNode(site: Site, id: string): ForgeContext | undefined {
  return site.repositories.find((repository) => repositoryNodeId(repository) === id);
}

/** The repository and full name of the ref that has this node id. */
export function refOfNode(site: Site, id: string): { forge: ForgeContext; ref: string } | undefined {
  const [, number, ref] = /^Ref:(\d+):(.+)$/.exec(Buffer.from(id, 'base64url').toString()) ?? [];
  const forge = site.repositories.find(
    (repository) => String(idOf(`${repository.owner}/${repository.repo}`)) === number,
  );
  return forge && ref !== undefined ? { forge, ref } : undefined;
}

/** The comment that has this node id, and its repository. */
export function commentOfNode(site: Site, id: string): { forge: ForgeContext; comment: IssueComment } | undefined {
  for (const forge of site.repositories) {
    const comment = forge.store.state.comments.find((one) => nodeId('IssueComment', one.id) === id);
    if (comment) return { forge, comment };
  }
  return undefined;
}

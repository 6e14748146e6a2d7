import { type Caller, sees } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import type { Site } from '../site.ts';
import { GraphQLFailure } from './errors.ts';
import type { GraphQLObject } from './git-objects.ts';
import { commentOfNode, refOfNode, repositoryOfNode } from './node-ids.ts';
import { commentObject, repositoryObject } from './objects.ts';
import { refObject } from './pull-request.ts';

/** Whatever has this node id. @throws GraphQLFailure when nothing has it that this caller sees */
export async function nodeObject(site: Site, id: string, caller: Caller): Promise<GraphQLObject> {
  const repository = repositoryOfNode(site, id);
  if (repository && sees(caller, repository)) return repositoryObject(repository, caller);
  const comment = commentOfNode(site, id);
  if (comment && sees(caller, comment.forge)) return commentObject(comment.forge, comment.comment, caller);
  const ref = refOfNode(site, id);
  const found = ref && sees(caller, ref.forge) && (await refObject(ref.forge, ref.ref, caller));
  if (!found) throw unknownNode(id);
  return found;
}

/** @throws GraphQLFailure when there is no repository of that name that this caller sees */
export function repositoryNamed(site: Site, name: string, caller: Caller): ForgeContext {
  const [owner = '', repo = ''] = name.split('/');
  const found = site.find(owner, repo);
  if (!found || !sees(caller, found))
    throw new GraphQLFailure('NOT_FOUND', `Could not resolve to a Repository with the name '${name}'.`);
  return found;
}

export function unknownNode(id: string): GraphQLFailure {
  return new GraphQLFailure('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}

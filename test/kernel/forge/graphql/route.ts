import { execute, GraphQLError, parse, validate } from 'graphql';
import { ApiError } from '../api-error.ts';
import { has } from '../apps/permissions.ts';
import { type Caller, sees } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import { type Answer, type Call, ok, type Route } from '../http/route.ts';
import { nodeId } from '../represent/urls.ts';
import type { Site } from '../site.ts';
import { type CommitOnBranch, commitOnBranch } from './commit-on-branch.ts';
import { GraphQLFailure, shownError } from './errors.ts';
import { commentOfNode, refOfNode, repositoryOfNode } from './node-ids.ts';
import {
  actor,
  commentObject,
  commitObject,
  type GraphQLObject,
  pullRequestObject,
  refObject,
  repositoryObject,
} from './objects.ts';
import { operationIn, requestIn } from './operation.ts';
import { publishedSchema } from './schema.ts';

/** GitHub's GraphQL API: requests and answers are held to the published schema by its executor. */
export const graphqlRoute: Route = {
  method: 'POST',
  path: '/graphql',
  docs: 'graphql',
  async handle(call): Promise<Answer> {
    const request = requestIn(call.text);
    if (!request) throw new ApiError(400, 'A query attribute must be specified and must be a string.');
    const schema = await publishedSchema();
    const refused = (errors: readonly GraphQLError[]): Answer => ok({ errors: errors.map(shownError) });
    let document: ReturnType<typeof parse>;
    try {
      document = parse(request.query);
    } catch (cause) {
      if (cause instanceof GraphQLError) return refused([cause]);
      throw cause;
    }
    const invalid = validate(schema, document);
    if (invalid.length > 0) return refused(invalid);
    const { data, errors } = await execute({
      schema,
      document,
      rootValue: rootOf(call),
      variableValues: request.variables,
      ...(request.operationName === undefined ? {} : { operationName: request.operationName }),
    });
    return {
      ...ok({ ...(data === undefined ? {} : { data }), ...(errors ? { errors: errors.map(shownError) } : {}) }),
      effect: operationIn(call.text).mutates && !errors,
      ...about(request.variables),
    };
  },
};

interface CommitInput {
  readonly branch: { readonly id?: string; readonly repositoryNameWithOwner?: string; readonly branchName?: string };
  readonly expectedHeadOid: string;
  readonly fileChanges?: Partial<Pick<CommitOnBranch, 'additions' | 'deletions'>> | null;
  readonly message: CommitOnBranch['message'];
  readonly clientMutationId?: string | null;
}

/** The fields of `Query` and `Mutation` that the forge answers. Any other is null or an error, as its type wants. */
function rootOf(caller: Call): GraphQLObject {
  const { forge: first, user, credential } = caller;
  const { site } = first;
  return {
    viewer: () => ({ ...actor(first, user), __typename: 'User' }),
    rateLimit: () => {
      const { limit, remaining, used, reset } = site.limits.core(credential);
      return { limit, remaining, used, cost: 1, nodeCount: 0, resetAt: new Date(reset * 1000).toISOString() };
    },
    repository: ({ owner, name }: { owner: string; name: string }) =>
      repositoryObject(repositoryNamed(site, `${owner}/${name}`, caller), caller),
    node: ({ id }: { id: string }) => nodeObject(site, id, caller),
    nodes: ({ ids }: { ids: readonly string[] }) => {
      if (ids.length > 100) {
        throw new GraphQLFailure('EXCESSIVE_PAGINATION', `${ids.length} ids are more than the 100 that are allowed.`);
      }
      return ids.map(async (id) => await nodeObject(site, id, caller));
    },
    createCommitOnBranch: async ({ input }: { input: CommitInput }) => {
      const { forge, branch } = branchOf(site, input.branch, caller);
      mayWrite(caller, 'contents');
      const sha = await changing(forge, () =>
        commitOnBranch(forge, {
          branch,
          expectedHeadOid: input.expectedHeadOid,
          additions: input.fileChanges?.additions ?? [],
          deletions: input.fileChanges?.deletions ?? [],
          message: input.message,
          by: user,
        }),
      );
      return {
        clientMutationId: input.clientMutationId ?? null,
        commit: commitObject(forge, await forge.git.commit(sha)),
        ref: refObject(forge, `refs/heads/${branch}`, caller),
      };
    },
    convertPullRequestToDraft: (args: DraftArguments) => setDraft(site, args, true, caller),
    markPullRequestReadyForReview: (args: DraftArguments) => setDraft(site, args, false, caller),
  };
}

interface DraftArguments {
  readonly input: { readonly pullRequestId: string; readonly clientMutationId?: string | null };
}

async function setDraft(site: Site, { input }: DraftArguments, draft: boolean, caller: Caller): Promise<GraphQLObject> {
  for (const forge of site.repositories) {
    const pull = forge.store.state.pulls.find(({ id }) => nodeId('PullRequest', id) === input.pullRequestId);
    if (!pull || !sees(caller, forge)) continue;
    mayWrite(caller, 'pull_requests');
    await changing(forge, () => forge.pulls.setDraft(pull, draft, caller.user));
    return {
      clientMutationId: input.clientMutationId ?? null,
      pullRequest: await pullRequestObject(forge, pull, caller),
    };
  }
  throw unknownNode(input.pullRequestId);
}

async function nodeObject(site: Site, id: string, caller: Caller): Promise<GraphQLObject> {
  const repository = repositoryOfNode(site, id);
  if (repository && sees(caller, repository)) return repositoryObject(repository, caller);
  const comment = commentOfNode(site, id);
  if (comment && sees(caller, comment.forge)) return commentObject(comment.forge, comment.comment, caller);
  const ref = refOfNode(site, id);
  const found = ref && sees(caller, ref.forge) && (await refObject(ref.forge, ref.ref, caller));
  if (!found) throw unknownNode(id);
  return found;
}

function branchOf(
  site: Site,
  { id, repositoryNameWithOwner, branchName }: CommitInput['branch'],
  caller: Caller,
): { forge: ForgeContext; branch: string } {
  if (id !== undefined) {
    const found = refOfNode(site, id);
    if (!found?.ref.startsWith('refs/heads/') || !sees(caller, found.forge)) throw unknownNode(id);
    return { forge: found.forge, branch: found.ref.slice('refs/heads/'.length) };
  }
  if (repositoryNameWithOwner === undefined || branchName === undefined) {
    throw new GraphQLFailure('UNPROCESSABLE', 'Either id, or repositoryNameWithOwner and branchName must be given.');
  }
  return { forge: repositoryNamed(site, repositoryNameWithOwner, caller), branch: branchName };
}

function repositoryNamed(site: Site, name: string, caller: Caller): ForgeContext {
  const [owner = '', repo = ''] = name.split('/');
  const found = site.find(owner, repo);
  if (!found || !sees(caller, found))
    throw new GraphQLFailure('NOT_FOUND', `Could not resolve to a Repository with the name '${name}'.`);
  return found;
}

/** @throws GraphQLFailure when an app lacks a permission */
function mayWrite({ installation }: Caller, permission: string): void {
  if (!installation || has(installation.permissions, permission, 'write')) return;
  throw new GraphQLFailure('FORBIDDEN', 'Resource not accessible by integration');
}

function unknownNode(id: string): GraphQLFailure {
  return new GraphQLFailure('NOT_FOUND', `Could not resolve to a node with the global id of '${id}'`);
}

async function changing<T>(forge: ForgeContext, change: () => Promise<T>): Promise<T> {
  const result = await forge.lock.run(change);
  await forge.store.save();
  return result;
}

/** The branch that a mutation's variables name, for the log of writes. */
function about(variables: Readonly<Record<string, unknown>>): { branch?: string } {
  const input = variables['input'] as { branch?: { branchName?: unknown } } | undefined;
  const name = input?.branch?.branchName;
  return typeof name === 'string' ? { branch: name } : {};
}

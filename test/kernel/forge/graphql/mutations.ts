import { ApiError } from '../api-error.ts';
import { has } from '../apps/permissions.ts';
import { type Caller, sees } from '../callers.ts';
import type { ForgeContext } from '../context.ts';
import { createReference } from '../create-reference.ts';
import type { PullRequest } from '../model.ts';
import { nodeId } from '../represent/urls.ts';
import type { Site } from '../site.ts';
import { type CommitOnBranch, commitOnBranch } from './commit-on-branch.ts';
import { GraphQLFailure } from './errors.ts';
import { commitObject, type GraphQLObject } from './git-objects.ts';
import { refOfNode, repositoryOfNode } from './node-ids.ts';
import { repositoryNamed, unknownNode } from './node.ts';
import { pullRequestObject, queueEntryObject, refObject } from './pull-request.ts';

interface WithId {
  readonly clientMutationId?: string | null;
}

interface CommitInput extends WithId {
  readonly branch: { readonly id?: string; readonly repositoryNameWithOwner?: string; readonly branchName?: string };
  readonly expectedHeadOid: string;
  readonly fileChanges?: Partial<Pick<CommitOnBranch, 'additions' | 'deletions'>> | null;
  readonly message: CommitOnBranch['message'];
}

interface RefInput extends WithId {
  readonly repositoryId: string;
  readonly name: string;
  readonly oid: string;
}

interface PullRequestInput extends WithId {
  readonly repositoryId: string;
  readonly baseRefName: string;
  readonly headRefName: string;
  readonly title: string;
  readonly body?: string | null;
  readonly draft?: boolean | null;
}

interface DraftInput extends WithId {
  readonly pullRequestId: string;
}

/** One of the two names it `id`. */
interface QueueInput extends WithId {
  readonly pullRequestId?: string;
  readonly id?: string;
  readonly expectedHeadOid?: string | null;
}

interface AutoMergeInput extends WithId {
  readonly pullRequestId: string;
  readonly expectedHeadOid?: string | null;
  readonly mergeMethod?: string | null;
  readonly commitHeadline?: string | null;
  readonly commitBody?: string | null;
}

type Mutation<Input> = (args: { readonly input: Input }) => Promise<GraphQLObject>;

/** The fields of `Mutation` that the forge answers. One after the other, as GitHub does; each fails by itself. */
export function mutationsOf(site: Site, caller: Caller): GraphQLObject {
  const createRef: Mutation<RefInput> = async ({ input: { repositoryId, name, oid, ...input } }) => {
    const forge = repositoryBy(site, repositoryId, caller);
    mayWrite(caller, 'contents');
    await changing(forge, async () => await createReference(forge, { ref: name, sha: oid, by: caller.user }));
    return { ...idOf(input), ref: refObject(forge, name, caller) };
  };
  const createCommitOnBranch: Mutation<CommitInput> = async ({ input }) => {
    const { forge, branch } = branchOf(site, input.branch, caller);
    mayWrite(caller, 'contents');
    const sha = await changing(forge, () =>
      commitOnBranch(forge, {
        branch,
        expectedHeadOid: input.expectedHeadOid,
        additions: input.fileChanges?.additions ?? [],
        deletions: input.fileChanges?.deletions ?? [],
        message: input.message,
        by: caller.user,
      }),
    );
    return {
      ...idOf(input),
      commit: commitObject(forge, await forge.git.commit(sha)),
      ref: refObject(forge, `refs/heads/${branch}`, caller),
    };
  };
  const createPullRequest: Mutation<PullRequestInput> = async ({ input }) => {
    const forge = repositoryBy(site, input.repositoryId, caller);
    mayWrite(caller, 'pull_requests');
    const pull = await changing(
      forge,
      async () =>
        await forge.pulls.open({
          head: input.headRefName,
          base: input.baseRefName,
          title: input.title,
          body: input.body ?? null,
          draft: input.draft ?? false,
          user: caller.user,
        }),
    );
    return { ...idOf(input), pullRequest: pullRequestObject(forge, pull, caller) };
  };
  const draft =
    (isDraft: boolean): Mutation<DraftInput> =>
    async ({ input }) => {
      const { forge, pull } = pullBy(site, input.pullRequestId, caller);
      mayWrite(caller, 'pull_requests');
      await changing(forge, () => forge.pulls.setDraft(pull, isDraft, caller.user));
      return { ...idOf(input), pullRequest: await pullRequestObject(forge, pull, caller) };
    };
  const queueMutation =
    (change: (forge: ForgeContext, pull: PullRequest, input: QueueInput) => Promise<GraphQLObject | null>) =>
    async ({ input }: { readonly input: QueueInput }): Promise<GraphQLObject> => {
      const id = input.pullRequestId ?? input.id ?? '';
      const { forge, pull } = pullBy(site, id, caller);
      mayWrite(caller, 'pull_requests');
      // What is in the queue is merged: that takes the right to write to the contents, too.
      mayWrite(caller, 'contents');
      return { ...idOf(input), mergeQueueEntry: await changing(forge, () => change(forge, pull, input)) };
    };
  const enqueuePullRequest = queueMutation(async (forge, pull, { expectedHeadOid }) =>
    queueEntryObject(forge, pull, await forge.queue.add(pull, caller.user, expectedHeadOid ?? undefined)),
  );
  const dequeuePullRequest = queueMutation((forge, pull) => {
    forge.queue.take(pull, caller.user);
    return Promise.resolve(null);
  });
  const autoMergeMutation =
    (
      change: (forge: ForgeContext, pull: PullRequest, input: AutoMergeInput) => Promise<void>,
    ): Mutation<AutoMergeInput> =>
    async ({ input }) => {
      const { forge, pull } = pullBy(site, input.pullRequestId, caller);
      mayWrite(caller, 'pull_requests');
      mayWrite(caller, 'contents');
      await changing(forge, () => change(forge, pull, input));
      return { ...idOf(input), pullRequest: await pullRequestObject(forge, pull, caller) };
    };
  const enablePullRequestAutoMerge = autoMergeMutation(async (forge, pull, input) => {
    const method = (input.mergeMethod ?? 'MERGE').toLowerCase();
    if (method !== 'merge' && method !== 'squash' && method !== 'rebase') {
      throw new GraphQLFailure('UNPROCESSABLE', `${method} is no method to merge.`);
    }
    await forge.autoMerges.enable(pull, {
      by: caller.user,
      method,
      ...(input.expectedHeadOid ? { expectedHead: input.expectedHeadOid } : {}),
      title: input.commitHeadline ?? '',
      message: input.commitBody ?? '',
    });
  });
  const disablePullRequestAutoMerge = autoMergeMutation((forge, pull) => {
    forge.autoMerges.disable(pull, caller.user);
    return Promise.resolve();
  });
  return {
    enablePullRequestAutoMerge,
    disablePullRequestAutoMerge,
    enqueuePullRequest,
    dequeuePullRequest,
    createRef,
    createCommitOnBranch,
    createPullRequest,
    convertPullRequestToDraft: draft(true),
    markPullRequestReadyForReview: draft(false),
  };
}

/** The branch that a mutation's variables name, for the log of writes. */
export function branchIn(variables: Readonly<Record<string, unknown>>): string | undefined {
  const inputs = Object.values(variables) as readonly (Partial<CommitInput & RefInput & PullRequestInput> | null)[];
  const names = inputs.map((input) => input?.branch?.branchName ?? input?.headRefName ?? input?.name);
  return names.find((name) => typeof name === 'string')?.replace(/^refs\/heads\//, '');
}

function idOf({ clientMutationId = null }: WithId): Required<WithId> {
  return { clientMutationId };
}

function repositoryBy(site: Site, id: string, caller: Caller): ForgeContext {
  const found = repositoryOfNode(site, id);
  if (!found || !sees(caller, found)) throw unknownNode(id);
  return found;
}

/** @throws GraphQLFailure */
function pullBy(site: Site, id: string, caller: Caller): { readonly forge: ForgeContext; readonly pull: PullRequest } {
  for (const forge of site.repositories) {
    const pull = forge.store.state.pulls.find((one) => nodeId('PullRequest', one.id) === id);
    if (pull && sees(caller, forge)) return { forge, pull };
  }
  throw unknownNode(id);
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

/** @throws GraphQLFailure when an app lacks a permission */
function mayWrite({ installation }: Caller, permission: string): void {
  if (!installation || has(installation.permissions, permission, 'write')) return;
  throw new GraphQLFailure('FORBIDDEN', 'Resource not accessible by integration');
}

async function changing<T>(forge: ForgeContext, change: () => Promise<T>): Promise<T> {
  const result = await forge.lock.run(change).catch((cause: unknown) => {
    throw cause instanceof ApiError ? asGraphQL(cause) : cause;
  });
  await forge.store.save();
  return result;
}

/** What REST says in the list of a "Validation Failed", GraphQL says in one sentence. */
function asGraphQL(error: ApiError): ApiError {
  const words = (error.errors ?? []).map((one) =>
    typeof one === 'string' ? one : (one.message ?? `${one.field ?? 'it'} is ${one.code}`),
  );
  return words.length === 0 ? error : new ApiError(error.status, words.join(', '));
}

/** GitHub's own auto-merge of a pull request. REST shows that it is enabled, and cannot change it. */
import type { MergeMethod, QueueRemoval } from '../../../domain/kernel/forge.ts';
import type { EnqueueOutcome, MergeRequest, QueueState } from '../forge.ts';
import type { GitHubClient } from './client.ts';
import { handOver, takeBack } from './handed-over.ts';
import { type ActorNode, accountOf } from './pull-request-node.ts';
import { moment } from './responses.ts';

export interface AutoMergeNode {
  readonly autoMergeRequest: {
    readonly enabledAt: string | null;
    readonly enabledBy: ActorNode | null;
    readonly mergeMethod: string;
  } | null;
}

/** Of a `PullRequest`. */
export const AUTO_MERGE_FIELDS = 'autoMergeRequest { enabledAt enabledBy { __typename login } mergeMethod }';

export const AUTO_MERGE_EVENTS =
  'AUTO_MERGE_ENABLED_EVENT, AUTO_SQUASH_ENABLED_EVENT, AUTO_REBASE_ENABLED_EVENT, AUTO_MERGE_DISABLED_EVENT';

export const AUTO_MERGE_EVENT_FIELDS = ['AutoMergeEnabledEvent', 'AutoSquashEnabledEvent', 'AutoRebaseEnabledEvent']
  .map((type) => `... on ${type} { createdAt actor { __typename login } }`)
  .concat('... on AutoMergeDisabledEvent { createdAt reason actor { __typename login } }')
  .join(' ');

const METHODS: Readonly<Record<string, MergeMethod>> = { SQUASH: 'squash', REBASE: 'rebase', MERGE: 'merge' };

export function entryOfAutoMerge({ autoMergeRequest: request }: AutoMergeNode): QueueState['entry'] {
  if (request === null) return null;
  return {
    autoMerge: METHODS[request.mergeMethod] ?? 'merge',
    by: accountOf(request.enabledBy) ?? 'unknown',
    at: moment(request.enabledAt ?? undefined),
    state: 'waiting',
    position: null,
  };
}

/** GitHub disables it in the name of whoever caused that, and then says what it was. */
export function isDisabledByGitHub(reason: string): boolean {
  return /push|write access|base branch|base ref|conflict|closed|not allowed/i.test(reason);
}

export function kindOfDisabling(reason: string): QueueRemoval['kind'] {
  return /conflict/i.test(reason) ? 'conflict' : 'other';
}

const ENABLE =
  'mutation ($input: EnablePullRequestAutoMergeInput!) { enablePullRequestAutoMerge(input: $input) { clientMutationId } }';

/**
 * https://docs.github.com/en/graphql/reference/mutations#enablepullrequestautomerge. GitHub refuses it for a pull request that it
 * could merge at once ("Pull request is in clean status").
 */
export async function enableAutoMerge(
  client: GitHubClient,
  pullRequestId: string,
  { headSha, method, title, message }: MergeRequest,
): Promise<EnqueueOutcome> {
  const text = method === 'rebase' ? {} : { commitHeadline: title, commitBody: message };
  const input = { pullRequestId, expectedHeadOid: headSha, mergeMethod: method.toUpperCase(), ...text };
  return await handOver(client, ENABLE, input);
}

const DISABLE =
  'mutation ($input: DisablePullRequestAutoMergeInput!) { disablePullRequestAutoMerge(input: $input) { clientMutationId } }';

/** It is refused where auto-merge is not enabled. */
export async function disableAutoMerge(client: GitHubClient, pullRequestId: string): Promise<void> {
  await takeBack(client, DISABLE, { pullRequestId });
}

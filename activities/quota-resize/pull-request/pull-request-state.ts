/** Reads a pull request, once or repeatedly until something changes. Nothing is written. */
import { type Decision, decidedLimits } from '../../../domain/quota-resize/model/decision.ts';
import { valuesInGit } from '../../../domain/quota-resize/git/yaml/limits.ts';
import type { PullRequestObservation } from '../../../domain/quota-resize/model/observation.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { ResourceList } from '../../../domain/kernel/resource-list.ts';
import { pullRequestPoll } from '../../../domain/quota-resize/pull-request/poll.ts';
import { notYet } from '../../kernel/not-yet.ts';
import type { Checks, Forge, PullRequest } from '../../forge/forge.ts';
import type { QuotaResizeActivities } from '../interface.ts';
import { headIsOurs, type PullRequestDependencies, pullRequestRef, repositoryOf } from './own-work.ts';

export function createPullRequestStateActivities({
  repositories,
  config,
}: Pick<PullRequestDependencies, 'repositories' | 'config'>): Pick<
  QuotaResizeActivities,
  'observePullRequest' | 'awaitPullRequestChange'
> {
  return {
    async observePullRequest({ target, decision }): Promise<PullRequestObservation> {
      const forge = repositoryOf(repositories, decision);
      const ref = pullRequestRef(forge, decision);
      const pull = await forge.pullRequests.get(ref.number);
      const [checks, rules, ours, merge, closedBy] = await Promise.all([
        forge.pullRequests.checks(pull.headSha),
        forge.branches.rules(pull.baseRef),
        headIsOurs(forge, pull, decision),
        mergeOf(forge, target, decision, pull),
        closedByOf(forge, pull),
      ]);
      return {
        number: pull.number,
        url: pull.url,
        state: pull.state,
        headSha: pull.headSha,
        headIsOurs: ours,
        mergeability: pull.mergeability,
        checks,
        hasRequiredChecks: rules.requiresChecks,
        ...(rules.mergeQueue ? { mergeQueue: true } : {}),
        closedBy,
        merge,
      };
    },

    async awaitPullRequestChange({ decision, lastSeen, quietSince }): Promise<void> {
      const forge = repositoryOf(repositories, decision);
      const { number } = pullRequestRef(forge, decision);
      const pull = await forge.pullRequests.get(number);
      const computing =
        pull.mergeability === 'computing' && lastSeen.mergeability !== 'computing' && sameHead(pull, lastSeen);
      if (!computing && !samePullRequest(pull, lastSeen)) return;
      const poll = pullRequestPoll(config.timings, Date.now() - quietSince, pull.mergeability === 'computing');
      const readsChecks = poll.readsChecks && !computing && dependsOnChecks(lastSeen);
      if (readsChecks && !sameChecks(await forge.pullRequests.checks(pull.headSha), lastSeen.checks)) return;
      throw notYet(waitingFor(lastSeen), poll.delay);
    },
  };
}

/** The merge of a pull request: commit, person, and the limits in the merged file. */
export async function mergeOf(
  forge: Forge,
  target: QuotaTarget,
  decision: Decision,
  pull: PullRequest,
): Promise<PullRequestObservation['merge']> {
  if (pull.mergedAt === null || pull.mergeSha === null) return null;
  return {
    sha: pull.mergeSha,
    at: pull.mergedAt,
    by: pull.mergedBy ?? 'unknown',
    limits: await mergedLimits(forge, target, decision, pull.mergeSha),
  };
}

/**
 * The limits of the decision's resources in the merged file; empty when the file is gone or cannot be read as a quota.
 */
async function mergedLimits(forge: Forge, target: QuotaTarget, decision: Decision, sha: string): Promise<ResourceList> {
  const { path, headSha } = pullRequestRef(forge, decision);
  const file = await forge.files.fileAt(path, sha);
  if (file === null || file.text === null) return {};
  const decided = decidedLimits(decision);
  const values = valuesInGit(file.text, { namespace: target.namespace, name: target.quota }, Object.keys(decided));
  if (Object.keys(values).length > 0) return values;
  // A file of another form, such as a chart's values: if nobody changed it since, it has the decided limits.
  return (await forge.files.fileAt(path, headSha))?.sha === file.sha ? decided : {};
}

async function closedByOf(forge: Forge, pull: PullRequest): Promise<string> {
  if (pull.mergedAt !== null) return pull.mergedBy ?? 'unknown';
  return pull.state === 'closed' ? ((await forge.pullRequests.closedBy(pull.number)) ?? 'unknown') : 'unknown';
}

function sameHead(pull: PullRequest, lastSeen: PullRequestObservation): boolean {
  return pull.state === lastSeen.state && pull.headSha === lastSeen.headSha;
}

function samePullRequest(pull: PullRequest, lastSeen: PullRequestObservation): boolean {
  return sameHead(pull, lastSeen) && pull.mergeability === lastSeen.mergeability;
}

function dependsOnChecks({ checks, mergeability }: PullRequestObservation): boolean {
  return (
    checks.pending.length > 0 || checks.failing.length > 0 || mergeability === 'blocked' || mergeability === 'unstable'
  );
}

function sameChecks(a: Checks, b: PullRequestObservation['checks']): boolean {
  const key = ({ total, pending, failing }: Checks) => JSON.stringify([total, pending, failing]);
  return key(a) === key(b);
}

function waitingFor(lastSeen: PullRequestObservation): string {
  const name = `pull request #${lastSeen.number}`;
  if (lastSeen.state === 'open' && lastSeen.mergeability === 'computing')
    return `waiting until it is known whether ${name} can be merged`;
  if (lastSeen.mergeability === 'draft') return `waiting for ${name} to be taken out of draft`;
  if (lastSeen.checks.pending.length > 0) return `waiting for checks of ${name}: ${lastSeen.checks.pending.join(', ')}`;
  if (lastSeen.checks.failing.length > 0)
    return `waiting for failing checks of ${name} to pass: ${lastSeen.checks.failing.join(', ')}`;
  if (lastSeen.mergeability === 'blocked')
    return `waiting for ${name} to be unblocked: a review or a required check is missing`;
  return `waiting for ${name} (${lastSeen.mergeability}) to be merged, closed or changed`;
}

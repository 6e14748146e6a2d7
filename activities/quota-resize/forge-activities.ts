import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import { failure } from '../kernel/failure.ts';
import { waitBefore } from '../kernel/wait-before.ts';
import type { OrphanActivities, PullRequestOutcome, QuotaResizeActivities } from './interface.ts';
import { noRepository, type PullRequestDependencies, repositoryOf } from './pull-request/own-work.ts';
import { createOrphanActivities, type OrphanDependencies } from './pull-request/orphan-search.ts';
import { createPullRequestActivities } from './pull-request/pull-request.ts';
import { createPullRequestEndActivities } from './pull-request/pull-request-end.ts';
import { createPullRequestStateActivities } from './pull-request/pull-request-state.ts';
import { observeAfterwards } from './quota/observe-afterwards.ts';
import { createSourceActivities } from './source/source.ts';

/** The activities of the quota resizer that access the GitOps repositories. */
export type QuotaResizeForgeActivities = Pick<
  QuotaResizeActivities,
  | 'observeSource'
  | 'observePullRequest'
  | 'awaitPullRequestChange'
  | 'ensurePullRequest'
  | 'ensurePullRequestRebuilt'
  | 'ensureMerged'
  | 'ensureDequeued'
  | 'ensureComment'
  | 'ensurePullRequestClosed'
  | 'ensureBranchDeleted'
> &
  OrphanActivities;

export interface QuotaResizeForgeOptions
  extends OrphanDependencies,
    Pick<QuotaResizeActivities, 'ensureLeaseUpdated' | 'ensureLeaseReleased'> {}

/** Without a repository only `observeSource` returns a result, which says so. */
export function createQuotaResizeForgeActivities(options: QuotaResizeForgeOptions): QuotaResizeForgeActivities {
  const { repositories, log } = options;
  const observe = async (target: QuotaTarget) => await options.observeQuota({ target });
  const sources = createSourceActivities(options);
  const source: Pick<QuotaResizeActivities, 'observeSource'> = {
    observeSource: async (input) => {
      const [found] = await Promise.all([sources.observeSource(input), waitBefore(input.afterMs)]);
      return { ...found, ...(await observeAfterwards(input, observe, log)) };
    },
  };
  if (repositories.names.length === 0) return { ...source, ...withoutForge() };
  const inRepository = byRepository(options);
  const state = createPullRequestStateActivities(options);
  const pullRequests = createPullRequestActivities(options);
  return {
    ...source,
    ...pullRequests,
    ...state,
    ensurePullRequest: async (input) => {
      const outcome = await pullRequests.ensurePullRequest(input);
      return await recorded({ ...state, ensureLeaseUpdated: options.ensureLeaseUpdated }, input, outcome);
    },
    awaitPullRequestChange: async (input) => {
      const change = await state.awaitPullRequestChange(input);
      if (input.observes !== true) return change.pullRequest;
      return { ...change, ...(await observeAfterwards(input, observe, log)) };
    },
    ...createOrphanActivities(options),
    ensureMerged: async ({ target, decision: { id }, event, observes, ...queue }) => {
      const decision = await options.mergeGate.recorded(target, id);
      const outcome = await inRepository(decision).ensureMerged({ target, decision, ...queue });
      if (outcome.kind !== 'merged' || event === undefined) return outcome;
      const { kind: _, ...merge } = outcome;
      const release = { target, decision: { ...decision, merge }, rejection: null, event, observes };
      // What fails of it is no reason to ask for the merge once more.
      const concluded = await options.ensureLeaseReleased(release).catch(() => undefined);
      return concluded === undefined ? outcome : { ...outcome, concluded };
    },
    ensureDequeued: async (input) => await inRepository(input.decision).ensureDequeued(input),
    ensureComment: async ({ target, ...input }) => {
      const decision = await recordedDecision(options, target, input.decision);
      await inRepository(decision).ensureComment({ ...input, target, decision });
    },
    ensurePullRequestClosed: async (input) => await inRepository(input.decision).ensurePullRequestClosed(input),
    ensureBranchDeleted: async (input) => await inRepository(input.decision).ensureBranchDeleted(input),
  };
}

/**
 * The first look at a pull request that was just opened, or found, and its record in the Lease. What fails of it is no reason
 * to open it again: whoever is told nothing looks, or writes, by himself.
 */
async function recorded(
  { observePullRequest, ensureLeaseUpdated }: Pick<QuotaResizeActivities, 'observePullRequest' | 'ensureLeaseUpdated'>,
  { target, decision, records, observes }: Parameters<QuotaResizeActivities['ensurePullRequest']>[0],
  outcome: PullRequestOutcome,
): Promise<PullRequestOutcome> {
  if (outcome.kind !== 'open' && outcome.kind !== 'completed') return outcome;
  if (outcome.kind === 'open' && (outcome.joined !== undefined || (outcome.leftOut ?? []).length > 0)) return outcome;
  const opened = { target, decision: { ...decision, pullRequest: outcome.pullRequest } };
  const [seen, lease] = await Promise.all([
    observePullRequest(opened).catch(() => null),
    records === true ? ensureLeaseUpdated({ ...opened, observes }).catch(() => null) : null,
  ]);
  return { ...outcome, ...(seen === null ? {} : { seen }), ...(lease ? { recorded: lease } : {}) };
}

/**
 * The decision as its Lease has it: whoever names a pull request has a comment written on any.
 *
 * @throws {ApplicationFailure} PolicyChanged when the Lease has another one, after which the workflow decides again.
 */
async function recordedDecision(
  { decisions }: PullRequestDependencies,
  target: QuotaTarget,
  { id }: Pick<Decision, 'id'>,
): Promise<Decision> {
  const { decision } = await decisions.read(target);
  if (decision?.id === id) return decision;
  const message = `no comment is written for ${targetName(target)}: its Lease does not hold decision ${id}`;
  throw failure({ type: 'PolicyChanged', nonRetryable: true, message });
}

/** The activities on an existing pull request, in the repository that the decision names. */
function byRepository(
  options: PullRequestDependencies,
): (decision: Decision) => ReturnType<typeof createPullRequestEndActivities> {
  return (decision) =>
    createPullRequestEndActivities({ ...options, forge: repositoryOf(options.repositories, decision) });
}

/** For a worker without a repository that gets a decision from one that had it. */
function withoutForge(): Omit<QuotaResizeForgeActivities, 'observeSource'> {
  const reject = (): Promise<never> => Promise.reject(noRepository());
  return {
    observePullRequest: reject,
    awaitPullRequestChange: reject,
    ensurePullRequest: reject,
    ensurePullRequestRebuilt: reject,
    ensureMerged: reject,
    ensureDequeued: reject,
    ensureComment: reject,
    ensurePullRequestClosed: reject,
    ensureBranchDeleted: reject,
    observeOrphans: () => Promise.resolve([]),
    ensureOrphanEnded: reject,
  };
}

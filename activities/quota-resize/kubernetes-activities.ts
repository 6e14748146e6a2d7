import type { Logger } from 'pino';
import { HourlyBudgets } from '../../domain/kernel/hourly-budget.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import type { PolicyDefaults } from '../../domain/quota-resize/policy/policy.ts';
import type { ResizeTimings } from '../../domain/quota-resize/model/timings.ts';
import type { UsageMode } from '../../domain/quota-usage/mode.ts';
import { currentWorkflow } from '../kernel/audit.ts';
import { takeTurn } from '../kernel/turns.ts';
import { waitBefore } from '../kernel/wait-before.ts';
import { ensureQuotaEvent } from '../kernel/quota-event.ts';
import { createQuotaPauseGuard, type PauseOptions } from '../kernel/pause.ts';
import type { PollPace } from '../../domain/kernel/poll-pace.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { withKubernetesFailures } from '../kubernetes/failure.ts';
import type { CandidateOptions } from './source/source-candidates.ts';
import type { Observed, Observing, QuotaResizeActivities, ResizeEvent } from './interface.ts';
import { LeaseStore } from './lease/lease.ts';
import type { ReadNeeded } from './lease/needed.ts';
import { settleDecision } from './lease/raises.ts';
import type { PullRequestEnds } from './lease/ends.ts';
import { neededLimits, readRequirements } from './quota/needed.ts';
import { RecentObservations } from './quota/recent-observations.ts';
import { observeQuota } from './quota/observe-quota.ts';
import { observeAfterwards } from './quota/observe-afterwards.ts';
import { recommendationWriter } from './quota/recommendation.ts';
import { awaitSync, syncRecorder } from './quota/sync.ts';

/** The activities of the quota resizer that access the cluster. */
type QuotaResizeKubernetesActivities = Pick<
  QuotaResizeActivities,
  | 'observeQuota'
  | 'awaitSync'
  | 'ensureRecommendation'
  | 'ensureQuotaEvent'
  | 'ensureLeaseAcquired'
  | 'ensureBatchedQuotasReleased'
  | 'ensureLeaseUpdated'
  | 'ensureLeaseReleased'
  | 'ensureLeaseSynced'
  | 'ensureSyncRecorded'
>;

export interface QuotaResizeKubernetesOptions {
  readonly kubernetes: Kubernetes;
  readonly policyDefaults: PolicyDefaults;
  /** The namespace of the Leases and the pause ConfigMaps. */
  readonly systemNamespace: string;
  /** The process's cached view of the pause ConfigMaps; null: they are read each time. */
  readonly pauses: NonNullable<PauseOptions['pauses']> | null;
  /**
   * Whether the pull request of an earlier tool's Lease holder `pr-N` is closed. Null: such a holder always counts as
   * active.
   */
  readonly abandonedHolder: ((pullRequest: number) => Promise<boolean>) | null;
  /** Who updates the status of quotas; `off`: only Kubernetes. */
  readonly usage: UsageMode;
  /** What the forge says of pull requests. */
  readonly ends: PullRequestEnds;
  /** Options for source candidates; null: there are none. */
  readonly candidates: CandidateOptions | null;
  /** Milliseconds. `syncPoll` is the first polling interval for changes of the cluster. */
  readonly timings: ResizeTimings & { readonly syncPoll: number };
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Warnings of one reason about a quota within an hour. A run bounds what it tells by itself, but a run ends as soon as nothing is
 * needed, and the next one does not know what was told.
 */
const MOST_WARNINGS = 10;

/** Polling slows down over this time: ten minutes, as long as a GitOps tool may need. */
const POLL_RAMP_MS = 10 * 60_000;

type Sync = Parameters<QuotaResizeActivities['ensureLeaseSynced']>[0];
type Released = Parameters<QuotaResizeActivities['ensureLeaseReleased']>[0];

/**
 * The activities for one cluster. All throw the failures of `kubernetesFailure`; every `ensure…` checks the pauses
 * before it writes.
 */
export function createQuotaResizeKubernetesActivities(
  given: QuotaResizeKubernetesOptions,
): QuotaResizeKubernetesActivities {
  const options = { ...given, pauses: given.pauses ?? undefined };
  const leases = new LeaseStore(options);
  const guard = createQuotaPauseGuard(options, 'quota-resize');
  const warnings = new HourlyBudgets(MOST_WARNINGS);
  const ensureRecommendation = recommendationWriter({ ...options, leases });
  const recent = new RecentObservations();
  const observing = { ...options, timings: resizeTimings(options.timings), leases, recent };

  const readNeeded =
    (target: QuotaTarget): ReadNeeded =>
    async (decision) =>
      neededLimits(await readRequirements({ ...options, leases, recent }, target, decision));

  const observe = withKubernetesFailures((target: QuotaTarget) => observeQuota(observing, target));

  function ensuring<I extends { readonly target: QuotaTarget }, R>(
    write: (input: I) => Promise<R>,
  ): (input: I) => Promise<R> {
    return withKubernetesFailures(async (input: I) => {
      await guard(input.target);
      return await write(input);
    });
  }

  const seen = (input: Parameters<typeof observeAfterwards>[0]) => observeAfterwards(input, observe, options.log);

  /** A write that observes afterwards, where it is asked to. */
  function ensuringSeen<I extends Observing & { readonly target: QuotaTarget }>(
    write: (input: I) => Promise<void>,
  ): (input: I) => Promise<Observed> {
    const ensure = ensuring(write);
    return async (input) => {
      await ensure(input);
      return await seen(input);
    };
  }

  const writeEvent = ensuring(async (input: ResizeEvent) => await ensureQuotaEvent({ ...options, warnings }, input));

  const record = ({ target, decision, at }: Sync) => leases.synced(target, decision, at);

  const release = ensuring((input: Released) => releaseSettled({ ...options, leases }, input));

  return {
    observeQuota: async ({ target, afterMs }) => {
      await waitBefore(afterMs);
      await takeTurn();
      return await observe(target);
    },
    awaitSync: withKubernetesFailures((input) => awaitSync({ ...options, pace: syncPace(options.timings) }, input)),
    ensureRecommendation: ensuringSeen(ensureRecommendation),
    ensureQuotaEvent: async (input) => {
      const event = await writeEvent(input);
      // Episodes of earlier versions read nothing else.
      return input.observes === true ? { event, ...(await seen(input)) } : event;
    },
    ensureLeaseAcquired: ensuring(async ({ target, decision, recommendation }) => {
      const [outcome] = await Promise.all([
        leases.acquire(target, decision, readNeeded(target)),
        recommendation && ensureRecommendation({ target, ...recommendation }),
      ]);
      if (outcome.kind === 'acquired') auditDecision(options.log, target, decision);
      return outcome;
    }),
    ensureBatchedQuotasReleased: ensuring(({ target, decision, quotas }) =>
      leases.releaseUnraised(target, decision, quotas),
    ),
    ensureLeaseUpdated: ensuringSeen(({ target, decision }) => leases.update(target, decision, readNeeded(target))),
    ensureLeaseReleased: async ({ event, ...input }) => {
      await release(input);
      return { ...(event === undefined ? {} : { event: await writeEvent(event) }), ...(await seen(input)) };
    },
    ensureLeaseSynced: ensuringSeen(record),
    ensureSyncRecorded: syncRecorder({ observe, record: ensuring(record), log: options.log }),
  };
}

async function releaseSettled(
  options: Parameters<typeof settleDecision>[0] & { readonly leases: LeaseStore },
  { target, decision, rejection, withdrawnAt }: Released,
): Promise<void> {
  await settleDecision(options, target, decision.id);
  await options.leases.release(target, decision, { rejection, withdrawnAt });
}

/** The audit log has a decision when it is stored, each time it is: with what it raises for everybody, and who has to approve it. */
function auditDecision(log: QuotaResizeKubernetesOptions['log'], target: QuotaTarget, decision: Decision): void {
  const { id, changes, batchedQuotas = [], approvalRequirement, approvedBy, approvalVerifiedBy } = decision;
  const fields = { target: targetName(target), cluster: target.cluster, decision: id, changes };
  log.info(
    {
      audit: 'decision',
      ...currentWorkflow(),
      ...fields,
      ...(batchedQuotas.length === 0
        ? {}
        : { batchedQuotas: batchedQuotas.map(({ quota, changes: own }) => ({ quota, changes: own })) }),
      approvalRequirement,
      approvedBy,
      approvalVerifiedBy,
    },
    `decision ${id} for ${targetName(target)}`,
  );
}

function syncPace({ syncPoll, holdRetry }: QuotaResizeKubernetesOptions['timings']): PollPace {
  return { first: syncPoll, last: holdRetry, ramp: POLL_RAMP_MS };
}

/** Only the timings that a decision needs, because every observation is stored in the history. */
function resizeTimings(timings: ResizeTimings): ResizeTimings {
  const { demandSettle, settle, updateInterval, needGone } = timings;
  const { holdRetry, syncOverdue, recommendationRepeat } = timings;
  return {
    demandSettle,
    settle,
    updateInterval,
    needGone,
    holdRetry,
    syncOverdue,
    recommendationRepeat,
  };
}

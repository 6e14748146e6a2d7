import type { UsageCacheActivities } from '../../../activities/quota-usage/interface.ts';
import type {
  OrphanActivities,
  OrphanOutcome,
  PullRequestOutcome,
  QuotaResizeActivities,
} from '../../../activities/quota-resize/interface.ts';
import type { Phase, Verdict } from '../../../domain/quota-resize/model/verdict.ts';
import { coverageOf } from '../coverage.ts';
import { attributesOf, payloadOf, type RecordedEvent } from '../histories.ts';

const FOUND_AGAIN = 'what fails for one pull request is found again by the next search';

export const coverage = {
  quotaResize: coverageOf<{
    verdict: Verdict['kind'];
    phase: Phase;
    activities: QuotaResizeActivities & Pick<UsageCacheActivities, 'observeNamespaceUsage'>;
  }>()({
    decision: { file: 'domain/quota-resize/decide/decide.ts', name: 'decide' },
    verdicts: {
      // The place in Git is looked up while the demand settles.
      hold: { observeSource: { found: true, blocked: true } },
      end: {},
      recommend: {},
      propose: {
        observeSource: { found: true, blocked: true },
        ensureLeaseAcquired: { acquired: true, held: true },
      },
      revise: {},
      notify: {},
      open: { ensurePullRequest: { open: true, relocated: true, alreadyInGit: true, completed: true, blocked: true } },
      rebuild: {
        ensurePullRequestRebuilt: { open: true, relocated: true, alreadyInGit: true, completed: true, blocked: true },
      },
      merge: { ensureMerged: { merged: true, moved: true, queued: true, blocked: true } },
      dequeue: {
        ensureDequeued: { dequeued: true, moved: 'the next pass observes the merge, as after every `moved`' },
      },
      close: {},
      release: {},
      mergedByPerson: {},
      closedByPerson: {},
      synced: {},
      forget: {},
      warnSync: { observeSource: { found: true, blocked: true } },
    },
    failures: {
      GloballyPaused: true,
      Paused: 'met only between an observation and its write, where GloballyPaused takes the same way',
      PolicyChanged: true,
      ForgeRejected: true,
      InvalidInput: 'what is wrong about an object or a file is an answer, and not a failure',
    },
    phases: {
      Detecting: true,
      Recommending: true,
      OpeningPullRequest: true,
      AwaitingChecks: true,
      AwaitingApproval: true,
      AwaitingMerge: true,
      Merging: true,
      AwaitingSync: true,
      CoolingDown: true,
      Blocked: true,
      Paused: true,
      Ended: true,
    },
    continuesAsNew: true,
    ways: {
      'a pull request without a quota that it was to raise': (runs: readonly (readonly RecordedEvent[])[]) =>
        runs.flat().some((event) => {
          const outcome = payloadOf(attributesOf(event)['result']) as Partial<PullRequestOutcome> | undefined;
          return outcome?.kind === 'open' && (outcome.leftOut ?? []).length > 0;
        }),
      'a decision that waits for its file': (runs: readonly (readonly RecordedEvent[])[]) =>
        runs.flat().some((event) => {
          const outcome = payloadOf(attributesOf(event)['result']) as Partial<PullRequestOutcome> | undefined;
          return outcome?.kind === 'blocked' && outcome.reason === 'FileBusy';
        }),
    },
  }),

  orphanSearch: coverageOf<{
    verdict: never;
    phase: 'Searching' | 'Ended';
    activities: Pick<OrphanActivities, 'observeOrphans'>;
  }>()({
    decision: null,
    verdicts: {},
    failures: {
      GloballyPaused: FOUND_AGAIN,
      Paused: FOUND_AGAIN,
      PolicyChanged: FOUND_AGAIN,
      ForgeRejected: FOUND_AGAIN,
      InvalidInput: FOUND_AGAIN,
    },
    phases: { Searching: true, Ended: true },
    continuesAsNew: 'a search has a bounded number of activities',
    ways: Object.fromEntries(
      (['closed', 'requested', 'left'] as const satisfies readonly OrphanOutcome['kind'][]).map((kind) => [
        `a pull request without a decision is ${kind}`,
        (runs: readonly (readonly RecordedEvent[])[]) =>
          runs.flat().some((event) => {
            const outcome = payloadOf(attributesOf(event)['result']) as Partial<OrphanOutcome> | undefined;
            return outcome?.kind === kind;
          }),
      ]),
    ),
  }),
};

import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  continueAsNew,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { readCommandInput } from '../../domain/kernel/command-input.ts';
import { type QuotaTarget, targetName } from '../../domain/kernel/target.ts';
import { formatInstant } from '../../domain/kernel/time.ts';
import { command, type OperatorCommand } from '../../domain/quota-resize/decide/commands.ts';
import { usageFacts, withCounts } from '../../domain/quota-resize/demand/counted-usage.ts';
import { decide } from '../../domain/quota-resize/decide/decide.ts';
import { policyInForce } from '../../domain/quota-resize/policy/in-force.ts';
import type { Decision } from '../../domain/quota-resize/model/decision.ts';
import type { PullRequestObservation, QuotaObservation } from '../../domain/quota-resize/model/observation.ts';
import type { Seen } from '../../domain/quota-resize/model/episode-observation.ts';
import { type ResizeMemory, upgradeMemory } from '../../domain/quota-resize/model/memory.ts';
import { describeChange } from '../../domain/quota-resize/sizing/requirement.ts';
import type { Wait } from '../../domain/quota-resize/model/verdict.ts';
import { isCancelled } from '../kernel/failure.ts';
import { brief, createPublisher, type Standing } from '../kernel/visibility.ts';
import { act, isForbiddenNow, refusedMessage } from './act.ts';
import { ensuring, observing, watching } from './activities.ts';
import { countNamespace } from './count-namespace.ts';
import {
  commandDescriptions,
  commandSignals,
  commandUpdates,
  pullRequestChanged,
  quotaChanged,
  quotaPressureSeen,
  type ResizeStatus,
  status,
} from './messages.ts';

export interface QuotaResizeInput {
  readonly target: QuotaTarget;
  /** The memory of the run before, through continue-as-new. */
  readonly memory?: ResizeMemory;
  /** What people were shown by the run before. */
  readonly shown?: Shown;
  /** After so many history events it continues as new, instead of `HISTORY_EVENTS`; for tests. At least one look is taken. */
  readonly continueAfterEvents?: number;
}

/** What an operator sees of an episode and the memory does not hold; it is the same before and after continue-as-new. */
interface Shown {
  readonly standing: Standing;
  readonly lastCommand: string | null;
  readonly approvedBy: string | null;
  /** The last decision that was merged, in the details of the cooldown. */
  readonly achieved: readonly string[];
  readonly isAchieved: boolean;
}

/** A pull request as it was read. */
interface KnownPullRequest {
  /** The id of its decision. */
  readonly decision: string;
  readonly seen: PullRequestObservation;
  readonly quietSince: number;
  /** Whether this very look read it. */
  readonly isFresh: boolean;
}

export interface QuotaResizeResult {
  readonly reason: string;
  readonly detail: string;
}

/**
 * History events after which a run continues as new: well below the server's warning at 10,240, and enough that one
 * ordinary episode (about 100 events) is one history.
 */
const HISTORY_EVENTS = 4_000;

/** How long a question that was refused rests, so that one that always fails does not turn the wait into a loop. */
const REFUSED_REST_MS = 60_000;

/**
 * One episode of one ResourceQuota, from pressure to the end of the cooldown. Its id is the lock, its history the audit
 * record. The decisions are `decide`'s; this loop observes, acts, publishes and waits.
 */
export async function quotaResize(input: QuotaResizeInput): Promise<QuotaResizeResult> {
  const { target, continueAfterEvents = HISTORY_EVENTS } = input;
  const identity = { controller: 'quota-resize', target: targetName(target), cluster: target.cluster };
  const publish = createPublisher(identity, input.shown?.standing);
  let memory = upgradeMemory(input.memory);
  let woken = false;
  let pressed = false;
  /** A look that is under way began while it was paused. */
  let beganPaused = false;
  let lastCommand = input.shown?.lastCommand ?? null;
  let until: number | undefined;
  let policy: ResizeStatus['policy'] = null;
  /** The pull request as it was read last, and since when GitHub has said the same about it. */
  let pullRequest: KnownPullRequest | null = null;
  /** Reads on until GitHub says something else; it outlives the looks at the cluster, which cost GitHub nothing then. */
  let watcher: CancellationScope | null = null;
  /** What was read before that, for the distance at which GitHub is asked. */
  let lastSeen: KnownPullRequest | null = null;
  let pullRequestWatchFailedUntil: number | null = null;
  /** How often what is known of the pull request was given up. */
  let forgotten = 0;
  let busy: CancellationScope | null = null;
  /** Whether the cluster's mode asks for counted numbers, as far as a look has told. */
  let isCounting = false;
  /** Where the last look's status said something else than was counted. */
  let ofUsage: readonly string[] = [];
  /** What the details say of the decision in hand, and of the last one that was merged. */
  let achieved: string[] = [...(input.shown?.achieved ?? [])];
  let isAchieved = input.shown?.isAchieved ?? false;
  let approvedBy = input.shown?.approvedBy ?? null;
  let said: Pick<ResizeStatus, 'phase' | 'reason' | 'detail'> = {
    phase: 'Detecting',
    reason: 'FirstLook',
    detail: 'looking at the quota',
  };
  let standing: Standing = show();
  /** Policy warnings that this run has put on the quota already; the Event itself is one, however often it is written. */
  const warned = new Set<string>();

  setHandler(
    quotaPressureSeen,
    () => {
      pressed = true;
    },
    { description: "the starter's hint that the quota is under pressure" },
  );
  setHandler(
    quotaChanged,
    () => {
      woken = true;
    },
    { description: "the starter's hint that the quota, its namespace or its policy changed" },
  );
  setHandler(
    status,
    (): ResizeStatus => ({
      target,
      ...said,
      since: formatInstant(standing.since),
      ...(until === undefined ? {} : { until: formatInstant(until) }),
      policy,
      decision: memory.decision,
      approval: memory.approval,
      paused: memory.paused,
      refusals: memory.refusals,
      lastCommand,
    }),
  );
  setHandler(
    pullRequestChanged,
    () => {
      forgetPullRequest();
      woken = true;
    },
    { description: "the starter's hint that GitHub told of a change of the pull request" },
  );
  for (const name of Object.keys(commandSignals) as OperatorCommand[]) {
    const apply = (raw?: unknown): string => {
      const outcome = command(memory, name, readCommandInput(raw), Date.now());
      lastCommand = `${formatInstant(Date.now())} ${name}: ${outcome.message}`;
      if (outcome.kind === 'refused') {
        // A signal has no answer: who sent it reads here why nothing happens.
        standing = show();
        return outcome.message;
      }
      memory = outcome.memory;
      woken = true;
      // People look at GitHub before they answer, so what they saw there is looked at too.
      forgetPullRequest();
      log.info('operator command', { command: name, did: outcome.message, target: targetName(target) });
      // Whatever waits for its turn on GitHub does not come to it after a no.
      if (name === 'pause' || name === 'reject') busy?.cancel();
      if (name === 'resume') beganPaused = true;
      standing = show();
      return outcome.message;
    };
    const description = commandDescriptions[name];
    setHandler(
      commandSignals[name],
      (raw) => {
        apply(raw);
      },
      { description },
    );
    setHandler(commandUpdates[name], (raw?: unknown) => apply(raw), {
      description,
      validator: (raw?: unknown) => {
        const outcome = command(memory, name, readCommandInput(raw), Date.now());
        if (outcome.kind === 'refused') throw ApplicationFailure.nonRetryable(outcome.message, 'CommandRefused');
      },
    });
  }

  for (let looks = 0; ; looks += 1) {
    if (looks > 0 && isHistoryLong()) {
      await condition(allHandlersFinished);
      // The next run looks at everything afresh, so a hint that came meanwhile needs no carrying.
      return await continueAsNew<typeof quotaResize>({
        ...input,
        memory,
        shown: { standing, lastCommand, approvedBy, achieved, isAchieved },
      });
    }
    // Cleared before observing, so that no hint falls between the look and the wait.
    woken = false;
    pressed = false;
    beganPaused = false;
    const seen = await look();
    // What was seen while paused is not acted on: people resume what is there now.
    if (seen === null || beganPaused) continue;
    const [remembered, verdict] = decide(seen, memory, Date.now());
    // Nothing is done to a pull request on what was read a while ago.
    if (verdict.kind !== 'hold' && verdict.kind !== 'end' && wasReadBefore()) {
      forgetPullRequest();
      continue;
    }
    memory = remembered;
    policy = policyInForce(seen.quota.policy);
    ofUsage = usageFacts(seen.quota, memory.lastChange);
    said = verdict;
    until = verdict.kind === 'hold' ? verdict.wait.until : undefined;
    standing = show();
    switch (verdict.kind) {
      case 'end':
        // Synchronous with the end: a hint that arrived while looking is looked at first.
        if (!woken && !pressed && allHandlersFinished()) {
          forgetPullRequest();
          return { reason: verdict.reason, detail: verdict.detail };
        }
        break;
      case 'hold':
        await rest(verdict.wait);
        break;
      default: {
        forgetPullRequest();
        const absorbOutcome = await interruptible(() => act(target, verdict, seen));
        if (absorbOutcome !== null) memory = absorbOutcome(memory);
      }
    }
  }

  /** A look, or null when there is nothing to decide on: it was interrupted, or refused and rested. */
  async function look(): Promise<Seen | null> {
    try {
      return await interruptible(observe);
    } catch (error) {
      const message = refusedMessage(error);
      if (message === null) throw error;
      log.warn('a look was refused, looking again later', { message });
      said = { phase: 'Blocked', reason: 'ForgeRejected', detail: message };
      until = Date.now() + REFUSED_REST_MS;
      standing = show();
      await rest({ until, quietUntil: until });
      return null;
    }
  }

  /** Signals count as well, so a run that only rests must be renewed too. */
  function isHistoryLong(): boolean {
    const { continueAsNewSuggested, historyLength } = workflowInfo();
    return continueAsNewSuggested || historyLength > continueAfterEvents;
  }

  async function observe(): Promise<Seen> {
    const quota = await observeQuota();
    // The Lease may know a decision that this run does not: look at its pull request as well.
    const decision = memory.decision ?? quota.lease.decision;
    const hasOpenPullRequest = decision !== null && decision.pullRequest !== null && decision.merge === null;
    if (!hasOpenPullRequest) forgetPullRequest();
    const shown = hasOpenPullRequest ? await observePullRequest(decision) : null;
    if (quota.quota !== null && quota.globalPause === null) {
      for (const { layer, key, value, message } of quota.warnings) {
        const eventKey = `${layer}/${key}=${value}`;
        if (warned.has(eventKey)) continue;
        const event = { target, quotaUid: quota.quota.uid, type: 'Warning', reason: 'PolicyInvalid', message } as const;
        await ensuring.ensureQuotaEvent.executeWithOptions({ summary: brief(message) }, [{ ...event, key: eventKey }]);
        warned.add(eventKey);
      }
    }
    return { quota, pullRequest: shown };
  }

  /** The quota, with what the starters counted in place of `status.used` where the mode asks for it. */
  async function observeQuota(): Promise<QuotaObservation> {
    // Counted before the demand is read: what comes in between is neither counted nor missing, so too little is asked for
    // and never too much.
    const counts = isCounting ? await countNamespace(target) : null;
    const look = await observing.observeQuota.executeWithOptions({ summary: targetName(target) }, [{ target }]);
    isCounting = look.usage === 'audit' || look.usage === 'own';
    if (!isCounting) return look;
    return counts === null ? await observeQuota() : withCounts(look, counts);
  }

  /** What GitHub says of the decision's pull request, asked again only when something may have changed it. */
  async function observePullRequest(decision: Decision): Promise<PullRequestObservation> {
    if (pullRequest !== null && pullRequest.decision === decision.id) {
      pullRequest = { ...pullRequest, isFresh: false };
      return pullRequest.seen;
    }
    const before = lastSeen;
    const began = forgotten;
    const summary = `pull request #${decision.pullRequest?.number}`;
    const now = await observing.observePullRequest.executeWithOptions({ summary }, [{ target, decision }]);
    const isSame = before?.decision === decision.id && JSON.stringify(before.seen) === JSON.stringify(now);
    const quietSince = isSame ? before.quietSince : Date.now();
    lastSeen = { decision: decision.id, seen: now, quietSince, isFresh: true };
    if (began === forgotten) pullRequest = lastSeen;
    return now;
  }

  function wasReadBefore(): boolean {
    return pullRequest !== null && !pullRequest.isFresh;
  }

  /** Ends the watch; the next look asks GitHub, and what is being read now does not count as the latest. */
  function forgetPullRequest(): void {
    forgotten += 1;
    watcher?.cancel();
    watcher = null;
    pullRequest = null;
  }

  /** Starts to read on, unless that is under way. When GitHub says something else, the next look asks it. */
  function watchPullRequest(): void {
    const { decision } = memory;
    if (watcher !== null || pullRequest === null || decision === null) return;
    const { seen: known, quietSince } = pullRequest;
    const scope = new CancellationScope({ cancellable: true });
    watcher = scope;
    const changed = () => {
      if (watcher !== scope) return;
      forgetPullRequest();
      woken = true;
    };
    void scope
      .run(() =>
        watching.awaitPullRequestChange.executeWithOptions({ summary: waitSummary() }, [
          { target, decision, known, quietSince },
        ]),
      )
      .then(changed, (error: unknown) => {
        if (isCancelled(error) || watcher !== scope) return;
        log.warn('the watch of the pull request failed, looking again later', { error });
        watcher = null;
        pullRequestWatchFailedUntil = Date.now() + REFUSED_REST_MS;
      });
  }

  /**
   * Runs a look or an act so that a pause can interrupt it. Null when it was interrupted or met the global pause or another
   * policy: then the next look says what holds now.
   */
  async function interruptible<T>(run: () => Promise<T>): Promise<T | null> {
    const scope = new CancellationScope();
    busy = scope;
    try {
      return await scope.run(run);
    } catch (error) {
      const cancelledFromOutside = CancellationScope.current().consideredCancelled;
      if (!cancelledFromOutside && (isCancelled(error) || isForbiddenNow(error))) return null;
      throw error;
    } finally {
      busy = null;
    }
  }

  /** Waits for whatever the verdict waits for, a command, a change, or pressure that is not to be kept quiet. */
  async function rest(wait: Wait): Promise<void> {
    let changed = false;
    let watchFailedUntil: number | null = null;
    if (wait.watch === 'pullRequest') watchPullRequest();
    const scope = new CancellationScope();
    const watched =
      wait.watch === undefined || wait.watch === 'pullRequest'
        ? null
        : scope
            .run(() => watch(wait.watch))
            .then(
              () => {
                changed = true;
              },
              (error: unknown) => {
                if (isCancelled(error)) return;
                log.warn('a watch failed, looking again later', { error });
                watchFailedUntil = Date.now() + REFUSED_REST_MS;
              },
            );
    try {
      for (;;) {
        const now = Date.now();
        const loudAt = pressed ? Math.max(now, wait.quietUntil ?? 0) : Number.POSITIVE_INFINITY;
        const wakeAt = Math.min(
          wait.until ?? Number.POSITIVE_INFINITY,
          loudAt,
          watchFailedUntil ?? pullRequestWatchFailedUntil ?? Number.POSITIVE_INFINITY,
        );
        if (woken || changed || wakeAt <= now || isHistoryLong()) return;
        const wasPressed = pressed;
        const failed = () => watchFailedUntil ?? pullRequestWatchFailedUntil;
        const hadFailed = failed();
        const moved = () => woken || changed || pressed !== wasPressed || failed() !== hadFailed || isHistoryLong();
        if (Number.isFinite(wakeAt)) await condition(moved, wakeAt - now, { summary: waitSummary() });
        else await condition(moved);
      }
    } finally {
      scope.cancel();
      await watched;
      if (pullRequestWatchFailedUntil !== null) forgetPullRequest();
      pullRequestWatchFailedUntil = null;
    }
  }

  async function watch(what: Wait['watch']): Promise<void> {
    const { decision } = memory;
    const summary = waitSummary();
    if (what === 'globalPause') return watching.awaitGlobalResume.executeWithOptions({ summary }, [{ target }]);
    if (decision === null) return;
    if (what === 'sync' && decision.merge !== null) {
      const { quotaUid, merge } = decision;
      return watching.awaitSync.executeWithOptions({ summary }, [{ target, quotaUid, limits: merge.limits }]);
    }
  }

  function waitSummary(): string {
    return `${said.phase} (${said.reason})`;
  }

  function show(): Standing {
    const { decision, approval, paused } = memory;
    const facts: string[] = [];
    if (decision !== null) {
      // The memory forgets an approval with the merge, and the decision with the sync; people still ask for both.
      if (decision.merge === null)
        approvedBy = approval === null ? null : `${approval.by} at ${formatInstant(approval.at)}`;
      achieved = decision.changes.map(describeChange);
      if (decision.pullRequest)
        achieved.push(`pull request [#${decision.pullRequest.number}](${decision.pullRequest.url})`);
      if (approvedBy !== null) achieved.push(`approved by ${approvedBy}`);
      if (decision.merge) achieved.push(`merged ${formatInstant(decision.merge.at)} by ${decision.merge.by}`);
      isAchieved = decision.merge !== null;
    }
    if (decision !== null || isAchieved) facts.push(...achieved);
    facts.push(...ofUsage);
    if (paused !== null && said.reason !== 'Paused') facts.push(`paused by ${paused.by}`);
    if (until !== undefined) facts.push(`checks again at ${formatInstant(until)} at the latest`);
    if (lastCommand !== null) facts.push(`last command: ${lastCommand}`);
    return publish({ ...said, facts }, Date.now());
  }
}

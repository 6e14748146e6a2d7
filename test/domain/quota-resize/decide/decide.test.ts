import { describe, expect, it } from 'vitest';
import * as applyOutcome from '../../../../domain/quota-resize/decide/apply-outcome.ts';
import { BUILT_IN_GUARDRAIL } from '../../../../domain/quota-resize/policy/guardrail.ts';
import { isSynced } from '../../../../domain/quota-resize/decide/merged.ts';
import { decide } from '../../../../domain/quota-resize/decide/decide.ts';
import {
  decisionOf,
  requireState,
  type ResizeMemory,
  type Unmerged,
} from '../../../../domain/quota-resize/model/memory.ts';
import type { PullRequestObservation, QuotaObservation } from '../../../../domain/quota-resize/model/observation.ts';
import type { Verdict } from '../../../../domain/quota-resize/model/verdict.ts';
import {
  change,
  cpu,
  decideOpenAt,
  decision,
  demand,
  HEAD,
  HOUR,
  lease,
  memory,
  mergedDecision,
  MINUTE,
  NOW,
  observation,
  openDecision,
  policy,
  pullRequest,
  quota,
  ref,
  type Remembered,
  SECOND,
  seenWith,
  settledNeed,
  timings,
} from '../model/observations.ts';

const observe = policy({ mode: 'observe' });
const optedOut = policy({ enabled: 'false' });

function idle(
  observed: Parameters<typeof observation>[0] = {},
  remembered: Remembered = {},
  now = NOW,
): readonly [ResizeMemory, Verdict] {
  const carried = 'state' in remembered ? remembered : { demand: settledNeed, ...remembered };
  return decide({ observation: observation(observed), pullRequest: null }, memory(carried), now);
}

/** What is remembered of a decision before its merge. */
function reviewOf(remembered: ResizeMemory): Unmerged {
  return requireState(remembered, 'Locked', 'Open').state;
}

function keyOf(verdict: Verdict): string {
  return 'blockedKey' in verdict ? verdict.blockedKey : '';
}

const learntFrom = { by: 'ann', at: NOW - MINUTE, reason: '' };
const pausedTarget = { scope: 'target', kept: 'a key', by: 'bob', reason: '', at: NOW } as const;
const pausedEverything = { ...pausedTarget, scope: 'everything' } as const;

describe('the order of the ladder', () => {
  it('each guard stands before all the ones below it', () => {
    // From a state where everything stands in the way, one obstacle is taken away after the other.
    const everything = {
      pause: pausedEverything,
      quota: null,
      policy: optedOut,
      lease: lease({ holder: 'headroom/0a1b2c3d', decision: openDecision(), lastModified: NOW - MINUTE }),
    };
    const merged = mergedDecision();
    const reasons = [
      decide(
        { observation: observation({ ...everything, pause: pausedTarget }), pullRequest: null },
        memory({ decision: merged }),
        NOW,
      ),
      decide({ observation: observation(everything), pullRequest: null }, memory({ decision: merged }), NOW),
      decide(
        { observation: observation({ ...everything, pause: null }), pullRequest: null },
        memory({ decision: merged }),
        NOW,
      ),
      decide(
        { observation: observation({ ...everything, pause: null, quota: quota() }), pullRequest: null },
        memory({ decision: merged }),
        NOW,
      ),
      decide(
        {
          observation: observation({ ...everything, pause: null, quota: quota(), policy: policy() }),
          pullRequest: pullRequest(),
        },
        memory({ decision: merged }),
        NOW,
      ),
      decide(seenWith(openDecision(), pullRequest()), memory({ lastChange: NOW - MINUTE }), NOW),
      decide(seenWith(decision(), null), memory({ lastChange: NOW - MINUTE }), NOW),
      idle({}, { lastChange: NOW - MINUTE }),
      idle(),
    ].map(([, verdict]) => `${verdict.kind} ${verdict.reason}`);
    expect(reasons).toEqual([
      'hold Paused',
      'hold GloballyPaused',
      'forget QuotaGone',
      'forget OptedOut',
      'hold SyncPending',
      'merge ReadyToMerge',
      'open Adopted',
      'hold CoolingDown',
      'propose ThresholdReached',
    ]);
  });

  it('while paused, no pressure wakes anybody', () => {
    for (const pause of [pausedTarget, pausedEverything]) {
      expect(idle({ pause })[1]).toMatchObject({
        wait: { watch: 'resume', quietUntil: Number.POSITIVE_INFINITY },
      });
    }
  });
});

describe('detecting', () => {
  it('used exactly at the threshold is pressure, a nano below is not', () => {
    expect(idle({ quota: cpu('8') })[1].kind).toBe('propose');
    expect(idle({ quota: cpu('7999999999n') })[1].reason).toBe('BelowThreshold');
  });

  it('a limit of 0 is never reached by its threshold', () => {
    expect(idle({ quota: cpu('0', '0') })[1].reason).toBe('BelowThreshold');
  });

  it('a requirement waits until it has stood still, and not for ever', () => {
    const [first, settling] = idle({}, { demand: null });
    expect(settling).toMatchObject({ reason: 'DemandDebouncing', wait: { until: NOW + 2 * SECOND } });
    const seen = (used: string, at: number, remembered: ResizeMemory) =>
      decide(
        {
          observation: observation({ quota: cpu('7'), demand: [demand({ 'requests.cpu': used })] }),
          pullRequest: null,
        },
        remembered,
        at,
      );
    let [carried, verdict] = seen('4', NOW + 2 * SECOND, first);
    for (let step = 2; verdict.kind === 'hold'; step += 1) {
      [carried, verdict] = seen(`${step + 3}`, NOW + 2 * step * SECOND, carried);
    }
    // Five times the span after it was first seen, although it had only just changed again.
    expect(verdict).toMatchObject({ kind: 'propose' });
    expect(requireState(carried, 'Idle').state.demand?.since).toBe(NOW + 10 * SECOND);
  });

  it('a denial known by its message alone is old news after the last change, what still misses is not', () => {
    const observationWith = (basis: 'message' | 'workload') => ({
      quota: cpu('7'),
      policy: policy({}, { cooldown: 0 }),
      demand: [demand({ 'requests.cpu': '4' }, { basis, lastSeen: NOW - HOUR })],
    });
    expect(idle(observationWith('message'), { lastChange: NOW - MINUTE })[1].reason).toBe('BelowThreshold');
    expect(idle(observationWith('message'), { lastChange: NOW - 2 * HOUR })[1].reason).not.toBe('BelowThreshold');
    expect(idle(observationWith('workload'), { lastChange: NOW - MINUTE })[1].reason).not.toBe('BelowThreshold');
  });
});

describe('recommending', () => {
  it('in observe mode a requirement is recommended, and then the cooldown runs from the recommendation', () => {
    const [carried, verdict] = idle({ policy: observe });
    if (verdict.kind !== 'recommend') throw new Error(verdict.kind);
    const recommended = applyOutcome.recommended(carried, verdict.proposal, NOW);
    expect(idle({ policy: observe }, recommended, NOW + SECOND)[1]).toMatchObject({
      reason: 'CoolingDown',
      wait: { until: NOW + HOUR, quietUntil: NOW + HOUR },
    });
    const until = NOW + 2 * HOUR;
    expect(idle({ policy: observe }, recommended, NOW + HOUR)[1]).toMatchObject({
      reason: 'AlreadyRecommended',
      wait: { until, quietUntil: until },
    });
    const repeatAt = NOW + 24 * HOUR;
    expect(idle({ policy: observe }, recommended, repeatAt - MINUTE)[1]).toMatchObject({
      reason: 'AlreadyRecommended',
      wait: { until: repeatAt, quietUntil: repeatAt },
    });
    expect(idle({ policy: observe }, recommended, NOW + 24 * HOUR)[1].kind).toBe('recommend');
  });

  it('another value is recommended after the cooldown', () => {
    const lastRecommendation = { limits: { 'requests.cpu': '11' }, at: NOW - HOUR };
    expect(idle({ policy: observe }, { lastRecommendation })[1].kind).toBe('recommend');
  });

  it('what an earlier run recommended is known from the Lease', () => {
    const lastRecommendation = { limits: { 'requests.cpu': '12' }, at: NOW - MINUTE };
    expect(idle({ policy: observe, lease: lease({ lastRecommendation }) })[1].reason).toBe('CoolingDown');
  });

  it('an unchanged value is not recommended again within a cooldown that is longer than the repetition', () => {
    const observed = { policy: policy({ 'cooldown-minutes': `${48 * 60}` }) };
    const lastRecommendation = { limits: { 'requests.cpu': '12' }, at: NOW - 47 * HOUR };
    expect(idle(observed, { lastRecommendation })[1]).toMatchObject({ kind: 'propose', announce: false });
  });

  it('a proposal is announced once, and the recommendation of the observe mode does not delay it', () => {
    expect(idle()[1]).toMatchObject({ kind: 'propose', announce: true });
    const lastRecommendation = { limits: { 'requests.cpu': '12' }, at: NOW - MINUTE };
    expect(idle({}, { lastRecommendation })[1]).toMatchObject({ kind: 'propose', announce: false });
  });
});

describe('the cooldown', () => {
  it('runs from the last change, also one that only the Lease knows', () => {
    expect(idle({}, { lastChange: NOW - 59 * MINUTE })[1]).toMatchObject({
      reason: 'CoolingDown',
      wait: { until: NOW + MINUTE },
    });
    expect(idle({ lease: lease({ lastModified: NOW - 59 * MINUTE }) })[1].reason).toBe('CoolingDown');
    expect(idle({}, { lastChange: NOW - HOUR })[1].kind).toBe('propose');
  });

  it('an episode rests to its end even when the pressure is gone', () => {
    expect(idle({ quota: cpu('1') }, { lastChange: NOW - MINUTE })[1].reason).toBe('CoolingDown');
    expect(idle({ quota: cpu('1') }, { lastChange: NOW - HOUR })[1].kind).toBe('end');
  });

  it('runs from a pull request that was closed because the demand went away, also one that only the Lease knows', () => {
    const [waiting] = decideOpenAt(NOW, { observed: { quota: cpu('7') } });
    const withdrawn = applyOutcome.closed(requireState(waiting, 'Open'), null, NOW);
    const rest = { phase: 'CoolingDown', reason: 'CoolingDown', wait: { until: NOW + HOUR } };
    expect(idle({}, withdrawn, NOW + MINUTE)[1]).toMatchObject(rest);
    expect(idle({ lease: lease({ lastWithdrawal: NOW }) }, {}, NOW + MINUTE)[1]).toMatchObject(rest);
    expect(idle({}, { ...withdrawn, cooldownSkippedAt: NOW }, NOW + MINUTE)[1].reason).not.toBe('CoolingDown');
  });

  it('runs from a rejection, for whatever it does not cover, also one that only the Lease knows', () => {
    const rejection = { limits: { 'requests.cpu': '9' }, at: NOW - 59 * MINUTE, by: 'ann', reason: '' };
    const rest = { phase: 'CoolingDown', reason: 'CoolingDown', wait: { until: NOW + MINUTE } };
    expect(idle({}, { rejections: [rejection] })[1]).toMatchObject(rest);
    expect(idle({ lease: lease({ rejections: [rejection] }) })[1]).toMatchObject(rest);
    expect(idle({}, { rejections: [{ ...rejection, at: NOW - HOUR }] })[1].kind).toBe('propose');
    expect(idle({}, { rejections: [rejection], cooldownSkippedAt: NOW })[1].kind).toBe('propose');
    // A quota that needs nothing more has nothing to wait for.
    expect(idle({ quota: cpu('1') }, { rejections: [rejection] })[1].kind).toBe('end');
    expect(idle({ policy: policy({ mode: 'observe' }) }, { rejections: [rejection] })[1].kind).toBe('recommend');
  });

  it('skipCooldown ends the one that runs and not the next', () => {
    const skipped = { cooldownSkippedAt: NOW - SECOND };
    expect(idle({}, { ...skipped, lastChange: NOW - MINUTE })[1].kind).toBe('propose');
    expect(idle({}, { ...skipped, lastChange: NOW })[1].reason).toBe('CoolingDown');
  });
});

describe('a rejection', () => {
  const rejection = { limits: { 'requests.cpu': '12' }, at: NOW - HOUR, by: 'ann', reason: '' };
  it('a closed pull request is not opened again before its cooldown ends', () => {
    expect(idle({}, { rejections: [rejection] })[1]).toMatchObject({
      reason: 'PreviouslyRejected',
      wait: { until: rejection.at + 24 * HOUR, quietUntil: NOW + 5 * MINUTE },
    });
    expect(idle({ lease: lease({ rejections: [rejection] }) })[1].reason).toBe('PreviouslyRejected');
    expect(idle({}, { rejections: [{ ...rejection, at: NOW - 24 * HOUR }] })[1].kind).toBe('propose');
  });

  it('is outgrown by a requirement one increment above it, and by no missing pod below that', () => {
    // Exactly what is missing: 7 + 7.3 is below 12 × 1.2, and 7 + 7.4 is exactly that.
    const fill = (missing: string) =>
      idle(
        { quota: cpu('7'), policy: policy({ burst: 'fill' }), demand: [demand({ 'requests.cpu': missing })] },
        { rejections: [rejection] },
      )[1];
    expect(fill('7300m').reason).toBe('PreviouslyRejected');
    expect(fill('7400m').kind).toBe('propose');
  });

  it('keeps the rejected resource out while another one is asked for', () => {
    const both = quota({
      hard: { 'requests.cpu': '10', pods: '10' },
      used: { 'requests.cpu': '9', pods: '10' },
    });
    const steady = { ...settledNeed, digest: 'pods=12' };
    const [, verdict] = idle({ quota: both }, { rejections: [rejection], demand: steady });
    expect(verdict).toMatchObject({ kind: 'propose', detail: 'pods 10 → 12' });
  });

  it('leaves a requirement by its threshold alone without the evidence of the rejected demand', () => {
    const both = quota({ hard: { 'requests.cpu': '10', pods: '10' }, used: { 'requests.cpu': '7', pods: '9' } });
    const observed = { quota: both, demand: [demand({ 'requests.cpu': '4' }, { basis: 'message' })] };
    const high = { ...rejection, limits: { 'requests.cpu': '20' } };
    const steady = { ...settledNeed, digest: 'pods=12' };
    expect(idle(observed, { rejections: [high], demand: steady })[1]).toMatchObject({
      kind: 'propose',
      reason: 'ThresholdReached',
      proposal: { changes: [{ resource: 'pods' }], evidence: [], unmetDemand: false, demandByMessage: false },
    });
  });

  it('of one minimum leaves the other one a requirement of its minimum', () => {
    const rules = policy({ 'cpu-min': '12', 'pods-min': '20' });
    const both = quota({ hard: { 'requests.cpu': '10', pods: '10' }, used: { 'requests.cpu': '1', pods: '1' } });
    const steady = { ...settledNeed, digest: 'pods=20' };
    expect(idle({ quota: both, policy: rules }, { rejections: [rejection], demand: steady })[1]).toMatchObject({
      kind: 'propose',
      reason: 'BelowMinimum',
      detail: 'pods 10 → 20',
    });
  });

  it('holds as long as the last of several that stand', () => {
    const later = { ...rejection, at: NOW - MINUTE, by: 'bob' };
    for (const rejections of [
      [rejection, later],
      [later, rejection],
    ]) {
      expect(idle({}, { rejections: rejections })[1]).toMatchObject({
        reason: 'PreviouslyRejected',
        detail: expect.stringContaining('was rejected by bob'),
        wait: { until: later.at + 24 * HOUR },
      });
    }
  });

  it('does not come back through the update of another pull request', () => {
    const held = { changes: [change({ resource: 'pods', to: '12' })] };
    const both = quota({ hard: { 'requests.cpu': '10', pods: '10' }, used: { 'requests.cpu': '9', pods: '10' } });
    const observed = { quota: both };
    expect(decideOpenAt(NOW, { decision: held, observed })[1].kind).toBe('rebuild');
    expect(decideOpenAt(NOW, { decision: held, observed, memory: { rejections: [rejection] } })[1].kind).toBe('merge');
  });

  it('is lifted by an operator who skips the cooldown', () => {
    expect(idle({}, { rejections: [rejection], cooldownSkippedAt: NOW })[1].kind).toBe('propose');
  });

  it('is a close by an account of Headroom of which the run knows nothing: an earlier one may have carried out a no', () => {
    const pull = { state: 'closed', closedBy: 'headroom[bot]' } as const;
    expect(decideOpenAt(NOW, { pull })[1]).toMatchObject({
      kind: 'closedByPerson',
      rejection: { by: 'headroom[bot]', at: NOW },
    });
    const memory = { rejection: { by: 'ann', at: NOW, reason: '' } };
    expect(decideOpenAt(NOW, { pull, memory })[1], 'whose no it was told to carry out').toMatchObject({
      reason: 'Rejected',
      rejection: { by: 'ann' },
    });
    const merge = { sha: 'f00', at: NOW, by: 'headroom[bot]', isOwn: true, limits: { 'requests.cpu': '12' } };
    expect(decideOpenAt(NOW, { pull: { state: 'closed', merge } })[1].reason).toBe('SyncPending');
  });

  it('is remembered with the decided values when a person closes the pull request', () => {
    const [carried, verdict] = decideOpenAt(NOW, { pull: { state: 'closed', closedBy: 'ann' } });
    if (verdict.kind !== 'closedByPerson') throw new Error(verdict.kind);
    expect(verdict).toMatchObject({
      reason: 'ClosedByHuman',
      deletesBranch: true,
      rejection: { limits: { 'requests.cpu': '12' }, at: NOW, by: 'ann', reason: 'pull request #7 was closed' },
    });
    const after = { ...applyOutcome.closed(requireState(carried, 'Open'), verdict.rejection), demand: settledNeed };
    expect(after.state.kind).toBe('Idle');
    expect(idle({}, after)[1].reason).toBe('PreviouslyRejected');
  });

  it('a reject closes the pull request and is remembered in the name of who sent it', () => {
    const rejection = { ...learntFrom, reason: 'no budget' };
    const [carried, verdict] = decideOpenAt(NOW, { memory: { rejection } });
    expect(verdict).toMatchObject({
      kind: 'close',
      rejection: { limits: { 'requests.cpu': '12' }, by: 'ann', at: rejection.at, reason: 'no budget' },
    });
    // Interrupted after the close: it is finished in the same name.
    const closed = decide(
      seenWith(openDecision(), pullRequest({ state: 'closed', closedBy: 'bot' })),
      carried,
      NOW + MINUTE,
    );
    expect(closed[1]).toMatchObject({ kind: 'close', reason: 'Rejected', rejection: { by: 'ann' } });
  });

  it('a close that Headroom began and did not finish is no rejection', () => {
    const gone = { quota: cpu('7') };
    const [carried, verdict] = decideOpenAt(NOW, { observed: gone, memory: { demandGoneSince: NOW - HOUR } });
    expect(verdict).toMatchObject({ kind: 'close', reason: 'DemandGone', rejection: null });
    const closed = pullRequest({ state: 'closed', closedBy: 'headroom-bot' });
    expect(decide(seenWith(openDecision(), closed, gone), carried, NOW + MINUTE)[1]).toMatchObject({
      kind: 'close',
      reason: 'DemandGone',
      rejection: null,
    });
  });
});

describe('an open pull request', () => {
  it('a merge by a person counts as well, with what the merged file says', () => {
    const merge = { sha: 'f00', at: NOW, by: 'ann', isOwn: false, limits: { 'requests.cpu': '15' } };
    const [carried, verdict] = decideOpenAt(NOW, { pull: { state: 'closed', merge } });
    if (verdict.kind !== 'mergedByPerson') throw new Error(verdict.kind);
    const after = applyOutcome.merged(requireState(carried, 'Open'), verdict.decision, verdict.decision.merge);
    expect(decide(seenWith(verdict.decision, null), after, NOW + SECOND)[1]).toMatchObject({
      reason: 'SyncPending',
      detail: expect.stringContaining('requests.cpu is 10 and becomes 15'),
    });
  });

  it('a foreign commit hands it over: it is neither updated, merged nor closed', () => {
    const pull = { headIsOurs: false, headSha: 'ffff' };
    for (const observed of [{}, { quota: cpu('1') }, { demand: [demand({ 'requests.cpu': '20' })] }]) {
      const [, verdict] = decideOpenAt(NOW, { pull, observed, memory: { demandGoneSince: NOW - HOUR } });
      expect(verdict).toMatchObject({ kind: 'hold', reason: 'ForeignCommit' });
    }
  });

  it('of a namespace that opts out is closed, unless it was handed over', () => {
    expect(decideOpenAt(NOW, { observed: { policy: optedOut } })[1]).toMatchObject({
      kind: 'close',
      reason: 'OptedOut',
    });
    expect(decideOpenAt(NOW, { observed: { policy: optedOut }, pull: { headIsOurs: false } })[1]).toMatchObject({
      kind: 'release',
      detail: expect.stringContaining('is left to people'),
    });
  });

  it('whose requirement is gone is never merged, and closed when it has been gone long enough', () => {
    const observed = { quota: cpu('7') };
    const [carried, verdict] = decideOpenAt(NOW, { observed });
    expect(reviewOf(carried).demandGoneSince).toBe(NOW);
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'DemandGone', wait: { until: NOW + 10 * MINUTE } });
    const held = seenWith(openDecision(), pullRequest(), observed);
    expect(decide(held, carried, NOW + 10 * MINUTE - 1)[1].kind).toBe('hold');
    expect(decide(held, carried, NOW + 10 * MINUTE)[1]).toMatchObject({ kind: 'close', rejection: null });
  });

  it('whose requirement came back is merged, and the clock of a requirement that goes again starts anew', () => {
    const [carried, verdict] = decideOpenAt(NOW, { memory: { demandGoneSince: NOW - 9 * MINUTE } });
    expect(verdict.kind).toBe('merge');
    expect(reviewOf(carried).demandGoneSince).toBeNull();
  });

  it('that is not opened yet: the clock of a requirement that came back and goes again starts anew', () => {
    const [carried, verdict] = decide(
      seenWith(decision(), null),
      memory({ decision: decision(), demandGoneSince: NOW - 9 * MINUTE }),
      NOW,
    );
    expect(verdict.kind).toBe('open');
    expect(reviewOf(carried).demandGoneSince).toBeNull();
  });

  it('is not kept open by the requirement of another resource', () => {
    const other = quota({ hard: { 'requests.cpu': '10', pods: '10' }, used: { 'requests.cpu': '1', pods: '10' } });
    expect(decideOpenAt(NOW, { observed: { quota: other } })[1].reason).toBe('DemandGone');
  });

  it('for a demand that is known by a message alone waits for a person, and is closed when the demand is gone', () => {
    const denied = [demand({ 'requests.cpu': '1' }, { basis: 'message' })];
    const byMessage = { decision: { demandByMessage: true }, observed: { demand: denied } };
    expect(decideOpenAt(NOW, byMessage)[1]).toMatchObject({ kind: 'hold', reason: 'DemandByMessage' });
    const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: HEAD };
    expect(decideOpenAt(NOW, { ...byMessage, memory: { approval } })[1].kind).toBe('merge');
    expect(decideOpenAt(NOW, { ...byMessage, observed: { quota: cpu('7') } })[1].reason).toBe('DemandGone');
    // Where people merge anyway, the merge is the approval.
    const byPeople = { ...byMessage.observed, policy: policy({ 'auto-merge': 'false' }) };
    expect(decideOpenAt(NOW, { ...byMessage, observed: byPeople })[1].reason).toBe('NamespaceAutoMergeOff');
  });

  it('is updated to a greater requirement in the unit of the manifest, at most once in the interval', () => {
    const changes = [change({ to: '12000m' })];
    const observed = { demand: [demand({ 'requests.cpu': '3' })] };
    const at = (pushedAt: number) =>
      decideOpenAt(NOW, { observed, decision: { changes, pullRequest: ref({ openedAt: pushedAt, pushedAt }) } });
    expect(at(NOW - 10 * MINUTE + 1)[1]).toMatchObject({ kind: 'hold', reason: 'UpdateDue', wait: { until: NOW + 1 } });
    expect(at(NOW - 10 * MINUTE)[1]).toMatchObject({
      kind: 'rebuild',
      decision: { changes: [{ resource: 'requests.cpu', to: '15100m' }] },
    });
  });

  it('is not updated by less than an increment, but by any unmet demand', () => {
    const grown = (to: string, observed = {}) =>
      decideOpenAt(NOW, { decision: { changes: [change({ to })] }, observed })[1].kind;
    expect(grown('10100m')).toBe('merge');
    expect(grown('10')).toBe('rebuild');
    expect(grown('10100m', { demand: [demand({ 'requests.cpu': '2' })] })).toBe('rebuild');
  });

  it('that people merge grows as often as the demand does, so that it is never merged with a value that is too small', () => {
    let remembered = memory({ decision: openDecision() });
    for (let updates = 0; updates < 10; updates += 1) {
      const now = NOW + updates * 10 * MINUTE;
      const annotations = { burst: 'fill', 'auto-merge': 'false' };
      const observed = { policy: policy(annotations), demand: [demand({ 'requests.cpu': `${4 + updates}` })] };
      const held = requireState(remembered, 'Open').state.decision;
      const seen = seenWith(held, pullRequest({ headSha: held.pullRequest.headSha }), observed);
      const [tried, verdict] = decide(seen, remembered, now);
      if (verdict.kind !== 'rebuild') throw new Error(`update ${updates + 1} is ${verdict.kind} (${verdict.reason})`);
      const pushed = ref({ headSha: `head-${updates}`, pushedAt: now });
      remembered = applyOutcome.opened(requireState(tried, 'Open'), verdict.decision, pushed);
    }
  });

  it('that Headroom merges grows for a cooldown, and then no more while its checks run, or once it is ready', () => {
    const opened = NOW - HOUR;
    const at = (pushedAt: number, pull: Partial<PullRequestObservation> = {}, observed = {}) =>
      decideOpenAt(NOW, {
        observed: { demand: [demand({ 'requests.cpu': '3' })], ...observed },
        pull,
        decision: { decidedAt: opened, pullRequest: ref({ openedAt: opened, pushedAt }) },
      })[1];
    const pending = { mergeability: 'blocked', checks: { total: 1, pending: ['ci'], failing: [] } } as const;
    expect(at(NOW - 20 * MINUTE)).toMatchObject({ kind: 'merge' });
    expect(at(NOW - 20 * MINUTE, pending)).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
    // Its age has doubled since the last push.
    expect(at(NOW - 30 * MINUTE)).toMatchObject({ kind: 'rebuild', reason: 'DemandGrew' });
    // What waits for people or for a later moment is not postponed by growth.
    const failing = { ...pending, checks: { total: 1, pending: [], failing: ['ci'] } };
    expect(at(NOW - 20 * MINUTE, failing)).toMatchObject({ kind: 'rebuild' });
    const mergeHold = { reason: 'Frozen', until: null, detail: 'frozen' } as const;
    expect(at(NOW - 20 * MINUTE, {}, { mergeHold })).toMatchObject({ kind: 'rebuild' });
    expect(at(NOW - 20 * MINUTE, {}, { policy: policy({ 'auto-merge': 'false' }) })).toMatchObject({ kind: 'rebuild' });
    // A rest holds nothing that a person has approved, and a push would void the approval.
    const rests = { reason: 'CoolingDown', until: null, detail: 'it rests', isUnattended: true } as const;
    expect(at(NOW - 20 * MINUTE, pending, { mergeHold: rests })).toMatchObject({ kind: 'rebuild' });
    const asks = policy({ approval: 'before-merge' });
    const approval = { by: 'ann', at: NOW, reason: '', limits: { 'requests.cpu': '12' }, headSha: HEAD };
    const approved = { demand: [demand({ 'requests.cpu': '3' })], policy: asks, mergeHold: rests };
    const pullRequestAt = ref({ openedAt: opened, pushedAt: NOW - 20 * MINUTE });
    const facts = { decidedAt: opened, pullRequest: pullRequestAt };
    const waiting = decideOpenAt(NOW, { observed: approved, pull: pending, memory: { approval }, decision: facts });
    expect(waiting[1]).toMatchObject({ kind: 'hold', reason: 'ChecksPending' });
    // Within the cooldown from the opening it takes up what comes.
    const longer = { policy: policy({ 'cooldown-minutes': '61' }) };
    expect(at(NOW - 20 * MINUTE, {}, longer)).toMatchObject({ kind: 'rebuild' });
  });

  it('is held by what only a person lifts while nobody has approved it', () => {
    const mergeHold = { reason: 'CoolingDown', until: NOW + HOUR, detail: 'it rests', isUnattended: true } as const;
    const held = { kind: 'hold', phase: 'AwaitingMerge', reason: 'CoolingDown' };
    expect(decideOpenAt(NOW, { observed: { mergeHold } })[1]).toMatchObject(held);
    const asks = policy({ approval: 'before-merge' });
    const limits = { 'requests.cpu': '12' };
    const approval = { by: 'ann', at: NOW, reason: '', limits, headSha: ref().headSha };
    const approved = { observed: { mergeHold, policy: asks }, memory: { approval } };
    expect(decideOpenAt(NOW, approved)[1]).toMatchObject({ kind: 'merge' });
  });

  it('is no longer held by a rest that an operator has skipped since, which the gate reads in the Lease', () => {
    const mergeHold = { reason: 'CoolingDown', until: NOW + HOUR, detail: 'it rests', isUnattended: true } as const;
    const memory = { cooldownSkippedAt: NOW };
    const observed = { mergeHold };
    const skipped = { kind: 'revise', phase: 'AwaitingMerge', decision: { cooldownSkippedAt: NOW } };
    expect(decideOpenAt(NOW, { observed, memory })[1]).toMatchObject(skipped);
    const before = { cooldownSkippedAt: NOW - HOUR };
    expect(decideOpenAt(NOW, { observed, memory, decision: before })[1]).toMatchObject(skipped);
    const joinedTo = { namespace: 'team-b', quota: 'compute', decision: 'd' };
    const shared = { mergeHold, sharing: { kind: 'joined', isJoined: true } } as const;
    const [, verdict] = decideOpenAt(NOW, { observed: shared, memory, decision: { pullRequest: ref({ joinedTo }) } });
    expect(verdict, 'in a shared one').toMatchObject(skipped);
    const verified = policy({}, { guardrails: [{ ...BUILT_IN_GUARDRAIL, approvalBy: 'verified' }] });
    const claimed = decideOpenAt(NOW, { observed: { mergeHold, policy: verified }, memory })[1];
    expect(claimed, 'by a claimed name').toMatchObject({ kind: 'hold', reason: 'CoolingDown' });
    // The gate has read it, and holds it for something else.
    const held = { kind: 'hold', reason: 'CoolingDown' };
    expect(decideOpenAt(NOW, { observed, memory, decision: memory })[1]).toMatchObject(held);
    const grown = { observed: { demand: [demand({ 'requests.cpu': '3' })] }, memory, decision: before };
    expect(decideOpenAt(NOW, grown)[1]).toMatchObject({ kind: 'rebuild', decision: { cooldownSkippedAt: NOW } });
  });

  it('that raises more than was needed is closed after 10 min, so that what is needed can be proposed', () => {
    const mergeHold = { reason: 'MoreThanNeeded', until: null, detail: 'too much', isUnattended: true } as const;
    const at = (now: number, demandGoneSince: number | null, observed: Partial<QuotaObservation> = { mergeHold }) =>
      decideOpenAt(now, { observed, memory: { demandGoneSince } });
    const [first, told] = at(NOW, null);
    expect(told).toMatchObject({ kind: 'hold', reason: 'MoreThanNeeded', wait: { until: NOW + 10 * MINUTE } });
    expect(first.state).toMatchObject({ demandGoneSince: NOW });
    expect(at(NOW, NOW - 10 * MINUTE + 1)[1]).toMatchObject({ kind: 'hold', wait: { until: NOW + 1 } });
    expect(at(NOW, NOW - 10 * MINUTE)[1]).toMatchObject({ kind: 'close', reason: 'DemandGone', rejection: null });
    const [again, merged] = at(NOW, NOW - 10 * MINUTE, {});
    expect([merged.kind, again.state]).toMatchObject(['merge', { demandGoneSince: null }]);
    // What approval is needed for, people decide.
    const asks = { mergeHold, policy: policy({ approval: 'before-merge' }) };
    expect(at(NOW, NOW - 10 * MINUTE, asks)[1].kind).not.toBe('close');
  });

  it('an update that was never made leaves the decision as it was', () => {
    const [carried, verdict] = decideOpenAt(NOW, { observed: { demand: [demand({ 'requests.cpu': '3' })] } });
    expect(verdict.kind).toBe('rebuild');
    expect(decisionOf(carried)?.changes).toEqual([change()]);
  });

  it('at a head of ours that is not the recorded one is made sure of, never merged on its checks', () => {
    expect(decideOpenAt(NOW, { pull: { headSha: 'ffff' } })[1]).toMatchObject({ kind: 'rebuild', reason: 'HeadMoved' });
  });

  it('of which GitHub may still show the head before the last push is waited for, for 10 s', () => {
    const pushed = (ago: number) =>
      decideOpenAt(NOW, { pull: { headSha: 'ffff' }, decision: { pullRequest: ref({ pushedAt: NOW - ago }) } })[1];
    expect(pushed(10 * SECOND - 1)).toMatchObject({
      kind: 'hold',
      reason: 'MergeabilityComputing',
      wait: { until: NOW + 1 },
    });
    expect(pushed(10 * SECOND)).toMatchObject({ kind: 'rebuild', reason: 'HeadMoved' });
  });

  it('that is behind is rebuilt when its checks have ended, or an update is due; a conflict at once', () => {
    const running = { total: 2, pending: ['build'], failing: [] };
    const verdict = (pull: Partial<PullRequestObservation>, ago: number) =>
      decideOpenAt(NOW, { pull, decision: { pullRequest: ref({ pushedAt: NOW - ago }) } })[1];
    const behind = { mergeability: 'behind' } as const;
    expect(verdict({ ...behind, checks: running }, 10 * MINUTE - 1)).toMatchObject({
      kind: 'hold',
      reason: 'Behind',
      wait: { until: NOW + 1 },
    });
    expect(verdict({ ...behind, checks: running }, 10 * MINUTE)).toMatchObject({ kind: 'rebuild', reason: 'Behind' });
    expect(verdict(behind, MINUTE)).toMatchObject({ kind: 'rebuild', reason: 'Behind' });
    expect(verdict({ mergeability: 'conflict', checks: running }, MINUTE)).toMatchObject({
      kind: 'rebuild',
      reason: 'Conflict',
    });
  });

  it('is not merged where somebody else took the Lease, and takes an unlocked one again', () => {
    const taken = lease({ holder: 'somebody', decision: openDecision() });
    expect(decideOpenAt(NOW, { observed: { lease: taken } })[1]).toMatchObject({
      kind: 'hold',
      reason: 'LeaseHeld',
      wait: { watch: 'pullRequest' },
    });
    const abandoned = lease({ holder: 'pr-3', holderIsAbandoned: true, decision: openDecision() });
    expect(decideOpenAt(NOW, { observed: { lease: abandoned } })[1].kind).toBe('merge');
    expect(decideOpenAt(NOW, { observed: { lease: lease() } })[1]).toMatchObject({
      kind: 'open',
      reason: 'Adopted',
      detail: expect.stringContaining('the Lease state-team-a-compute is unlocked'),
    });
  });

  it('every wait for it observes again from time to time and keeps pressure quiet for a minute', () => {
    const waits = [
      decideOpenAt(NOW, { pull: { headIsOurs: false } }),
      decideOpenAt(NOW, { observed: { policy: observe } }),
      decideOpenAt(NOW, { observed: { policy: policy({}, { autoMerge: false }) } }),
      decideOpenAt(NOW, { pull: { mergeability: 'computing' } }),
      decideOpenAt(NOW, { pull: { mergeability: 'blocked' } }),
      decideOpenAt(NOW, { observed: { policy: policy({ 'max-step': '1' }) } }),
      decideOpenAt(NOW, { observed: { quota: cpu('7') } }),
    ].map(([, verdict]) => (verdict.kind === 'hold' ? verdict.wait : verdict.kind));
    for (const wait of waits) {
      expect(wait).toEqual({ watch: 'pullRequest', until: NOW + 10 * MINUTE, quietUntil: NOW + MINUTE });
    }
  });

  it('a wait never ends before it began, whatever the timings', () => {
    const nothing = { ...timings, needGone: 10, updateInterval: 10 };
    const [, verdict] = decideOpenAt(NOW, { observed: { timings: nothing }, pull: { mergeability: 'computing' } });
    expect(verdict).toMatchObject({ wait: { until: NOW + SECOND, quietUntil: NOW + 10 } });
  });
});

describe('merging', () => {
  it('the global flag outranks an approval, and so does the namespace', () => {
    const approval = { ...learntFrom, limits: { 'requests.cpu': '12' }, headSha: HEAD };
    const off = { policy: policy({ 'max-step': '1' }, { autoMerge: false }) };
    expect(decideOpenAt(NOW, { observed: off, memory: { approval } })[1].reason).toBe('AutoMergeOff');
    const namespaceOff = { policy: policy({ 'max-step': '1', 'auto-merge': 'false' }) };
    expect(decideOpenAt(NOW, { observed: namespaceOff, memory: { approval } })[1].reason).toBe('NamespaceAutoMergeOff');
    // No annotation switches on what is off globally.
    const on = { policy: policy({ 'auto-merge': 'true' }, { autoMerge: false }) };
    expect(decideOpenAt(NOW, { observed: on })[1].reason).toBe('AutoMergeOff');
  });

  it('a step above max-step waits for an approval of exactly its limits at exactly its head', () => {
    const observed = { policy: policy({ 'max-step': '1.1' }) };
    const withApproval = (limits: Record<string, string>, headSha: string) =>
      decideOpenAt(NOW, { observed, memory: { approval: { ...learntFrom, limits, headSha } } })[1].kind;
    expect(withApproval({ 'requests.cpu': '12000m' }, HEAD)).toBe('merge');
    expect(withApproval({ 'requests.cpu': '11' }, HEAD)).toBe('hold');
    expect(withApproval({ 'requests.cpu': '12' }, 'ffff')).toBe('hold');
    expect(withApproval({ 'requests.cpu': '12', pods: '1' }, HEAD)).toBe('hold');
  });

  it('the gate is the one of the policy now, not of when it was decided', () => {
    const approvalRequirement = { reason: 'MaxStepExceeded', message: 'too much' } as const;
    expect(decideOpenAt(NOW, { decision: { approvalRequirement } })[1].kind).toBe('merge');
    const [carried, verdict] = decideOpenAt(NOW, { observed: { policy: policy({ 'max-step': '1' }) } });
    expect(verdict.reason).toBe('MaxStepExceeded');
    // So that approve knows that there is something to approve.
    expect(decisionOf(carried)?.approvalRequirement?.reason).toBe('MaxStepExceeded');
  });

  it('that GitHub answers with "moved" is repeated with growing distance', () => {
    const seen = seenWith(openDecision(), pullRequest());
    let carried = memory();
    const merges: number[] = [];
    for (let at = NOW; at < NOW + 20 * SECOND; at += SECOND) {
      const [next, verdict] = decide(seen, carried, at);
      carried = next;
      if (verdict.kind === 'merge') merges.push((at - NOW) / SECOND);
      else expect(verdict).toMatchObject({ reason: 'ReadyToMerge', wait: { watch: 'pullRequest' } });
    }
    expect(merges).toEqual([0, 1, 3, 7, 15]);
  });

  it('that is blocked is tried again later, and the pull request is watched meanwhile', () => {
    const seen = seenWith(openDecision(), pullRequest());
    const [tried, verdict] = decide(seen, memory(), NOW);
    const block = { reason: 'MergeQueue', message: 'a merge queue', key: keyOf(verdict) } as const;
    const blocked = applyOutcome.blocked(tried, block, NOW);
    expect(decide(seen, blocked, NOW + 5 * MINUTE - 1)[1]).toMatchObject({
      phase: 'Blocked',
      reason: 'MergeQueue',
      wait: { watch: 'pullRequest', until: NOW + 5 * MINUTE },
    });
    expect(decide(seen, blocked, NOW + 5 * MINUTE)[1].kind).toBe('merge');
  });
});

describe('observe mode', () => {
  it('leaves an open pull request to people, whatever is so', () => {
    const observations = [{}, { quota: cpu('1') }, { demand: [demand({ 'requests.cpu': '20' })] }];
    for (const observed of observations) {
      for (const pull of [{}, { headSha: 'ffff' }, { mergeability: 'behind' }, { mergeability: 'conflict' }] as const) {
        for (const rejection of [null, learntFrom]) {
          const [, verdict] = decideOpenAt(NOW, {
            observed: { ...observed, policy: observe },
            pull,
            memory: { rejection, demandGoneSince: NOW - HOUR },
          });
          expect(verdict).toMatchObject({ kind: 'hold', reason: 'ObserverMode' });
        }
      }
    }
  });

  it('says that a rejected pull request has to be closed by people', () => {
    expect(decideOpenAt(NOW, { observed: { policy: observe }, memory: { rejection: learntFrom } })[1].detail).toContain(
      'ann rejected it, which is left to people',
    );
  });

  it('gives up a decision that has no pull request yet', () => {
    const [, verdict] = decide(seenWith(decision(), null, { policy: observe }), memory(), NOW);
    expect(verdict).toMatchObject({
      kind: 'release',
      reason: 'ObserverMode',
      detail: 'the mode is observe: decision 0a1b2c3d (requests.cpu 10 → 12) is given up before it has a pull request',
    });
  });

  it('does not close the pull request of an opted-out namespace, and does not delete branches', () => {
    const out = policy({ mode: 'observe', enabled: 'false' });
    expect(decideOpenAt(NOW, { observed: { policy: out } })[1]).toMatchObject({ kind: 'release', reason: 'OptedOut' });
    const closed = { state: 'closed', closedBy: 'ann' } as const;
    expect(decideOpenAt(NOW, { observed: { policy: observe }, pull: closed })[1]).toMatchObject({
      kind: 'closedByPerson',
      rejection: { by: 'ann' },
      deletesBranch: false,
    });
  });

  it('of a quota that is gone is what it said last', () => {
    // Without the annotations of a deleted namespace the mode falls back to the default.
    const gone = { namespace: 'gone', quota: null, policy: observe } as const;
    expect(decideOpenAt(NOW, { observed: gone, memory: { mode: 'propose' } })[1].kind).toBe('close');
    expect(decideOpenAt(NOW, { observed: gone, memory: { mode: 'observe' } })[1].kind).toBe('release');
    expect(decideOpenAt(NOW, { observed: gone })[1].kind).toBe('release');
    expect(decideOpenAt(NOW, { observed: { policy: observe } })[0].mode).toBe('observe');
  });
});

describe('a decision from the Lease after Terminate or Reset', () => {
  it('without a pull request is opened', () => {
    expect(decide(seenWith(decision(), null), memory(), NOW)).toMatchObject([
      { state: { kind: 'Locked', decision: { id: '0a1b2c3d' } } },
      { kind: 'open', decision: { id: '0a1b2c3d' } },
    ]);
  });

  it('with a pull request goes on with it', () => {
    const [carried, verdict] = decide(seenWith(openDecision(), pullRequest()), memory(), NOW);
    expect(decisionOf(carried)?.pullRequest?.number).toBe(7);
    expect(verdict).toMatchObject({ kind: 'merge', decision: { pullRequest: { headSha: HEAD } } });
  });

  it('says what keeps a merge from being attempted, until it is', () => {
    const why = 'pull request #7 was not merged, as its number of commits is 2, and not 1';
    const seen = seenWith(openDecision(), pullRequest());
    const [before] = decide(seen, memory(), NOW);
    const [after, held] = decide(seen, applyOutcome.withoutEffect(before, why), NOW);
    expect(held).toMatchObject({
      kind: 'hold',
      phase: 'Merging',
      detail: expect.stringContaining(`The last attempt had no effect: ${why}. Headroom tries again at`) as string,
    });
    const [again, merging] = decide(seen, after, NOW + MINUTE);
    expect(merging.kind).toBe('merge');
    expect(again.attempt).not.toHaveProperty('why');
  });

  it('tells people when the gate refuses a merge again, once for each reason and ten times an hour', () => {
    const seen = seenWith(openDecision(), pullRequest());
    const refusals = (whyAt: (pass: number) => string): readonly string[] => {
      let [now, current] = [NOW, memory()];
      const told: string[] = [];
      let tries = 0;
      for (let pass = 0; now < NOW + HOUR; pass += 1) {
        const [next, verdict] = decide(seen, current, now);
        if (verdict.kind === 'merge') {
          current = applyOutcome.withoutEffect(next, whyAt(pass));
          tries += 1;
        } else if (verdict.kind === 'notify') {
          told.push(verdict.event.message);
          expect(verdict).toMatchObject({ event: { reason: 'QuotaResizeHeld' }, comment: null });
          current = applyOutcome.emitted(next, verdict.about);
        } else current = next;
        now += verdict.kind === 'hold' ? Math.max(1, (verdict.wait.until ?? now) - now) : 1;
      }
      // After 1, 2, 4 and more seconds, and every ten minutes in the end: to tell of it is no reason to try it again.
      expect(tries).toBe(15);
      return told;
    };
    const once = refusals((pass) => `nothing in the cluster needs it since ${pass} s`);
    expect(once).toHaveLength(1);
    expect(once[0]).toMatch(
      /is ready, and the last check before its merge refuses it: nothing in the cluster needs it/,
    );
    expect(refusals((pass) => `the reason is ${'x'.repeat(pass)}`)).toHaveLength(10);
    const seenOnce = decide(seen, memory(), NOW)[0];
    const [, held] = decide(seen, applyOutcome.withoutEffect(seenOnce, 'it was paused'), NOW);
    expect(held.kind, 'what was refused once').toBe('hold');
  });

  it('that was merged awaits its sync, although the Lease is unlocked', () => {
    const unlocked = { lease: lease({ decision: mergedDecision(), lastModified: NOW - MINUTE }) };
    expect(idle(unlocked)[1].reason).toBe('SyncPending');
  });

  it('in the middle of an update is compared with GitHub before it goes on', () => {
    const halfway = openDecision({ pullRequest: ref({ headSha: '' }) });
    expect(decide(seenWith(halfway, pullRequest()), memory(), NOW)[1]).toMatchObject({
      kind: 'rebuild',
      reason: 'HeadMoved',
    });
  });

  it('whose Lease garbage collection unlocked locks it again before anything else', () => {
    const unlocked = { lease: lease({ decision: openDecision() }) };
    const seen = { observation: observation(unlocked), pullRequest: pullRequest() };
    expect(decide(seen, memory(), NOW)[1]).toMatchObject({ kind: 'open', decision: { id: '0a1b2c3d' } });
  });

  it('is left alone where somebody else holds the lock', () => {
    const [carried, verdict] = idle({ lease: lease({ holder: 'somebody', decision: openDecision() }) });
    expect(carried.state.kind).toBe('Idle');
    expect(verdict).toMatchObject({ kind: 'hold', reason: 'LeaseHeld', wait: { until: NOW + 5 * MINUTE } });
  });

  it('does not come back in the run that finished it', () => {
    const stale = { lease: lease({ decision: openDecision() }) };
    const finished = applyOutcome.closed(requireState(memory({ decision: openDecision() }), 'Open'), null);
    expect(idle(stale, finished)[0].state.kind).toBe('Idle');
  });

  it('of another quota of that name is closed, and then the new quota is observed', () => {
    const old = openDecision({ quotaUid: 'uid-0' });
    const [carried, verdict] = decide(seenWith(old, pullRequest()), memory({ quotaUid: null }), NOW);
    expect(verdict).toMatchObject({ kind: 'close', reason: 'QuotaReplaced', rejection: null });
    const after = { ...applyOutcome.closed(requireState(carried, 'Open'), null), demand: settledNeed };
    expect(idle({}, after)[1].kind).toBe('propose');
  });
});

describe('a decision without a pull request', () => {
  const at = (now: number, observed: Parameters<typeof observation>[0] = {}, remembered: Remembered = {}) =>
    decide(seenWith(decision(), null, observed), memory({ decision: decision(), ...remembered }), now);

  it('is opened, with the reason of its requirement', () => {
    expect(at(NOW)[1]).toMatchObject({ kind: 'open', reason: 'ThresholdReached' });
    const demanded = decision({ evidence: ['ReplicaSet web misses 2 replicas'] });
    expect(decide(seenWith(demanded, null), memory({ decision: demanded }), NOW)[1].reason).toBe('UnmetDemand');
  });

  it('is not opened when the demand has gone, and given up when it stays gone', () => {
    const [carried, verdict] = at(NOW, { quota: cpu('7') });
    expect(verdict).toMatchObject({
      kind: 'hold',
      reason: 'DemandGone',
      phase: 'OpeningPullRequest',
      detail:
        'the demand has been gone since 2026-11-20T10:00:00Z, decision 0a1b2c3d (requests.cpu 10 → 12) is given up at 2026-11-20T10:10:00Z unless it comes back',
    });
    expect(at(NOW + 10 * MINUTE, { quota: cpu('7') }, carried)[1]).toMatchObject({
      kind: 'close',
      reason: 'DemandGone',
      rejection: null,
      decision: { pullRequest: null },
    });
  });

  it('is given up although it is blocked, also where only a message told of the demand', () => {
    const held = decision({ demandByMessage: true });
    const seen = seenWith(held, null);
    const [tried, verdict] = decide(seen, memory({ decision: held }), NOW);
    const blocked = applyOutcome.blocked(
      tried,
      { reason: 'FileNotFound', message: 'no file', key: keyOf(verdict) },
      NOW,
    );
    const [resting, hold] = decide(seen, blocked, NOW + MINUTE);
    expect(hold).toMatchObject({ phase: 'Blocked', reason: 'FileNotFound', wait: { until: NOW + 5 * MINUTE } });
    const gone = seenWith(held, null, { quota: cpu('7') });
    const [waiting] = decide(gone, resting, NOW + 2 * MINUTE);
    expect(decide(gone, waiting, NOW + 12 * MINUTE)[1]).toMatchObject({ kind: 'close', reason: 'DemandGone' });
  });

  it('that was outgrown takes the greater values before it is opened', () => {
    expect(at(NOW, { demand: [demand({ 'requests.cpu': '3' })] })[1]).toMatchObject({
      kind: 'rebuild',
      reason: 'DemandGrew',
      decision: { pullRequest: null, changes: [{ to: '15100m' }] },
    });
  });

  it('waits where somebody else took its Lease, and takes an unlocked one again by opening', () => {
    expect(at(NOW, { lease: lease({ holder: 'somebody' }) })[1]).toMatchObject({ kind: 'hold', reason: 'LeaseHeld' });
    expect(at(NOW, { lease: lease() })[1].kind).toBe('open');
  });
});

describe('a block', () => {
  function blockedProposal(): ResizeMemory {
    const [tried, verdict] = idle();
    return applyOutcome.blocked(tried, { reason: 'FileNotFound', message: 'no file', key: keyOf(verdict) }, NOW);
  }

  it('rests until it is due, and pressure may wake it every minute', () => {
    expect(idle({}, blockedProposal(), NOW + MINUTE)[1]).toMatchObject({
      phase: 'Blocked',
      wait: { until: NOW + 5 * MINUTE, quietUntil: NOW + 2 * MINUTE },
    });
    expect(idle({}, blockedProposal(), NOW + 5 * MINUTE)[1].kind).toBe('propose');
  });

  it('ends at once when the path in Git or the values change', () => {
    const elsewhere = { policy: policy({ 'git-path': 'teams/a' }) };
    expect(idle(elsewhere, blockedProposal(), NOW + SECOND)[1].kind).toBe('propose');
    const steady = { ...settledNeed, digest: 'requests.cpu=14400m' };
    const more = { demand: [demand({ 'requests.cpu': '3' })] };
    expect(idle(more, { ...blockedProposal(), demand: steady }, NOW + SECOND)[1].kind).toBe('propose');
  });

  it('is no way to write an Event at each look: of the paths of one hour, ten are looked for at once', () => {
    let remembered = memory();
    const looked: number[] = [];
    for (let now = NOW; now < NOW + HOUR; now += 30 * SECOND) {
      const elsewhere = { policy: policy({ 'git-path': `teams/${now}` }), lastDenied: now };
      const [tried, verdict] = idle(elsewhere, remembered, now);
      remembered = tried;
      if (verdict.kind !== 'propose') continue;
      looked.push(now);
      const block = { reason: 'FileNotFound', message: 'no file', key: keyOf(verdict) } as const;
      remembered = applyOutcome.blocked(tried, block, now);
    }
    // The first one, ten others, and then one each five minutes.
    const after = looked.map((at) => at - (looked[0] ?? 0));
    expect(after.slice(0, 12)).toEqual([...Array.from({ length: 11 }, (_, n) => n * 30 * SECOND), 10 * MINUTE]);
    expect(looked).toHaveLength(11 + 10);
  });

  it('of a pull request that cannot be opened ends at once when the path changes', () => {
    const [tried, verdict] = decide(seenWith(decision(), null), memory({ decision: decision() }), NOW);
    const block = { reason: 'FileNotFound', message: 'no file', key: keyOf(verdict) } as const;
    const blocked = applyOutcome.blocked(tried, block, NOW);
    const later = (observed = {}) => decide(seenWith(decision(), null, observed), blocked, NOW + SECOND)[1].kind;
    expect(later()).toBe('hold');
    expect(later({ policy: policy({ 'git-path': 'teams/a' }) })).toBe('open');
  });

  it('keeps an act that GitHub refuses from being repeated at once, also a close and a warning', () => {
    const cases = [
      [seenWith(openDecision(), pullRequest(), { policy: optedOut }), {}],
      [seenWith(openDecision(), pullRequest({ state: 'closed' })), {}],
      [seenWith(openDecision(), pullRequest({ mergeability: 'conflict' })), {}],
      [seenWith(mergedDecision({ at: NOW - HOUR }), null), {}],
      [seenWith(openDecision(), pullRequest()), { rejection: learntFrom, decision: openDecision() }],
    ] as const;
    for (const [seen, remembered] of cases) {
      const [tried, verdict] = decide(seen, memory(remembered), NOW);
      const block = { reason: 'ForgeRejected', message: 'not allowed', key: keyOf(verdict) } as const;
      expect(decide(seen, applyOutcome.blocked(tried, block, NOW), NOW + SECOND)[1]).toMatchObject({
        kind: 'hold',
        reason: 'ForgeRejected',
      });
    }
  });
});

describe('the Lease of others', () => {
  it('is respected, and the lock of an earlier tool is taken over once its pull request is closed', () => {
    expect(idle({ lease: lease({ holder: 'pr-12' }) })[1]).toMatchObject({ kind: 'hold', reason: 'LeaseHeld' });
    expect(idle({ lease: lease({ holder: 'pr-12', holderIsAbandoned: true }) })[1].kind).toBe('propose');
  });

  it.each([null, 'headroom/12345678', 'pr-12'])('with a decision that cannot be read is held: %s', (holder) => {
    const held = { holder, holderIsAbandoned: holder === 'pr-12', hasUnreadDecision: true };
    expect(idle({ lease: lease(held) })[1]).toMatchObject({ kind: 'hold', phase: 'Blocked', reason: 'LeaseHeld' });
    const taken = { lease: lease(held) };
    expect(decideOpenAt(NOW, { observed: taken })[1]).toMatchObject({ kind: 'hold', reason: 'LeaseHeld' });
  });

  it('is not theirs where only the text of the decision in hand cannot be read', () => {
    const ours = { lease: lease({ holder: 'headroom/0a1b2c3d', hasUnreadDecision: true }) };
    expect(decideOpenAt(NOW, { observed: ours })[1].kind).toBe('merge');
  });
});

describe('awaiting the sync', () => {
  const sync = (at: number, remembered: Remembered = {}, hard = '10') => {
    const merged = mergedDecision({ at: NOW });
    const observed = { quota: cpu('9', hard) };
    return decide(seenWith(merged, null, observed), memory({ decision: merged, ...remembered }), at);
  };

  it('nothing wakes it before it is overdue but the cluster', () => {
    expect(sync(NOW)[1]).toMatchObject({
      reason: 'SyncPending',
      wait: { watch: 'sync', until: NOW + 20 * MINUTE, quietUntil: NOW + 20 * MINUTE },
    });
  });

  it('awaits what was decided where a Lease has no merged limits, and never takes nothing for everything', () => {
    for (const limits of [{}, { pods: '1' }]) {
      const merged = mergedDecision({ at: NOW, limits });
      const at = (hard: string) =>
        decide(
          seenWith(merged, null, { quota: { ...cpu('9', hard), hard: { 'requests.cpu': hard, pods: '1' } } }),
          memory({ decision: merged }),
          NOW,
        )[1];
      expect(at('10')).toMatchObject({
        reason: 'SyncPending',
        detail: expect.stringContaining('requests.cpu is 10 and becomes 12') as string,
      });
      expect(at('12').kind).toBe('synced');
    }
  });

  it('warns once when it is overdue, and reads Git again from time to time', () => {
    const overdue = NOW + 20 * MINUTE;
    const [first, warned] = sync(overdue);
    expect(warned).toMatchObject({ kind: 'warnSync', warn: true });
    const checked = applyOutcome.syncChecked(requireState(first, 'Merged'), null, overdue);
    const [resting, hold] = sync(overdue + SECOND, checked);
    expect(hold).toMatchObject({
      kind: 'hold',
      reason: 'SyncOverdue',
      wait: { watch: 'sync', until: overdue + 5 * MINUTE },
    });
    expect(sync(overdue + 5 * MINUTE, resting)[1]).toMatchObject({ kind: 'warnSync', warn: false });
  });

  it('of a batched quota is awaited after its own, and warned about once, by name', () => {
    const gpu = {
      quota: 'gpu',
      quotaUid: 'uid-gpu',
      changes: [change({ resource: 'pods', from: '5', to: '6' })],
      approvalRequirement: null,
      candidates: [],
    };
    const merged = mergedDecision({ at: NOW, isOwn: true }, { batchedQuotas: [gpu] });
    const at = (now: number, pods: string, remembered = memory({ decision: merged }), changed = {}) => {
      const batched = [{ quota: 'gpu', uid: 'uid-gpu', hard: { pods }, ...changed }];
      return decide(seenWith(merged, null, { quota: cpu('9', '12'), batched }), remembered, now);
    };
    expect(at(NOW, '5')[1]).toMatchObject({
      kind: 'hold',
      reason: 'SyncPending',
      detail: 'waiting for the cluster to follow Git since 2026-11-20T10:00:00Z: quota gpu: pods is 5 and becomes 6',
      wait: { watch: 'sync', syncOf: { quota: 'gpu', quotaUid: 'uid-gpu', limits: { pods: '6' } } },
    });
    expect(at(NOW, '6')[1].kind).toBe('synced');
    expect(at(NOW, '5', undefined, { uid: 'another' })[1].kind).toBe('synced');
    // What people merged may be another value.
    const byPerson = mergedDecision({ at: NOW, isOwn: false }, { batchedQuotas: [gpu] });
    const batched = [{ quota: 'gpu', uid: 'uid-gpu', hard: { pods: '5' } }];
    const seen = seenWith(byPerson, null, { quota: cpu('9', '12'), batched });
    expect(decide(seen, memory({ decision: byPerson }), NOW)[1].kind).toBe('synced');

    const overdue = NOW + 20 * MINUTE;
    const [tried, warned] = at(overdue, '5');
    expect(warned).toMatchObject({
      kind: 'warnSync',
      warn: true,
      detail: expect.stringContaining('quota gpu: pods is 5 and becomes 6') as string,
    });
    // The quota itself rests from here on: it is no trouble of its own.
    const checked = applyOutcome.syncChecked(requireState(tried, 'Merged'), null, overdue);
    expect(at(overdue + SECOND, '5', checked)[1].kind).toBe('synced');
  });

  it('ends when Git was changed back, and when the cluster has at least what was merged', () => {
    const overdue = NOW + 20 * MINUTE;
    const reverted = applyOutcome.syncChecked(
      requireState(sync(overdue)[0], 'Merged'),
      { 'requests.cpu': '10' },
      overdue,
    );
    const seen = { observation: observation({ quota: cpu('9') }), pullRequest: null };
    expect(decide(seen, reverted, overdue)[1]).toMatchObject({ kind: 'synced', reason: 'Synced' });
    expect(sync(NOW, {}, '12000m')[1].reason).toBe('Synced');
    expect(sync(NOW, {}, '13')[1].reason).toBe('Synced');
  });

  it('opens nothing new meanwhile, whatever is missing', () => {
    const merged = mergedDecision({ at: NOW - HOUR });
    const observed = { demand: [demand({ 'requests.cpu': '50' })] };
    const checked = { overdue: { warnedAt: NOW, checkedAt: NOW } };
    expect(decide(seenWith(merged, null, observed), memory({ decision: merged, ...checked }), NOW)[1].kind).toBe(
      'hold',
    );
  });

  it('a limit that the cluster does not have at all is missing', () => {
    expect(isSynced({ pods: '5' }, { pods: '5', 'requests.cpu': '1' })).toBe(false);
    const merged = mergedDecision({ limits: { pods: '5' } });
    expect(decide(seenWith(merged, null), memory(), NOW)[1].detail).toContain('pods is absent and becomes 5');
  });
});

describe('a requirement that changes after it was acted on', () => {
  it('has to stand still again', () => {
    const [carried] = idle({ lease: lease({ holder: 'somebody' }) });
    const later = { demand: [demand({ 'requests.cpu': '3' })] };
    expect(idle(later, carried, NOW + HOUR)[1].kind).toBe('propose');
    expect(idle(later, carried, NOW + SECOND)[1].reason).toBe('DemandDebouncing');
  });
});

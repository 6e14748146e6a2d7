/** Whether what the ladder asks for may be tried now, or was tried a moment ago and has to rest. */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { isUnmerged, type ResizeMemory, type ResizeState } from '../model/memory.ts';
import { needDigest } from '../sizing/requirement.ts';
import type { PullRequestObservation, QuotaObservation } from '../model/observation.ts';
import type { ResizePolicy } from '../policy/policy.ts';
import type { Plan, Verdict, Wait } from '../model/verdict.ts';
import { lookAgainAt, quietUntil } from './wait.ts';

type Deed = Exclude<Plan, { kind: 'hold' } | { kind: 'end' }>;

/** The first repetition of an act that left no trace waits this long, each further one twice as long. */
const FIRST_REPEAT_MS = 1_000;

/**
 * Turns a plan into a verdict. An act that was blocked rests until it is due again; with another path or other values it
 * is another act. One that had no outcome (interrupted, or the forge had moved on) is repeated with growing distance, so that
 * no disagreement between what is seen and what is answered becomes a loop.
 */
export function attempt(
  look: QuotaObservation,
  pullRequest: PullRequestObservation | null,
  memory: ResizeMemory,
  plan: Plan,
  now: EpochMs,
): readonly [ResizeMemory, Verdict] {
  if (plan.kind === 'hold' || plan.kind === 'end') return [memory, plan];
  const key = keyOf(plan, look.policy);
  const resting = (until: EpochMs): Wait => {
    const watch = watchOf(plan, pullRequest);
    const lookAt =
      watch === undefined && memory.state.kind === 'Idle' ? until : Math.min(until, lookAgainAt(look.timings, now));
    return {
      until: lookAt,
      quietUntil: Math.min(lookAt, quietUntil(look.timings, now)),
      ...(watch === undefined ? {} : { watch }),
    };
  };

  const before = memory.attempt.kind !== 'none' && memory.attempt.key === key ? memory.attempt : null;
  if (before?.kind === 'blocked') {
    const dueAt = before.at + look.timings.holdRetry;
    if (now < dueAt) {
      const detail = `${before.message.replace(/\.$/, '')}; tried again at ${formatInstant(dueAt)}`;
      return [memory, { kind: 'hold', phase: 'Blocked', reason: before.reason, detail, wait: resting(dueAt) }];
    }
  }
  const tries = before?.kind === 'tried' ? before.count : 0;
  if (before?.kind === 'tried') {
    const repeatAt = before.at + spacing(before.count, look);
    if (now < repeatAt) {
      const { phase, reason } = plan;
      const detail = `${plan.detail}; the last attempt had no effect, tried again at ${formatInstant(repeatAt)}`;
      return [memory, { kind: 'hold', phase, reason, detail, wait: resting(repeatAt) }];
    }
  }
  return [
    { ...memory, attempt: { kind: 'tried', key, count: tries + 1, at: now }, state: closingFor(plan, memory.state) },
    { ...plan, blockedKey: key },
  ];
}

/** That the pull request is closed by Headroom is known before it is, or it would look like a person's rejection. */
function closingFor(plan: Deed, state: ResizeState): ResizeState {
  if (plan.kind !== 'close' || !isUnmerged(state)) return state;
  return { ...state, closing: { reason: plan.reason, detail: plan.detail } };
}

function spacing(count: number, look: QuotaObservation): number {
  // 2^20 seconds is far above any interval; more would only lose precision.
  const doubled = FIRST_REPEAT_MS * 2 ** Math.min(count - 1, 20);
  return Math.min(doubled, Math.max(FIRST_REPEAT_MS, look.timings.updateInterval));
}

/** What the act is about: the place in Git and the values, or the head that it needs. */
function keyOf(plan: Deed, policy: ResizePolicy): string {
  const path = JSON.stringify(policy.git);
  switch (plan.kind) {
    case 'recommend':
      return `recommend|${needDigest(plan.proposal)}`;
    case 'propose':
      return `propose|${path}|${needDigest(plan.proposal)}`;
    case 'open':
    case 'rebuild':
    case 'merge': {
      const head = plan.decision.pullRequest?.headSha ?? '';
      return `${plan.kind}|${plan.decision.id}|${head}|${path}|${needDigest(plan.decision)}`;
    }
    case 'say':
      return `say|${plan.about}`;
    case 'revise':
    case 'close':
    case 'release':
    case 'settle':
    case 'warnSync':
      return `${plan.kind}|${plan.decision.id}|${plan.reason}`;
  }
}

/** What to read on while the act rests: only what can still change by itself, or the watch would end at once. */
function watchOf(plan: Deed, pullRequest: PullRequestObservation | null): Wait['watch'] {
  if (plan.kind === 'warnSync') return 'sync';
  return pullRequest?.state === 'open' ? 'pullRequest' : undefined;
}

import { listText } from '../../kernel/sentence.ts';
import { formatInstant } from '../../kernel/time.ts';
import type { MemcachedObservation, Pending } from './observation.ts';
import { setBackWait } from '../plan/set-back.ts';
import { lackingSentence } from '../status/conditions.ts';
import type { MemcachedVerdict } from './verdict.ts';

/** What is remembered from pass to pass. */
export interface MemcachedMemory {
  /** How often in a row what was written was not there afterwards. */
  readonly setBacks: number;
}

export const freshMemory: MemcachedMemory = { setBacks: 0 };

/** How often it is checked whether another operator is still alive, in milliseconds. */
const OTHER_OPERATOR_MS = 30_000;

/**
 * The next step of an episode.
 *
 * @param isAfterWrite whether the observation was made right after everything was written: what is pending then was set back.
 */
export function decide(
  seen: MemcachedObservation,
  memory: MemcachedMemory,
  isAfterWrite: boolean,
): readonly [MemcachedMemory, MemcachedVerdict] {
  const facts = seen.notes;
  if (seen.memcached === null) {
    const detail = 'the Memcached is gone, and the cluster deletes what it owned';
    return [freshMemory, { kind: 'end', phase: 'Ended', reason: 'MemcachedGone', detail, facts }];
  }
  if (seen.pending.length > 0) return pendingVerdict(seen, memory, isAfterWrite);
  return [freshMemory, settledVerdict(seen)];
}

function pendingVerdict(
  { pending, notes: facts, at }: MemcachedObservation,
  { setBacks }: MemcachedMemory,
  isAfterWrite: boolean,
): readonly [MemcachedMemory, MemcachedVerdict] {
  const what = listText(pending.map(pendingText));
  if (!isAfterWrite) {
    const detail = `not as specified: ${what}`;
    return [{ setBacks }, { kind: 'ensure', phase: 'Reconciling', reason: 'NotAsSpecified', detail, facts }];
  }
  const until = at + setBackWait(setBacks);
  const detail = `it was written, but something set it back, such as an admission webhook or another controller: ${what}`;
  return [{ setBacks: setBacks + 1 }, { kind: 'wait', until, phase: 'Blocked', reason: 'SetBack', detail, facts }];
}

/** When nothing is left to write. */
function settledVerdict(seen: MemcachedObservation): MemcachedVerdict {
  const { problems, conflicts, missingSecrets, awaited, notes: facts, isSettled, progress } = seen;
  const { nextStep = null, lackingKeys = [], setBack = null } = seen;
  const moments = [nextStep, setBack?.until ?? null].filter((moment) => moment !== null);
  const next = moments.length === 0 ? null : Math.min(...moments);
  const wait = { kind: 'wait', until: next, facts } as const;
  if (problems.length > 0) return { ...wait, phase: 'Blocked', reason: 'Invalid', detail: problems.join('; ') };
  if (conflicts.length > 0) {
    const until = seen.isOtherOperatorAlive === true ? seen.at + OTHER_OPERATOR_MS : next;
    return { ...wait, until, phase: 'Blocked', reason: 'Conflict', detail: conflicts.join('; ') };
  }
  if (missingSecrets.length > 0) {
    const detail = `Referenced Secrets not found: ${missingSecrets.join(', ')}`;
    return { ...wait, phase: 'Blocked', reason: 'SecretNotFound', detail };
  }
  if (lackingKeys.length > 0) {
    return { ...wait, phase: 'Blocked', reason: 'SecretIncomplete', detail: lackingSentence(lackingKeys) };
  }
  if (awaited.length > 0) {
    return { ...wait, phase: 'Reconciling', reason: 'AwaitingDeletion', detail: awaited.join('; ') };
  }
  if (setBack !== null) {
    const detail = `something sets the ${setBack.child} back again and again, ${setBack.count} times in a row: it is written again at ${formatInstant(setBack.until)}`;
    return { ...wait, phase: 'Blocked', reason: 'SetBack', detail };
  }
  if (!isSettled) return { ...wait, phase: 'RollingOut', reason: 'RolloutInProgress', detail: progress };
  if (nextStep !== null) {
    const detail = `${progress}; the next pod goes at ${formatInstant(nextStep)}`;
    return { ...wait, phase: 'RollingOut', reason: 'SteppingDown', detail };
  }
  return { kind: 'end', phase: 'Ended', reason: 'AsSpecified', detail: progress, facts };
}

function pendingText({ act, child }: Pending): string {
  return child === null ? 'the status' : `${act} the ${child}`;
}

/** Operator commands for the workflow of a schedule. Pure, so that the update's validator can call it too. */
import { oneLine } from '../../kernel/sentence.ts';
import { DURATION_FORM, parseDuration } from '../../kernel/duration.ts';
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import { MOMENT_FORM, readMoment } from '../workload/annotations.ts';
import type { LightsOutMemory } from './memory.ts';
import type { LightsOutObservation } from './observation.ts';
import type { Override } from '../schedule/override.ts';

/** Besides `pause` and `resume`. */
export type CommandName = 'wake' | 'sleep' | 'cancel' | 'approve' | 'reconcileNow';

/** `memory` is null when the command is rejected; `message` is the answer to its sender. */
export interface CommandAnswer {
  readonly memory: LightsOutMemory | null;
  readonly message: string;
}

/** Longer than any holiday; for a longer time the schedule itself should be changed. */
const LONGEST_OVERRIDE_MS = 31 * 86_400_000;
const MAX_OVERRIDES = 100;
const MAX_TEXT = 300;

interface Read {
  readonly by: string;
  readonly reason: string;
  readonly namespace: string | null;
  readonly for: string;
  readonly until: string;
  readonly digest: string | null;
}

/** Applies a command to the memory. `seen` is the last observation, null before the first. */
export function applyCommand(
  name: CommandName,
  raw: unknown,
  { memory, seen, now }: { memory: LightsOutMemory; seen: LightsOutObservation | null; now: EpochMs },
): CommandAnswer {
  const input = readInput(raw);
  const reject = (message: string): CommandAnswer => ({ memory: null, message });
  switch (name) {
    case 'wake':
    case 'sleep':
      return override(name, input, { memory, seen, now });
    case 'cancel': {
      const { namespace } = input;
      const isMeant = (given: Override): boolean =>
        given.until > now && (namespace === null || given.namespace === namespace);
      const ended = memory.overrides.filter(isMeant);
      const remaining = memory.overrides.filter((given) => !isMeant(given));
      if (ended.length === 0) {
        return reject(
          `there is nothing to cancel${namespace === null ? '' : ` in ${namespace}`}: nobody woke it or put it to sleep by a command`,
        );
      }
      // Past wake overrides are remembered for the night: what people scaled up while awake was not against the
      // schedule.
      const woke = ended.filter((given) => given.kind === 'wake').map((given) => ({ ...given, until: now }));
      return {
        memory: { ...memory, overrides: [...remaining, ...woke] },
        message: `ended: ${ended.map(overrideSentence).join('; ')}`,
      };
    }
    case 'approve':
      return approve(input, { memory, seen, now });
    case 'reconcileNow':
      // Failed and contested workloads are tried at once too.
      return {
        memory: { ...memory, retry: null, contested: {} },
        message: `checking again now, as asked by ${input.by}`,
      };
  }
}

function approve(
  { by, digest }: Read,
  { memory, seen, now }: { memory: LightsOutMemory; seen: LightsOutObservation | null; now: EpochMs },
): CommandAnswer {
  const reject = (message: string): CommandAnswer => ({ memory: null, message });
  // Before the first observation it is unknown whether the schedule requires approval, and what is in its scope.
  if (seen !== null && seen.schedule?.spec?.requireApproval !== true)
    return reject('the schedule asks for no approval');
  const scope = seen?.plan?.scope;
  if (digest !== null && scope !== undefined && scope.digest !== digest) {
    return reject(
      `the digest of the ${scope.workloads} workloads in scope is ${scope.digest} by now, and not ${digest}: look at them again`,
    );
  }
  const { approved } = memory;
  const joined = seen?.plan?.leftAlone?.NotApproved ?? 0;
  if (approved?.digest !== undefined && seen !== null && joined === 0) {
    return reject(`already approved by ${approved.by}, and nothing has joined since`);
  }
  return { memory: { ...memory, approving: { by, at: now, digest } }, message: `approved by ${by}` };
}

function override(
  kind: 'wake' | 'sleep',
  { by, reason, namespace, for: span, until: moment }: Read,
  { memory, seen, now }: { memory: LightsOutMemory; seen: LightsOutObservation | null; now: EpochMs },
): CommandAnswer {
  const reject = (message: string): CommandAnswer => ({ memory: null, message });
  if ((span === '') === (moment === '')) {
    return reject(
      `${kind} needs either "for", such as {"for": "3h"}, or "until", such as {"until": "2026-12-24T18:00:00+01:00"}`,
    );
  }
  const until = span === '' ? readMoment(moment) : inA(span, now);
  if (until === null) {
    return span === ''
      ? reject(`"${moment}": expected ${MOMENT_FORM}`)
      : reject(`"${span}": expected ${DURATION_FORM}`);
  }
  if (until <= now) return reject(`${formatInstant(until)} is in the past`);
  if (until - now > LONGEST_OVERRIDE_MS) {
    return reject(`${formatSpan(until - now)} is longer than 31 d: change the schedule, or add an exception to it`);
  }
  const inScope = seen?.plan?.namespaces;
  if (namespace !== null && inScope !== undefined && !inScope.includes(namespace)) {
    return reject(`${namespace} is not in the scope of the schedule`);
  }
  const others = memory.overrides.filter((given) => given.until <= now || given.namespace !== namespace);
  if (others.length >= MAX_OVERRIDES)
    return reject(`the schedule has ${others.length} overrides already: cancel some first`);
  const added: Override = { kind, namespace, since: now, until, by, reason };
  return {
    memory: { ...memory, overrides: [...others, added] },
    message: `${overrideSentence(added)}${notYet(memory, seen)}`,
  };
}

/** Why the command has no effect yet, as the end of a sentence. */
function notYet(memory: LightsOutMemory, seen: LightsOutObservation | null): string {
  const spec = seen?.schedule?.spec;
  const reasons = [
    ...(seen?.schedule != null && spec == null ? ['the schedule is invalid'] : []),
    ...(spec?.suspend === true ? ['spec.suspend is true'] : []),
    ...(spec?.dryRun === true ? ['spec.dryRun is true'] : []),
    ...(spec?.requireApproval === true && memory.approved === null ? ['its first run is not approved'] : []),
  ];
  return reasons.length === 0 ? '' : `. Nothing happens for now, because ${reasons.join(', and ')}`;
}

/** `awake in team-a until 2026-11-22T21:00:00Z (by alice: release)`. */
export function overrideSentence({ kind, namespace, until, by, reason }: Override): string {
  const where = namespace === null ? '' : ` in ${namespace}`;
  const why = reason === '' ? '' : `: ${reason}`;
  return `${kind === 'wake' ? 'awake' : 'asleep'}${where} until ${formatInstant(until)} (by ${by}${why})`;
}

function inA(span: string, now: EpochMs): EpochMs | null {
  try {
    return now + parseDuration(span);
  } catch {
    return null;
  }
}

/** The input as people typed it: a field that is not text counts as missing. */
function readInput(raw: unknown): Read {
  const fields = typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
  const text = (value: unknown) => (typeof value === 'string' ? oneLine(value).slice(0, MAX_TEXT) : '');
  const by = text(typeof raw === 'string' ? raw : fields['by']);
  const namespace = text(fields['namespace']);
  const digest = text(fields['digest']);
  return {
    by: by === '' ? 'unknown' : by,
    reason: text(fields['reason']),
    namespace: namespace === '' ? null : namespace,
    for: text(fields['for']),
    until: text(fields['until']),
    digest: digest === '' ? null : digest,
  };
}

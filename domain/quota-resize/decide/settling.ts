/** Whether a demand has come to rest, so that a rollout is seen as a whole before a limit is decided. */
import { type EpochMs, formatSpan } from '../../kernel/time.ts';
import type { SteadyDemand } from '../model/memory.ts';
import type { QuotaObservation } from '../model/observation.ts';
import type { Proposal } from '../model/verdict.ts';
import { requirementDigest } from '../sizing/requirement.ts';

/**
 * How long no further workload may be refused once all that were refused are at rest. Admission and the controllers of
 * Kubernetes need some tens of milliseconds from a new Deployment to its refusal.
 */
const QUIET_MS = 400;

/** A rolling update that never settles must not delay the decision for ever: for so many times the longest settling. */
const LONGEST = 5;

/** A demand, and whether it is waited for. */
interface Settling {
  readonly demand: SteadyDemand;
  /** Whether it may be acted on. */
  readonly isDone: boolean;
  /** When it is to be observed again. */
  readonly nextAt: EpochMs;
  /** Until when a further refusal or more usage does not have it observed again. */
  readonly quietUntil: EpochMs;
  /** What Headroom waits for, from the verb on. */
  readonly waits: string;
}

/**
 * The demand as remembered from now on, and whether and until when it is waited for. Owners say themselves when they are done, which
 * is what is waited for where something was refused; where nobody can be asked, or only a threshold was reached, the
 * longest settling decides.
 *
 * @param wanted what would be proposed.
 */
export function settling(
  previous: SteadyDemand | null,
  observation: QuotaObservation,
  wanted: Proposal,
  now: EpochMs,
): Settling {
  const { demandSettle } = observation.timings;
  // What was refused since is in no observation yet.
  const readAt = now - (observation.demandAge ?? 0);
  const demand = steadyDemand(previous, { digest: requirementDigest(wanted), missing: missingOf(observation) }, readAt);
  const { unsettled = [] } = observation;
  const hasEvidence = wanted.unmetDemand && !wanted.demandByMessage;
  const quiet = Math.min(demandSettle, Math.max(QUIET_MS, 2 * (demand.gap ?? 0)));
  const [first] = unsettled;
  const isAtRest = hasEvidence && first === undefined;
  const latestAt = demand.firstSeen + LONGEST * demandSettle;
  const until = Math.min(latestAt, demand.since + (isAtRest ? quiet : demandSettle));
  // A demand has to be seen twice, however long an observation took.
  const isDone = now >= until && (demand === previous || readAt >= until || now >= latestAt);
  // An owner that goes on for long is looked at less often.
  const look = isAtRest ? QUIET_MS : Math.max(QUIET_MS, (now - demand.firstSeen) / 2);
  const quietUntil = Math.max(now, Math.min(until, now + look));
  // Nobody tells when an owner has come to rest.
  const nextAt = hasEvidence ? quietUntil : until;
  const longest = formatSpan(Math.max(0, until - now));
  const waits = isAtRest
    ? 'waits a moment for further refusals'
    : hasEvidence && first !== undefined
      ? `waits until ${first.kind} ${first.name} has created what it can, and ${longest} at most,`
      : `waits ${longest}`;
  return { demand, isDone, nextAt, quietUntil, waits };
}

/** The record of a demand that is acted on: from here on a different requirement counts as new and is waited for again. */
export function settledDemand({ digest, since }: SteadyDemand, now: EpochMs): SteadyDemand {
  return { digest, since, firstSeen: now };
}

/** The previous record if the demand is unchanged; otherwise one that begins now. */
function steadyDemand(
  previous: SteadyDemand | null,
  { digest, missing }: Required<Pick<SteadyDemand, 'digest' | 'missing'>>,
  now: EpochMs,
): SteadyDemand {
  if (previous === null) return { digest, since: now, firstSeen: now, missing };
  const before = previous.missing ?? missing;
  const isSame = previous.digest === digest && before.join() === missing.join();
  if (isSame) return previous;
  const isFurther = missing.length > before.length;
  const gap = isFurther ? Math.max(previous.gap ?? 0, now - previous.since) : previous.gap;
  return { digest, since: now, firstSeen: previous.firstSeen, missing, ...(gap === undefined ? {} : { gap }) };
}

/** `UID×2` for each workload, or the sum of many. */
function missingOf({ demand }: QuotaObservation): readonly string[] {
  return demand.map(({ workload: { kind, name, uid }, alike = 1, missing }) => {
    const who = uid === '' ? `${kind}/${name}` : uid;
    return alike > 1 ? `${alike} ${who}×${missing}` : `${who}×${missing}`;
  });
}

import type { EpochMs } from '../../kernel/time.ts';

/** No provider numbers a group so. */
export const UNKNOWN_GROUP = 0;

/** What is written down before the provider is asked for a machine. */
export interface CreationIntent {
  readonly askedAt: EpochMs;
  /** What all the machines that the provider listed before are recognised by. */
  readonly seenBefore: readonly string[];
  /** How many machines the provider counted in each of its groups before, by the group's number. */
  readonly nodesBefore: Readonly<Record<string, number>>;
  /** Of each machine that the provider listed before, by its identifier, the number of its group; `UNKNOWN_GROUP` where nobody knows. */
  readonly members: Readonly<Record<string, number>>;
}

/** What the provider tells after the request, compared with what was written down before it. */
export interface CreationEvidence {
  /** Identifiers of machines that it lists now, did not list before, and that no object has. */
  readonly fresh: readonly string[];
  /** By how many machines the group of the request has grown; those that went meanwhile are counted back in. */
  readonly own: number;
  /** By how many machines other groups have grown, at most. */
  readonly others: number;
}

export type CreationStep =
  /** What was asked for did not come, and will not. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'adopt'; readonly identifier: string }
  /** All that is new is in groups of others: it is written down as seen. */
  | { readonly kind: 'disown' }
  /** The request may still take effect, or what is new may still be told apart: list again until then. */
  | { readonly kind: 'wait'; readonly until: EpochMs }
  /** There are new machines, and the provider does not tell which of them the request has made. */
  | { readonly kind: 'unclear' };

/**
 * What to do about a machine whose identifier is not known, for a provider that takes no name or key with a request, and lists
 * machines without their groups. A new machine is adopted only where the counts of the groups prove that all that are new are in the
 * group of the request: of several, the first by identifier, the same one however often this is asked. It is right only while a
 * cluster has one such request in flight.
 *
 * @param settleMs - how long after a request its machine may still appear
 */
export function nextCreationStep(
  { askedAt }: Pick<CreationIntent, 'askedAt'>,
  { fresh, own, others }: CreationEvidence,
  settleMs: number,
  now: EpochMs,
): CreationStep {
  const [identifier] = fresh.toSorted();
  if (identifier !== undefined && others <= 0 && own >= fresh.length) return { kind: 'adopt', identifier };
  if (identifier !== undefined && own <= 0 && others === fresh.length) return { kind: 'disown' };
  const settled = askedAt + settleMs;
  if (now < settled) return { kind: 'wait', until: settled };
  return identifier === undefined && own <= 0 ? { kind: 'nothing' } : { kind: 'unclear' };
}

/**
 * By how much the groups of the provider have grown; machines that went meanwhile are counted back in.
 *
 * @param group - of the request
 * @param counted - how many machines the provider counts in each group now
 * @param listed - the identifiers that it lists, asked for after the counts: what is counted is listed then
 * @param claimed - how many machines are new and have an object already
 */
export function growthOf(
  { nodesBefore, members }: Pick<CreationIntent, 'nodesBefore' | 'members'>,
  group: number,
  counted: readonly { readonly id: number; readonly nodes: number }[],
  listed: ReadonlySet<string>,
  claimed: number,
): Pick<CreationEvidence, 'own' | 'others'> {
  const gone = Object.entries(members).flatMap(([identifier, of]) => (listed.has(identifier) ? [] : [of]));
  const goneOf = (id: number): number => gone.filter((of) => of === id).length;
  let own = goneOf(group) - claimed;
  // One that went may have made room for another one in whatever group it was.
  let others = goneOf(UNKNOWN_GROUP);
  for (const { id, nodes } of counted) {
    const grown = nodes - (nodesBefore[String(id)] ?? 0);
    if (id === group) own += grown;
    else others += Math.max(0, grown + goneOf(id));
  }
  return { own, others };
}

/**
 * Who acts on which plan. One Lease for the cluster holds the plan that was acted on last, and what was claimed of it: so two plans
 * that were made of the same state are not both carried out, and machines that are about to be created count before they exist.
 */
import { digestOf } from '../kernel/digest.ts';
import { isRecord } from '../kernel/record.ts';
import { type EpochMs, MINUTE_MS } from '../kernel/time.ts';
import { GROUP } from './api/names.ts';

/** The Lease, in the system namespace. */
export const PLAN_LEASE = 'node-group-plan';
/** Its annotation with `PlanClaims`, as JSON. */
export const PLAN_CLAIMS = `${GROUP}/plan-claims`;

/** For so long a claim counts, in milliseconds: machines as coming before their VPSieNodes exist, nodes as leaving before their marks. */
export const COUNTED_MS = 10 * MINUTE_MS;
/** For so long whoever has claimed may create them: much shorter, so that none is created that does not count any more. */
export const HELD_MS = 4 * MINUTE_MS;

/** The version of a plan, as it goes from whoever made it to whoever acts on it. */
export interface Fence {
  /** The resourceVersion of the Lease when the plan was made; empty where there was none. */
  readonly lease: string;
  /** The plan's own id. */
  readonly plan: string;
}

/** What a group creates, or drains. */
export interface PlanClaim {
  /** `<plan>/<group>`; of machines that replace others `<plan>/<group>/replacements`; of nodes that go `<plan>/<group>/removals`. */
  readonly decision: string;
  readonly group: string;
  readonly at: EpochMs;
  /** How many, by instance type. */
  readonly machines: Readonly<Record<string, number>>;
  /** Numbers of machines that were given up, so that they count no longer. */
  readonly givenUp: readonly number[];
  /** Nodes that are drained, or that the machines replace, by their UIDs; absent: none. */
  readonly removals?: readonly string[];
}

export interface PlanClaims {
  /** The plan that was acted on last; empty where none was. */
  readonly plan: string;
  readonly claims: readonly PlanClaim[];
}

export interface ClaimedMachine {
  readonly name: string;
  readonly instanceType: string;
}

export function formatFence({ lease, plan }: Fence): string {
  return JSON.stringify({ lease, plan });
}

/** @throws Error for what `formatFence` did not make. */
export function parseFence(text: string): Fence {
  const read: unknown = JSON.parse(text);
  if (!isRecord(read) || typeof read['lease'] !== 'string' || typeof read['plan'] !== 'string') {
    throw new Error(`not the version of a plan: ${text}`);
  }
  return { lease: read['lease'], plan: read['plan'] };
}

export function formatClaims(claims: PlanClaims): string {
  return JSON.stringify(claims);
}

/** Reads the annotation, which may be missing or somebody else's; never throws. */
export function parseClaims(text: string | undefined): PlanClaims {
  let read: unknown = null;
  try {
    read = JSON.parse(text ?? 'null');
  } catch {
    // An annotation that is no JSON counts as missing: the resourceVersion of the Lease still decides who acts.
  }
  if (!isRecord(read)) return { plan: '', claims: [] };
  const { plan, claims } = read;
  return {
    plan: typeof plan === 'string' ? plan : '',
    claims: Array.isArray(claims) ? claims.filter(isClaim) : [],
  };
}

function isClaim(value: unknown): value is PlanClaim {
  return (
    isRecord(value) &&
    typeof value['decision'] === 'string' &&
    typeof value['group'] === 'string' &&
    typeof value['at'] === 'number' &&
    isRecord(value['machines']) &&
    Object.values(value['machines']).every((count) => Number.isInteger(count)) &&
    Array.isArray(value['givenUp']) &&
    isListOfText(value['removals'] ?? [])
  );
}

function isListOfText(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

export function decisionOf(fence: Fence, group: string): string {
  return `${fence.plan}/${group}`;
}

/** The decision about replacements has an id of its own, because one plan may make machines for pods as well. */
export function replacementsOf(fence: Fence, group: string): string {
  return `${decisionOf(fence, group)}/replacements`;
}

/** The decision about removals has an id of its own, because one plan may make machines as well. */
export function removalsOf(fence: Fence, group: string): string {
  return `${decisionOf(fence, group)}/removals`;
}

/** Claims whose machines count. */
export function countedClaims({ claims }: PlanClaims, now: EpochMs): readonly PlanClaim[] {
  return claims.filter(({ at }) => now - at < COUNTED_MS);
}

/**
 * Whether nothing was written of claims since a plan was made, but what groups have claimed of this very plan: then the others may act
 * on it too. A machine that was given up is no longer what the plan counts on.
 */
export function isOnlyClaimed(fence: Fence, before: readonly PlanClaim[], { plan, claims }: PlanClaims): boolean {
  if (plan !== fence.plan) return false;
  const isOfPlan = ({ decision }: PlanClaim): boolean => decision.startsWith(`${fence.plan}/`);
  const others = claims.filter((claim) => !isOfPlan(claim));
  return (
    claims.every((claim) => !isOfPlan(claim) || claim.givenUp.length === 0) &&
    JSON.stringify(others) === JSON.stringify(before)
  );
}

/** Nodes that somebody has begun to drain, or is about to, by their UIDs. */
export function claimedRemovals(claims: readonly PlanClaim[]): readonly string[] {
  return claims.flatMap(({ removals = [] }) => removals);
}

/** Until when a claim may be acted on. */
export function heldUntil({ at }: Pick<PlanClaim, 'at'>): EpochMs {
  return at + HELD_MS;
}

export type Claimed =
  /** To be written: nobody has acted on another plan since the fence's was made. */
  | { readonly kind: 'new'; readonly claims: PlanClaims }
  /** It was written before, and machines may still be created for it. */
  | { readonly kind: 'held'; readonly claim: PlanClaim }
  /** It was written before, and no more machines may be created for it; or somebody acted on another plan. */
  | { readonly kind: 'over' };

/**
 * Decides about a claim of a plan. A plan is claimed once. An attempt that goes on much later creates nothing: the machines that it
 * would not find may have been created by the attempt before, and deleted since.
 *
 * @param present null where there is no Lease.
 */
export function withClaim(
  present: { readonly resourceVersion: string; readonly claims: PlanClaims } | null,
  fence: Fence,
  claim: PlanClaim,
): Claimed {
  const claims = present?.claims ?? { plan: '', claims: [] };
  const { at, decision } = claim;
  const own = claims.claims.find((other) => other.decision === decision);
  if (own !== undefined) return at < heldUntil(own) ? { kind: 'held', claim: own } : { kind: 'over' };
  const isOfPlan = (present?.resourceVersion ?? '') === fence.lease || claims.plan === fence.plan;
  if (!isOfPlan) return { kind: 'over' };
  return { kind: 'new', claims: { plan: fence.plan, claims: [...countedClaims(claims, at), claim] } };
}

/**
 * The Lease without machines that were given up; null where nothing of it counts. Nodes for which no machine comes any more stay, as
 * nothing is drained before its replacement is ready.
 */
export function withoutMachines(claims: PlanClaims, names: ReadonlySet<string>, now: EpochMs): PlanClaims | null {
  let isChanged = false;
  const left = countedClaims(claims, now).map((claim) => {
    const known = new Set(claim.givenUp);
    const more = machinesOf(claim).flatMap(({ name }, at) => (names.has(name) && !known.has(at) ? [at] : []));
    isChanged ||= more.length > 0;
    if (more.length === 0) return claim;
    const givenUp = [...claim.givenUp, ...more];
    const isOver = claim.removals !== undefined && givenUp.length === machinesOf(claim).length;
    return { ...claim, givenUp, ...(isOver ? { removals: [] } : {}) };
  });
  return isChanged ? { ...claims, claims: left } : null;
}

/** The Lease without a node that stays; null where nothing of it counts. */
export function withoutRemoval(claims: PlanClaims, uid: string, now: EpochMs): PlanClaims | null {
  const counted = countedClaims(claims, now);
  if (!claimedRemovals(counted).includes(uid)) return null;
  const left = counted.map((claim) =>
    claim.removals === undefined ? claim : { ...claim, removals: claim.removals.filter((one) => one !== uid) },
  );
  return { ...claims, claims: left };
}

/** The machines of a claim in their order, those that were given up included: always the same ones. */
export function machinesOf({
  decision,
  group,
  machines,
}: Omit<PlanClaim, 'at' | 'givenUp'>): readonly ClaimedMachine[] {
  const types = Object.keys(machines).toSorted();
  return types
    .flatMap((instanceType) => Array.from({ length: machines[instanceType] ?? 0 }, () => instanceType))
    .map((instanceType, at) => ({ name: machineName(group, decision, at), instanceType }));
}

/** The machines that were claimed and do not exist yet, though they will. */
export function upcomingMachines(
  claims: PlanClaims,
  existing: ReadonlySet<string>,
  now: EpochMs,
): readonly (ClaimedMachine & Pick<PlanClaim, 'group' | 'decision' | 'at'>)[] {
  return countedClaims(claims, now).flatMap((claim) => {
    const { group, decision, at, givenUp } = claim;
    const gone = new Set(givenUp);
    return machinesOf(claim)
      .filter(({ name }, number) => !gone.has(number) && !existing.has(name))
      .map((machine) => ({ ...machine, group, decision, at }));
  });
}

/** The longest name of a machine: it becomes a host's name and a label, of which Kubernetes takes 63 characters. */
const MAX_NAME = 63;
const HASH = 12;

function machineName(group: string, decision: string, at: number): string {
  const hash = digestOf(`${decision}\n${at}`, HASH);
  return `${group.slice(0, MAX_NAME - HASH - 1).replace(/[.-]+$/, '')}-${hash}`;
}

/** Whether one node could go by itself, and for which reason; budgets and the turn of the node are asked afterwards. */
import { type EpochMs, formatInstant, formatSpan } from '../../kernel/time.ts';
import type { Keep, Removal } from '../model/plan.ts';
import type { Pod } from '../model/pod.ts';
import { isCoolingDown } from '../rules/cooldown.ts';
import type { FitElsewhere } from '../scheduling/fit-elsewhere.ts';
import type { Misfit } from '../scheduling/misfit.ts';
import { fitElsewhere } from './evidence.ts';
import type { GroupCounts } from './group-counts.ts';
import type { Member } from './members.ts';
import { keptByHours, keptByPolicy } from './node-policy.ts';
import { countsOf, keptBySight, type Pass, repairOf } from './pass.ts';
import type { PodsOnNode } from './pod-safety.ts';
import { cheaperType } from './replacement.ts';
import { keptByLatest, keptByUtilization } from './utilization.ts';

export type Evaluation =
  | { readonly kind: 'keep'; readonly keep: Keep }
  | ({
      readonly kind: 'go';
      /** The instance type that must be ready first; null where the pods fit elsewhere already. */
      readonly replacement: string | null;
    } & Pick<Removal, 'reason' | 'detail'>);

/** The VPSie autoscaler's default, where a group says 0 (`DefaultScaleDownCooldown`), in milliseconds. */
const DEFAULT_COOLDOWN_MS = 600_000;
/** What the VPSie autoscaler calls affinity: rules that other pods or the labels of nodes decide. */
const AFFINITY: readonly Misfit[] = [
  'PodAffinity',
  'PodAntiAffinity',
  'ExistingAntiAffinity',
  'NamespaceUnknown',
  'TooManyTerms',
  'NodeSelector',
  'Spread',
];

/**
 * The checks in their order: what people said, utilization, the pods (PodDisruptionBudget, local storage, system pods, Kubernetes'
 * practice), affinity and free room elsewhere, the minimum, the cooldown, and how long it has been so. A node that could go stays out
 * of the packing, so that the next one is asked with this one gone.
 *
 * @param rest why the node is left alone for now, as its drain failed or was rejected; null where it is not.
 */
export function evaluate(pass: Pass, member: Member, rest: Keep | null): Evaluation {
  const { group, node, machine } = member;
  const { at } = pass;
  const counts = countsOf(pass, member);
  const isExcess = counts.excess > 0;
  const early =
    keptByPolicy(group, node, machine, at) ??
    keptByHours(group, node, at) ??
    rest ??
    unreadyFor(pass, member, isExcess) ??
    keptBySight(pass, member);
  if (early !== null) return kept(early);
  const steady = isExcess ? null : (pass.onTrial.get(machine.name) ?? pass.arrivals.keptByLoad(machine));
  if (steady !== null) return kept(steady);
  const sleep = isExcess ? null : sleepOf(pass, member);
  const busy = isExcess || sleep !== null ? null : usedNow(member, at);
  if (busy !== null && !group.scaleDown.consolidation) return kept(busy);
  const pods = sleep?.staying ?? member.pods;
  const unsafe = pass.safety.keptByPods(pods.evicted);
  if (unsafe !== null) return kept(busy ?? unsafe);
  if (busy !== null) return consolidated(pass, member, counts, busy);
  const mark = pass.packing.mark();
  const fit = fitElsewhere(pass, { node, pods });
  if (fit.kind === 'unfit') {
    const why = misfitting(fit);
    return sleep === null ? consolidated(pass, member, counts, why) : kept(why);
  }
  const since = unneededSince(pass, member, sleep !== null);
  const left = counts.left - Number(member.isReady);
  const atMinimum = tooFewLeft(counts, member, left);
  if (atMinimum !== null) {
    pass.packing.rollback(mark);
    return kept({
      reason: 'AtMinimum',
      detail: `${group.name} would have ${left} ready nodes, and ${atMinimum}`,
      until: null,
    });
  }
  counts.left = left;
  if (isExcess) counts.excess -= 1;
  if (sleep !== null) return kept(sleep.keep);
  const rested = coolingDown(counts, at);
  if (rested !== null) return kept(rested);
  return isExcess ? overprovisioned(counts) : unneeded(member, since, at);
}

/**
 * Pods that sleep within the hour go by themselves, and are not moved before. A node that is not needed without them is unneeded already, so
 * that it can be given back as soon as they are gone.
 */
function sleepOf(
  { going }: Pass,
  { pods: { evicted, goWithNode } }: Member,
): { readonly staying: PodsOnNode; readonly keep: Keep } | null {
  const moments = evicted.flatMap((pod) => going.get(pod.uid) ?? []);
  if (moments.length === 0) return null;
  const isGoing = ({ uid }: Pod): boolean => going.has(uid);
  const until = Math.max(...moments);
  const count = moments.length;
  const detail = `${podsText(count)} of it ${count === 1 ? 'goes' : 'go'} to sleep by ${formatInstant(until)}, and ${count === 1 ? 'is' : 'are'} not moved before`;
  return {
    staying: {
      evicted: evicted.filter((pod) => !isGoing(pod)),
      goWithNode: [...goWithNode, ...evicted.filter((pod) => isGoing(pod))],
    },
    keep: { reason: 'SleepsSoon', detail, until },
  };
}

/**
 * A node that was not needed without what slept is unneeded since then as soon as all of that is gone. Where it stays up after all, as somebody
 * works late, the time does not count.
 */
function unneededSince({ unneeded }: Pass, { node: { uid }, podCount }: Member, isOfSleep: boolean): EpochMs {
  const asleep = `${uid} asleep`;
  const isEmptied = podCount === 0 && unneeded.before(asleep) !== null;
  return unneeded.note(isOfSleep || isEmptied ? asleep : uid);
}

function kept(keep: Keep): Evaluation {
  return { kind: 'keep', keep };
}

/**
 * A node that has only just become not ready may come back; it is replaced when it does not. What runs on it runs on, so where there are too
 * many nodes it waits as well, as the one that is to go; an empty one has nothing to wait for.
 */
function unreadyFor(pass: Pass, member: Member, isExcess: boolean): Keep | null {
  const { unreadySince, podCount } = member;
  const repair = repairOf(pass, member);
  if (unreadySince === null || repair === null || (isExcess && podCount === 0)) return null;
  if (isExcess) countsOf(pass, member).excess -= 1;
  const { from: until, backAt } = repair;
  const others = backAt === null ? '' : `, and others came back at ${formatInstant(backAt)}`;
  const detail = `it has not been ready since ${formatInstant(unreadySince)}${others}; it is replaced from ${formatInstant(until)}`;
  return { reason: 'NotReadyLately', detail, until };
}

/** Nothing is measured on an empty node that would say more than that it is empty: without data it may go all the same. */
function usedNow({ podCount, samples, rule }: Member, at: EpochMs): Keep | null {
  return exceptEmpty(podCount, keptByLatest(samples, rule, at));
}

function exceptEmpty(podCount: number, keep: Keep | null): Keep | null {
  return podCount === 0 && keep?.reason === 'NoUtilization' ? null : keep;
}

function misfitting({ pod, why }: Extract<FitElsewhere, { kind: 'unfit' }>): Keep {
  const name = pod === null ? 'a pod that is to come to it' : `${pod.namespace}/${nameOf(pod)}`;
  const reason = AFFINITY.includes(why.by) ? 'Affinity' : 'PodsFitNowhere';
  return { reason, detail: `${name} fits no other node: ${why.detail}`, until: null };
}

function nameOf(pod: object): string {
  return 'name' in pod && typeof pod.name === 'string' ? pod.name : '';
}

/** What the ready nodes that would be left are too few for; null where they are enough. */
function tooFewLeft({ group, sight }: GroupCounts, { isReady }: Member, left: number): string | null {
  if (left < group.minNodes) return `its minimum is ${group.minNodes}`;
  // With fewer, the next plan would give nothing back.
  const { unready } = sight;
  return isReady && left < unready ? `${unready} that ${unready === 1 ? 'is' : 'are'} not ready` : null;
}

function coolingDown({ group, isGrowing }: GroupCounts, at: EpochMs): Keep | null {
  if (isGrowing) return { reason: 'Cooldown', detail: `${group.name} is asking for new nodes`, until: null };
  const last = Math.max(group.lastScaleUp ?? 0, group.lastScaleDown ?? 0);
  const cooldownMs = group.scaleDown.cooldownMs || DEFAULT_COOLDOWN_MS;
  if (!isCoolingDown(last === 0 ? null : last, cooldownMs, at)) return null;
  const until = last + cooldownMs;
  const what = last === group.lastScaleUp ? 'came' : 'went';
  const detail = `nodes of ${group.name} ${what} at ${formatInstant(last)}; it cools down until ${formatInstant(until)}`;
  return { reason: 'Cooldown', detail, until };
}

function overprovisioned({ group, roster }: GroupCounts): Evaluation {
  const wanted = Math.max(group.desiredNodes ?? 0, group.minNodes);
  const detail = `${group.name} has ${roster?.current ?? 0} nodes and wants ${wanted}`;
  return { kind: 'go', reason: 'Overprovisioned', detail, replacement: null };
}

function unneeded({ group, podCount, samples, rule }: Member, since: EpochMs, at: EpochMs): Evaluation {
  const keep =
    exceptEmpty(podCount, keptByUtilization(samples, rule, at)) ?? tooShort(since, group.scaleDown.stabilizationMs, at);
  if (keep !== null) return kept(keep);
  // A plan without any before it knows no moment but its own.
  const isNew = since === at;
  const from = `since ${formatInstant(since)}`;
  if (podCount === 0) {
    const detail = isNew ? 'no pod needs it now' : `no pod has needed it ${from}`;
    return { kind: 'go', reason: 'Empty', detail, replacement: null };
  }
  const elsewhere = `its ${podsText(podCount)} could be on other nodes ${isNew ? 'now' : from}`;
  return { kind: 'go', reason: 'Underutilized', detail: `it uses little, and ${elsewhere}`, replacement: null };
}

function podsText(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

function tooShort(since: EpochMs, stabilizationMs: number, at: EpochMs): Keep | null {
  const until = since + stabilizationMs;
  if (until <= at) return null;
  const detail =
    since === at
      ? `nothing needs it now; it may go when that has been so for ${formatSpan(stabilizationMs)}`
      : `it has been unneeded since ${formatInstant(since)}, and may go from ${formatInstant(until)}`;
  return { reason: 'NotUnneededLongEnough', detail, until };
}

/** A node that is needed may still be too dear; `otherwise` is why it stays where no cheaper type takes its pods. */
function consolidated(pass: Pass, member: Member, counts: GroupCounts, otherwise: Keep): Evaluation {
  const { group, node, podCount } = member;
  if (!group.scaleDown.consolidation || podCount === 0 || !member.isReady) return kept(otherwise);
  const cheaper = cheaperType(pass, member, counts);
  if (cheaper === null) return kept(otherwise);
  const since = pass.cheaper.note(node.uid);
  const keep = coolingDown(counts, pass.at) ?? tooShort(since, group.scaleDown.stabilizationMs, pass.at);
  if (keep !== null) return kept(keep);
  const detail =
    `${cheaper.id} for ${cheaper.price} an hour takes its ${podsText(podCount)}, ` +
    `which ${member.machine.instanceType} has for ${cheaper.before}`;
  return { kind: 'go', reason: 'Consolidation', detail, replacement: cheaper.id };
}

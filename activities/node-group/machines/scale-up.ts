import { ApplicationFailure } from '@temporalio/common';
import { formatInstant } from '../../../domain/kernel/time.ts';
import { machineBody } from '../../../domain/node-group/api/machine.ts';
import { GROUP_FINALIZER } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import type { NewNodes, ScaleUpReason } from '../../../domain/node-group/model/plan.ts';
import {
  decisionOf,
  HELD_MS,
  heldUntil,
  machinesOf,
  type PlanClaim,
  type PlanClaims,
  replacementsOf,
} from '../../../domain/node-group/plan-claim.ts';
import { pairReplacements } from '../../../domain/node-group/pair-replacements.ts';
import { raisedDesired, scaledAt, stayingMachines } from '../../../domain/node-group/rules/desired.ts';
import { despiteCancellation, interruption } from '../../kernel/cancellation.ts';
import { failure } from '../../kernel/failure.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { elapsed, notYet } from '../../kernel/not-yet.ts';
import { kubernetesFailure, statusCode } from '../../kubernetes/failure.ts';
import { newNodesText } from '../../../domain/node-group/decide/sentences.ts';
import { reportOnGroup } from '../group/group-event.ts';
import { findGroup, patchGroupFinalizers, patchGroupStatus, type SeenGroupObject } from '../group/group-objects.ts';
import type { CreatedMachine, ScaledUp, ScaleUpInput } from '../interface.ts';
import { claimPlan, OVER, strikeDespitePause, strikeMachines } from './claim-plan.ts';
import { machinesRefusal, nodesRefusal } from './claimable.ts';
import { fenceOf } from './fence.ts';
import { listAllMachines, listMachines, MACHINES } from './machine-objects.ts';
import { countDecision, countScaleUp } from './metrics.ts';
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import type { MachineOptions } from './options.ts';

/** How many objects are created at once. */
const AT_ONCE = 20;

/** See `NodeGroupActivities.ensureScaledUp`. */
export async function ensureScaledUp(options: MachineOptions, input: ScaleUpInput): Promise<ScaledUp> {
  const { target, newNodes, replaces } = input;
  const fence = fenceOf(input);
  const decision = (replaces === undefined ? decisionOf : replacementsOf)(fence, target.group);
  const machines = countsOf(newNodes);
  ensureSensible(machines);
  const nodes = replaces === undefined ? {} : { removals: replaces };
  const made = { decision, group: target.group, machines, givenUp: [], ...nodes };
  // A plan is not acted on for the first time long after it was made: what it made may have been there, and have gone.
  const isLate = elapsed() >= HELD_MS;
  const gone = `the NodeGroup ${target.group} creates no machines now: it is gone, being deleted, or observed only`;
  // Before the group: the size goes down before a machine does.
  const present = await listAllMachines(options.kubernetes, target.group);
  const group = creating(await findGroup(options.kubernetes, input));
  if (group === null) {
    // An earlier attempt may have claimed them.
    await strikeMissing(options, target, made);
    return superseded(gone);
  }
  const answer = isLate
    ? ({ claim: null, detail: OVER } as const)
    : await claimMade(options, input, { group, machines: present }, made);
  const { claim } = answer;
  if (claim === null) return await createdEarlier(options, input, made, answer.detail);
  // What was claimed counts as coming, so it is created also where the workflow asks for something else meanwhile.
  const isLast = interruption();
  const { scaledUp, created } = await despiteCancellation(
    async () => await orStruck(options, input, { claim, gone, isLast }),
  );
  count(target.group, created);
  return scaledUp;
}

/** What others claim waits for no list. */
async function claimMade(
  options: MachineOptions,
  input: ScaleUpInput,
  { group, machines }: { readonly group: NodeGroup; readonly machines: readonly DrivenMachine[] },
  made: Omit<PlanClaim, 'at'>,
): ReturnType<typeof claimPlan> {
  const { target, newNodes, replaces = [] } = input;
  const { kubernetes, clock } = options;
  const foreign = await nodesRefusal(kubernetes, group.name, replaces);
  const refusal = (claims: PlanClaims): string | null =>
    machinesRefusal(group, machines, { claims, now: clock.now() }, { wanted: made.machines, newNodes }) ?? foreign;
  return await claimPlan(options, target, fenceOf(input), made, refusal);
}

/**
 * Creates what was claimed. Where no attempt follows, because of a pause, a refusal or a cancellation, what was not created counts as
 * coming no longer.
 */
async function orStruck(
  options: MachineOptions,
  input: ScaleUpInput,
  { claim, gone, isLast }: { readonly claim: PlanClaim; readonly gone: string; readonly isLast: () => boolean },
): ReturnType<typeof carryOut> {
  try {
    return await carryOut(options, input, claim, gone);
  } catch (error) {
    const failed = kubernetesFailure(error);
    const isForGood = failed instanceof ApplicationFailure && failed.nonRetryable === true;
    if (isForGood || isLast()) await strikeMissing(options, input.target, claim);
    throw error;
  }
}

/** What was claimed and does not exist counts as coming no longer. */
async function strikeMissing(
  options: MachineOptions,
  target: NodeGroupTarget,
  claim: Omit<PlanClaim, 'at'>,
): Promise<void> {
  const existing = new Set((await listMachines(options.kubernetes, claim.group)).map(({ name }) => name));
  const missing = machinesOf(claim).flatMap(({ name }) => (existing.has(name) ? [] : [name]));
  await strikeDespitePause(options, target, new Set(missing));
}

/** Creates what was claimed. */
async function carryOut(
  options: MachineOptions,
  input: ScaleUpInput,
  claim: PlanClaim,
  gone: string,
): Promise<{ readonly scaledUp: ScaledUp; readonly created: readonly CreatedMachine[] }> {
  const { target, newNodes } = input;
  // Before the first machine: a group that nothing keeps could be gone before its machines are.
  const group = creating(
    await patchGroupFinalizers(options, input, ({ read, finalizers }) =>
      read.isDeleting || finalizers.includes(GROUP_FINALIZER) ? null : [...finalizers, GROUP_FINALIZER],
    ),
  );
  if (group === null) {
    await strikeMachines(options, target, new Set(machinesOf(claim).map(({ name }) => name)));
    return { scaledUp: superseded(gone), created: [] };
  }
  const wanted = machinesToCreate(claim, newNodes);
  const created = await create(options, input, group, claim, wanted);
  await raise(options, input);
  await reportOnGroup(options, input, {
    type: 'Normal',
    reason: 'ScalingUp',
    message: `asks for ${newNodesText(newNodes)}`,
    key: claim.decision,
  });
  const machines = input.replaces === undefined ? wanted : withReplaced(wanted, await machinesByName(options, group));
  return { scaledUp: { kind: 'created', machines, failed: [] }, created };
}

/** What an earlier attempt has created, of which the answer was lost. */
async function createdEarlier(
  options: MachineOptions,
  input: ScaleUpInput,
  made: Omit<PlanClaim, 'at'>,
  otherwise: string,
): Promise<ScaledUp> {
  const existing = await machinesByName(options, { name: made.group });
  const machines = withReplaced(machinesToCreate(made, input.newNodes), existing);
  if (machines.length > 0) {
    await raise(options, input, Math.max(...machines.map(({ name }) => existing.get(name)?.createdAt ?? 0)));
    return { kind: 'created', machines, failed: [] };
  }
  return superseded(otherwise);
}

/** What a plan can ask for: each machine of a claim gets a name, whether there will be one or not. */
const MOST_AT_ONCE = 1000;

/** @throws InvalidInput, not retried, for what no plan says. */
function ensureSensible(machines: Readonly<Record<string, number>>): void {
  const counts = Object.values(machines);
  const isSensible = counts.every((count) => Number.isSafeInteger(count) && count > 0);
  if (isSensible && counts.reduce((sum, count) => sum + count, 0) <= MOST_AT_ONCE) return;
  throw failure({ type: 'InvalidInput', message: `no plan asks for ${JSON.stringify(machines)}`, nonRetryable: true });
}

/** Null where it creates no machines. */
function creating(seen: SeenGroupObject | null): NodeGroup | null {
  const group = seen?.read.group ?? null;
  return group === null || group.isDeleting || group.mode !== 'act' ? null : group;
}

function superseded(detail: string): ScaledUp {
  return { kind: 'superseded', detail };
}

function countsOf(newNodes: readonly NewNodes[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const { instanceType, count: more } of newNodes)
    counts.set(instanceType, (counts.get(instanceType) ?? 0) + more);
  return Object.fromEntries(counts);
}

/** The machines of a claim that were not given up meanwhile, each with a reason that asks for its type. */
function machinesToCreate(claim: Omit<PlanClaim, 'at'>, newNodes: readonly NewNodes[]): readonly CreatedMachine[] {
  const givenUp = new Set(claim.givenUp);
  const reasons = new Map<string, ScaleUpReason[]>();
  for (const { instanceType, count: nodes, reason } of newNodes) {
    const of = reasons.get(instanceType) ?? [];
    reasons.set(instanceType, [...of, ...Array.from({ length: nodes }, () => reason)]);
  }
  return machinesOf(claim)
    .map((machine) => ({ ...machine, reason: reasons.get(machine.instanceType)?.shift() ?? 'PendingPods' }))
    .filter((_, at) => !givenUp.has(at));
}

/** Which of the nodes of a type gets which of the pods is for kube-scheduler to say: each came for all of them. */
function kindsFor(newNodes: readonly NewNodes[], { instanceType }: CreatedMachine): readonly string[] {
  const own = newNodes.filter((line) => line.instanceType === instanceType);
  return [...new Set(own.flatMap(({ kinds = [] }) => kinds))];
}

/** Nodes of a type are alike for kube-scheduler, whatever each of them was planned for. */
function laterFor(newNodes: readonly NewNodes[], { instanceType }: CreatedMachine): number {
  return Math.max(0, ...newNodes.map((line) => (line.instanceType === instanceType ? (line.fillLater ?? 0) : 0)));
}

/** By the name of the machine, the UID of the node in whose place it comes: the same in each attempt, whatever was given up. */
function replacedNodes({ newNodes, replaces = [] }: ScaleUpInput, claim: PlanClaim): ReadonlyMap<string, string> {
  const nodes = replaces.map((uid, at) => ({ uid, instanceType: newNodes[at]?.instanceType ?? '' }));
  return new Map([...pairReplacements(nodes, machinesOf(claim))].map(([{ uid }, { name }]) => [name, uid]));
}

async function machinesByName(
  { kubernetes }: MachineOptions,
  { name }: Pick<NodeGroup, 'name'>,
): Promise<ReadonlyMap<string, DrivenMachine>> {
  return new Map((await listMachines(kubernetes, name)).map((machine) => [machine.name, machine]));
}

/** Those that are there, each with the node in whose place it comes, as it is written there. */
function withReplaced(
  wanted: readonly CreatedMachine[],
  existing: ReadonlyMap<string, DrivenMachine>,
): readonly CreatedMachine[] {
  return wanted.flatMap((machine) => {
    const there = existing.get(machine.name);
    if (there === undefined) return [];
    return [there.replaces === null ? machine : { ...machine, replaces: there.replaces }];
  });
}

/** @returns those that did not exist yet. */
async function create(
  options: MachineOptions,
  input: ScaleUpInput,
  group: NodeGroup,
  claim: PlanClaim,
  wanted: readonly CreatedMachine[],
): Promise<readonly CreatedMachine[]> {
  const { target, newNodes } = input;
  const replaced = replacedNodes(input, claim);
  const existing = new Set((await listMachines(options.kubernetes, group.name)).map(({ name }) => name));
  const missing = wanted.filter(({ name }) => !existing.has(name));
  const created = await inParallel(AT_ONCE, missing, async (machine) => {
    if (options.clock.now() >= heldUntil(claim)) throw lapsed(claim);
    await options.guard(target);
    try {
      const cameFor = kindsFor(newNodes, machine);
      const replaces = replaced.get(machine.name) ?? null;
      const later = laterFor(newNodes, machine);
      const body = machineBody(group, { ...machine, decision: claim.decision, cameFor, fillLater: later, replaces });
      await options.kubernetes.custom.createNamespacedCustomObject({ ...MACHINES, body });
      return true;
    } catch (error) {
      // An earlier attempt has created it, or one that still runs.
      if (statusCode(error) === 409) return false;
      throw error;
    }
  });
  return missing.filter((_, at) => created[at] === true);
}

/** The next attempt creates nothing more. */
function lapsed({ decision, at }: PlanClaim): ApplicationFailure {
  return notYet(`the claim of ${decision}, made at ${formatInstant(at)}, is not held any more`, 100);
}

function count(group: string, created: readonly CreatedMachine[]): void {
  countScaleUp(group, created.length);
  for (const reason of new Set(created.map((machine) => machine.reason))) countDecision('scale_up', group, reason);
}

/**
 * What Headroom has added is wanted.
 *
 * @param since a size that was written since then, or at that moment, has counted it already: a person may have lowered it again.
 */
async function raise(options: MachineOptions, input: ScaleUpInput, since = Number.POSITIVE_INFINITY): Promise<void> {
  const at = options.clock.now();
  await patchGroupStatus(options, input, async ({ read: { group } }) => {
    if (group === null || (group.lastScaleUp ?? 0) >= since) return null;
    const staying = stayingMachines(await listMachines(options.kubernetes, group.name));
    return { desiredNodes: raisedDesired(group.desiredNodes, staying), ...scaledAt('Up', at) };
  });
}

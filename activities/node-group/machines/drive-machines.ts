import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { listText } from '../../../domain/kernel/sentence.ts';
import { markOf } from '../../../domain/node-group/drain/marks.ts';
import { runningPod } from '../../../domain/node-group/drain/drain-progress.ts';
import { podName } from '../../../domain/node-group/drain/pods-to-evict.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import { isOrphaning } from '../../../domain/node-group/machine/hold.ts';
import { isLost, keptThoughLost } from '../../../domain/node-group/machine/lost.ts';
import { type MachineStep, nextMachineStep } from '../../../domain/node-group/machine/next-step.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { raisedBack } from '../../../domain/node-group/rules/lowered-for.ts';
import { groupSight } from '../../../domain/node-group/status/group-counts.ts';
import { inParallel } from '../../kernel/in-parallel.ts';
import { notYet } from '../../kernel/not-yet.ts';
import { ensureGroupStatus, writeGroupStatus } from '../group/ensure-status.ts';
import { findGroup, patchGroupStatus, type SeenGroupObject } from '../group/group-objects.ts';
import type { Driven, GroupInput } from '../interface.ts';
import { podsOn } from '../drain/pods-on.ts';
import { askProvider } from './ask-provider.ts';
import { deleteAtProvider } from './delete-at-provider.ts';
import { type GivenUp, giveUp, sentenceOf } from './give-up.ts';
import { joinNode, markLost } from './join-node.ts';
import { holdMachines } from './hold.ts';
import { listMachines } from './machine-objects.ts';
import { clusterSight, type NodesOfMachines, nodesOfMachines, type SeenNode } from './node-objects.ts';
import type { MachineOptions } from './options.ts';
import { keepProgress, type Progress, progressBefore } from './progress.ts';

/** Machines become nodes within seconds, or many minutes. */
const PACE: PollPace = { first: 500, last: 10_000, ramp: 300_000 };
/** Machines are written one by one, so many at once. */
const AT_ONCE = 20;
/** How many machines a message names. */
const NAMED = 3;

/** What a look has left. */
interface Wait {
  readonly detail: string;
  /** Milliseconds; null: at the pace of nodes. */
  readonly retryAfterMs: number | null;
}

interface Look {
  readonly options: MachineOptions;
  readonly input: GroupInput;
  /** As it was before its machines were read. */
  readonly seen: SeenGroupObject;
  readonly group: NodeGroup;
  readonly steps: readonly (readonly [DrivenMachine, MachineStep<SeenNode>])[];
  readonly nodes: NodesOfMachines;
}

/**
 * See `NodeGroupActivities.ensureMachinesSettled`.
 *
 * @param created what the same activity has created before, for its next attempt.
 */
export async function driveMachines(
  options: MachineOptions,
  input: GroupInput,
  created: Progress['created'] = null,
): Promise<Driven> {
  const { kubernetes } = options;
  const name = input.target.group;
  const seen = await findGroup(kubernetes, input);
  const group = seen?.read.group ?? null;
  // Without a group that can be read nobody knows whom to ask.
  if (seen === null || group === null) return { failed: progressBefore().failed };
  const listed = await listMachines(kubernetes, name);
  const isHeld = isOrphaning(group) || !(await holdMachines(options, input, listed));
  // What was written has another resourceVersion.
  const machines = isHeld ? listed : await listMachines(kubernetes, name);
  const nodes = await nodesOfMachines(kubernetes, name, machines);
  const steps = await withoutBlindness(
    options,
    group,
    await inParallel(
      AT_ONCE,
      machines,
      async (machine) => [machine, await stepOf(options, group, machine, nodes)] as const,
    ),
    nodes,
  );
  const { failed, waits, error } = await take({ options, input, seen, group, steps, nodes });
  keepProgress({ created, failed });
  if (error !== null) throw error.of;
  if (waits.length === 0) {
    await ensureGroupStatus(options, input);
    return { failed };
  }
  await writeGroupStatus(options, input, { machines, nodeOf: nodes.nodeOf }, seen);
  throw untilNext(waits);
}

/** None is given up under pods that run: those of a Node that came back, or that its group never saw ready. */
async function stepOf(
  { kubernetes, clock }: MachineOptions,
  group: NodeGroup,
  machine: DrivenMachine,
  { nodeOf, ownersOf }: NodesOfMachines,
): Promise<MachineStep<SeenNode>> {
  const node = nodeOf(machine);
  const step = nextMachineStep(machine, node, group, clock.now(), node === null ? [] : ownersOf(node));
  if (step.kind !== 'giveUp' || node === null) return step;
  const pod = runningPod({ pods: await podsOn(kubernetes, node.name), node, at: clock.now() });
  return pod === null
    ? step
    : { kind: 'await', detail: `${machine.name} stays while ${podName(pod)} runs: ${step.detail}` };
}

/** Machines whose Nodes are gone stay for a while where so many are that it may be the control plane which does not see them. */
async function withoutBlindness(
  { kubernetes, clock }: MachineOptions,
  group: NodeGroup,
  steps: Look['steps'],
  { nodeOf }: NodesOfMachines,
): Promise<Look['steps']> {
  const isLate = ([machine, { kind }]: Look['steps'][number]): boolean =>
    kind === 'giveUp' && isLost(machine, nodeOf(machine) !== null);
  if (!steps.some(isLate)) return steps;
  const sight = {
    group: groupSight(steps.map(([machine]) => [machine, nodeOf(machine)])),
    cluster: await clusterSight(kubernetes),
  };
  return steps.map((step) => {
    const [machine] = step;
    const detail = isLate(step) ? keptThoughLost(group.name, sight, machine.phaseSince, clock.now()) : null;
    return detail === null ? step : [machine, { kind: 'await', detail: `${machine.name} stays: ${detail}` }];
  });
}

/** Takes each machine's step. What one part cannot do holds up none of the others. */
async function take(look: Look) {
  const { options, input, group } = look;
  let error: { readonly of: unknown } | null = null;
  const waits: Wait[] = [];
  const part = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch (of) {
      error ??= { of };
      return otherwise;
    }
  };
  await part(async () => {
    await raiseBack(look);
    waits.push(...(await takeNodes(look)));
  }, undefined);
  const asked = await part(async () => await askProvider(options, input, group, machinesTo(look, 'ask')), {
    waits: [],
    failed: [],
  });
  waits.push(...asked.waits);
  const late = look.steps.flatMap(([machine, step]) => (step.kind === 'giveUp' ? [{ machine, ...step }] : []));
  const lost: readonly GivenUp[] = [...late, ...asked.failed];
  const isGivenUp = await part(async () => {
    await giveUp(options, input, lost);
    return true;
  }, false);
  const deleting = [...machinesTo(look, 'delete'), ...(isGivenUp ? lost.map(({ machine }) => asFailed(machine)) : [])];
  await part(
    async () =>
      void (await inParallel(AT_ONCE, deleting, async (machine) => {
        const deletion = await deleteAtProvider(options, input.target, group, machine);
        if (deletion.kind === 'going') waits.push(deletion);
      })),
    undefined,
  );
  const sentences = lost.filter((each) => each.failed).map(({ machine, detail }) => sentenceOf(machine, detail));
  return {
    failed: [...new Set([...progressBefore().failed, ...sentences])],
    waits,
    error: error as { of: unknown } | null,
  };
}

function asFailed(machine: DrivenMachine): DrivenMachine {
  return { ...machine, phase: 'Failed', isDeleting: true };
}

function machinesTo({ steps }: Look, kind: MachineStep['kind']): readonly DrivenMachine[] {
  return steps.flatMap(([machine, step]) => (step.kind === kind ? [machine] : []));
}

/**
 * A machine whose Node was taken back after the size had gone down for it is wanted again. Before it says that it is ready: otherwise a plan
 * could find one node too many.
 */
async function raiseBack({ options, input, seen, steps, nodes }: Look): Promise<void> {
  const stays = new Set(
    steps.flatMap(([machine, { kind }]) => {
      const node = nodes.nodeOf(machine);
      const isKept = (kind === 'join' || kind === 'settled') && node !== null && markOf(node) === null;
      return isKept ? [machine] : [];
    }),
  );
  const machines = steps.map(([machine]) => machine);
  const size = raisedBack(seen.status, seen.read.group?.desiredNodes ?? null, machines, (machine) =>
    stays.has(machine),
  );
  if (size === null) return;
  const { resourceVersion } = seen.read;
  const written = await patchGroupStatus(options, input, ({ read }) =>
    read.resourceVersion === resourceVersion ? { ...size } : null,
  );
  // Its machine may go again.
  if (written !== null && written.read.resourceVersion !== resourceVersion)
    throw notYet(`the NodeGroup ${input.target.group} was changed meanwhile`, PACE.first);
}

/** What is to be done about nodes that have come, or have gone. */
async function takeNodes({ options, input, group, steps, nodes }: Look): Promise<readonly Wait[]> {
  const waits = await inParallel(AT_ONCE, steps, async ([machine, step]): Promise<Wait | null> => {
    switch (step.kind) {
      case 'join':
        await joinNode(options, input, group, machine, step, nodes.ownersOf);
        return step.isReady ? null : { detail: step.detail, retryAfterMs: null };
      case 'lost':
        await markLost(options, input, machine, step.detail);
        return { detail: step.detail, retryAfterMs: null };
      case 'await':
        return { detail: step.detail, retryAfterMs: null };
      default:
        return null;
    }
  });
  return waits.filter((wait) => wait !== null);
}

function untilNext(waits: readonly Wait[]): Error {
  const details = listText(
    waits.map(({ detail }) => detail),
    NAMED,
  );
  const delays = waits.map(({ retryAfterMs }) => retryAfterMs);
  if (delays.includes(null)) return notYet(details, PACE);
  return notYet(details, Math.max(PACE.first, Math.min(...delays.map(Number))));
}

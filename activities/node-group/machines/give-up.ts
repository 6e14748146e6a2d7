import { formatInstant } from '../../../domain/kernel/time.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { backoffAfterFailure } from '../../../domain/node-group/rules/backoff.ts';
import { loweredFor } from '../../../domain/node-group/rules/lowered-for.ts';
import { reportOnGroup } from '../group/group-event.ts';
import { patchGroupStatus, type SeenGroupObject } from '../group/group-objects.ts';
import type { GroupInput } from '../interface.ts';
import { strikeMachines } from './claim-plan.ts';
import { deleteMachineObject, listMachines, writeMachineStatus } from './machine-objects.ts';
import type { MachineOptions } from './options.ts';

export interface GivenUp {
  readonly machine: DrivenMachine;
  /** A sentence. */
  readonly detail: string;
  /** Whether its group backs off for it. */
  readonly failed: boolean;
}

/**
 * Gives machines up: marks them, lets their group back off, and deletes their objects. Each part can be repeated: a machine is
 * found as failed, and without its deletion, until all of it was done.
 */
export async function giveUp(options: MachineOptions, input: GroupInput, givenUp: readonly GivenUp[]): Promise<void> {
  if (givenUp.length === 0) return;
  const { kubernetes, clock, guard } = options;
  for (const { machine, detail } of givenUp) {
    if (machine.phase === 'Failed') continue;
    await guard(input.target);
    const change = { phase: 'Failed', lastError: detail } as const;
    await writeMachineStatus(kubernetes, machine, change, { now: clock.now(), fresh: false });
  }
  await patchGroupStatus(options, input, async (seen) =>
    seen.read.group === null
      ? null
      : statusAfter(seen, seen.read.group, givenUp, {
          machines: await listMachines(kubernetes, seen.read.group.name),
          at: clock.now(),
        }),
  );
  for (const { machine, detail, failed } of givenUp) {
    await reportOnGroup(options, input, {
      ...(failed
        ? ({ type: 'Warning', reason: 'ScaleUpFailed' } as const)
        : ({ type: 'Normal', reason: 'ScalingDown' } as const)),
      message: sentenceOf(machine, detail),
      key: machine.uid,
    });
  }
  await strikeMachines(options, input.target, new Set(givenUp.map(({ machine }) => machine.name)));
  for (const { machine } of givenUp) {
    await guard(input.target);
    await deleteMachineObject(kubernetes, machine);
  }
}

export function sentenceOf({ name }: DrivenMachine, detail: string): string {
  return `the machine ${name} is given up: ${detail}`;
}

/** Null where nothing of it changes. */
function statusAfter(
  { status }: SeenGroupObject,
  group: NodeGroup,
  givenUp: readonly GivenUp[],
  { machines, at }: { readonly machines: readonly DrivenMachine[]; readonly at: number },
): Readonly<Record<string, unknown>> | null {
  let { backoff } = group;
  for (const { machine, detail, failed } of givenUp) {
    if (failed) backoff = backoffAfterFailure(backoff, sentenceOf(machine, detail), at);
  }
  // Nobody but pods that were pending wanted them: whether they still do is the next plan's matter.
  const forPods = givenUp.flatMap(({ machine }) => (machine.isForPods ? [machine] : []));
  const size = group.desiredNodes === null ? null : loweredFor(status, group, forPods, machines);
  const isLower = size !== null && size.desiredNodes !== group.desiredNodes;
  const isBackingOff = backoff !== null && backoff !== group.backoff;
  if (!isBackingOff && !isLower) return null;
  return {
    ...(isLower ? size : {}),
    ...(isBackingOff ? { backoff: { ...backoff, until: formatInstant(backoff?.until ?? at) } } : {}),
  };
}

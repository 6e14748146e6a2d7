import type { PollPace } from '../../../domain/kernel/poll-pace.ts';
import { isRecord } from '../../../domain/kernel/record.ts';
import { type MachinePhase, machinePhases } from '../../../domain/node-group/model/node-group.ts';
import { notYet } from '../../kernel/not-yet.ts';
import { orNull } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { Replacement } from '../../../domain/node-group/drain/answers.ts';
import { MACHINES } from '../machines/machine-objects.ts';

/** A machine becomes a node within seconds or many minutes. */
const PACE: PollPace = { first: 1_000, last: 10_000, ramp: 120_000 };

/** Phases from which a machine does not become ready. */
const OVER: readonly MachinePhase[] = ['Terminating', 'Deleting', 'Failed'];

/** See `DrainActivities.awaitReplacement`. */
export async function awaitReplacement({ custom }: Pick<Kubernetes, 'custom'>, machine: string): Promise<Replacement> {
  const object: unknown = await orNull(custom.getNamespacedCustomObject({ ...MACHINES, name: machine }));
  if (!isRecord(object)) return { kind: 'failed', detail: `the replacement ${machine} is gone` };
  const phase = phaseOf(object['status']);
  const isDeleted = isRecord(object['metadata']) && object['metadata']['deletionTimestamp'] !== undefined;
  if (isDeleted) return { kind: 'failed', detail: `the replacement ${machine} was deleted` };
  if (phase === 'Ready') return { kind: 'ready' };
  if (OVER.includes(phase)) return { kind: 'failed', detail: `the replacement ${machine} is ${phase}` };
  throw notYet(`the replacement ${machine} is ${phase}`, PACE);
}

function phaseOf(status: unknown): MachinePhase {
  const phase = isRecord(status) ? status['phase'] : undefined;
  return machinePhases.find((known) => known === phase) ?? 'Pending';
}

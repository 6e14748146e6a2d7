import { formatInstant } from '../../../domain/kernel/time.ts';
import { MACHINE_FINALIZER } from '../../../domain/node-group/api/names.ts';
import type { DrivenMachine } from '../../../domain/node-group/machine/driven-machine.ts';
import type { NodeGroup } from '../../../domain/node-group/model/node-group.ts';
import { COUNTED_MS } from '../../../domain/node-group/plan-claim.ts';
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import type { Deletion } from '../provider/provider.ts';
import { strikeMachines } from './claim-plan.ts';
import { takeFinalizerOff, writeMachineStatus } from './machine-objects.ts';
import { deleteNodesOf } from './node-objects.ts';
import type { MachineOptions } from './options.ts';

/**
 * One look at a machine whose object is being deleted: deletes it at the provider, then its Node, then lets go of the object.
 *
 * @param group of the machine, for its provider.
 */
export async function deleteAtProvider(
  options: MachineOptions,
  target: NodeGroupTarget,
  group: Pick<NodeGroup, 'name' | 'provider' | 'providerSpec'>,
  machine: DrivenMachine,
): Promise<Deletion> {
  const { kubernetes, clock } = options;
  const guard = async (): Promise<void> => await options.guard(target);
  // Somebody else keeps the object: whatever it stood for was let go of.
  if (!machine.finalizers.includes(MACHINE_FINALIZER)) return { kind: 'gone' };
  if (machine.phase !== 'Deleting') {
    await guard();
    const deletedAt = formatInstant(clock.now());
    await writeMachineStatus(kubernetes, machine, { phase: 'Deleting', deletedAt }, { now: clock.now(), fresh: false });
  }
  await guard();
  const deletion = await options.providers[group.provider].ensureDeleted(group, machine);
  if (deletion.kind === 'going') return deletion;
  await deleteNodesOf(kubernetes, machine, guard);
  // A claim counts its machines for a while, whether there are objects of them or not.
  if (clock.now() - machine.createdAt < COUNTED_MS) await strikeMachines(options, target, new Set([machine.name]));
  await guard();
  await takeFinalizerOff(kubernetes, machine);
  return deletion;
}

import type { Logger } from 'pino';
import type { PauseOptions } from '../../kernel/pause.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { ServerClock } from '../../kubernetes/server-clock.ts';
import { ensureInstanceTypes } from '../group/ensure-instance-types.ts';
import { ensureGroupStatus } from '../group/ensure-status.ts';
import { ensureWishesKept } from '../group/keep-wishes.ts';
import { ensureGroupReleased } from '../group/release.ts';
import { createWriteGuard } from '../group/write-guard.ts';
import type { NodeGroupActivities } from '../interface.ts';
import { claimRemovals } from './claim-removals.ts';
import { deleteMachine } from './delete-machine.ts';
import { driveMachines } from './drive-machines.ts';
import type { MachineOptions } from './options.ts';
import { scaleUpAndDrive } from './scale-up-and-drive.ts';

export interface MachineActivitiesOptions extends PauseOptions {
  readonly kubernetes: Kubernetes;
  readonly providers: MachineOptions['providers'];
  readonly log: Pick<Logger, 'warn'>;
  /** Of this cluster; one of its own when absent. */
  readonly clock?: ServerClock;
}

/**
 * The activities for one cluster. All throw the failures of `kubernetesFailure` and of providers; what writes asks for pauses first,
 * and throws PolicyChanged (not retried) while another controller acts on node groups.
 */
export function createMachineActivities(given: MachineActivitiesOptions): NodeGroupActivities {
  const { clock = new ServerClock() } = given;
  const options: MachineOptions = { ...given, clock, guard: createWriteGuard({ ...given, clock }) };
  return {
    ensureScaledUp: withKubernetesFailures(async (input) => await scaleUpAndDrive(options, input)),
    ensureRemovalsClaimed: withKubernetesFailures(async (input) => await claimRemovals(options, input)),
    ensureMachinesSettled: withKubernetesFailures(async (input) => await driveMachines(options, input)),
    ensureMachineDeleted: withKubernetesFailures(async (input) => await deleteMachine(options, input)),
    ensureWishesKept: withKubernetesFailures(async (input) => await ensureWishesKept(options, input)),
    ensureInstanceTypes: withKubernetesFailures(async (input) => await ensureInstanceTypes(options, input)),
    ensureGroupStatus: withKubernetesFailures(async (input) => await ensureGroupStatus(options, input)),
    ensureGroupReleased: withKubernetesFailures(async (input) => await ensureGroupReleased(options, input)),
  };
}

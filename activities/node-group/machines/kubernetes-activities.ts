import { createPauseGuard, type PauseOptions } from '../../kernel/pause.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { NodeGroupActivities } from '../interface.ts';
import { deleteMachine } from './delete-machine.ts';

/** The activities for one cluster. All throw the failures of `kubernetesFailure`; what writes asks for pauses first. */
export function createMachineActivities(
  options: PauseOptions & { readonly kubernetes: Kubernetes },
): Pick<NodeGroupActivities, 'ensureMachineDeleted'> {
  const pauses = createPauseGuard(options);
  return {
    ensureMachineDeleted: withKubernetesFailures(async ({ target, uid, machine }) => {
      const guard = async (): Promise<void> =>
        await pauses({ controller: 'node-group', name: target.group }, `the NodeGroup ${target.group}`);
      await deleteMachine(options.kubernetes, { machine, groupUid: uid }, guard);
    }),
  };
}

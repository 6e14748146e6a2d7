import type { RunningController, StarterContext, StarterController } from '../controller.ts';
import { nodeGroupAccess } from './access.ts';
import { nodeGroupAdmission } from './admission.ts';

export const nodeGroupController: StarterController = {
  isEnabled: ({ nodeGroups }) => nodeGroups.enabled,
  access: nodeGroupAccess,
  start,
};

/** Has an admission webhook where an address is configured. Nothing is watched yet. */
function start({ headroom }: StarterContext): RunningController {
  return { informers: {}, admission: nodeGroupAdmission(headroom.config) };
}

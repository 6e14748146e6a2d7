import type { Suite } from '../adapter.ts';
import { nodeGroupMachineKinds } from './machines.ts';
import { nodeGroupSafetyKinds } from './safety.ts';
import { nodeGroupScaleDownKinds } from './scale-down.ts';
import { nodeGroupScaleUpKinds } from './scale-up.ts';

/** The cases of the VPSie autoscaler. */
export const nodeGroupSuites: readonly Suite[] = [
  {
    files: ['node-group'],
    kinds: {
      ...nodeGroupScaleUpKinds,
      ...nodeGroupScaleDownKinds,
      ...nodeGroupSafetyKinds,
      ...nodeGroupMachineKinds,
    },
  },
];

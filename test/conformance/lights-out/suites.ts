import type { Suite } from '../adapter.ts';
import { lightsOutPeriodKinds } from './period.ts';
import { lightsOutScalingKinds } from './scaling.ts';
import { lightsOutScheduleKinds } from './schedule.ts';

/** The cases of the LightsOut operator. */
export const lightsOutSuites: readonly Suite[] = [
  { files: ['lights-out'], kinds: { ...lightsOutPeriodKinds, ...lightsOutScheduleKinds, ...lightsOutScalingKinds } },
];

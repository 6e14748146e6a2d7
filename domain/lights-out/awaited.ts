import { type AwaitedIn, COMMON_WAITS, PERSON } from '../kernel/awaited.ts';
import type { LightsOutPhase } from './decide/verdict.ts';

const ITS_NEXT_TIME = { whom: 'the clock', until: 'its next time', isRest: true } as const;

export const lightsOutAwaits: AwaitedIn<LightsOutPhase> = {
  ...COMMON_WAITS,
  Starting: { whom: 'Headroom', until: 'the schedule is read' },
  Up: ITS_NEXT_TIME,
  Down: ITS_NEXT_TIME,
  DryRun: ITS_NEXT_TIME,
  ScalingUp: { whom: 'its workloads', until: 'all are awake' },
  ScalingDown: { whom: 'its workloads', until: 'all are asleep' },
  AwaitingApproval: { whom: PERSON, until: 'its first run is approved' },
  Suspended: { whom: PERSON, until: 'spec.suspend is taken back' },
  Invalid: { whom: PERSON, until: 'its spec is mended' },
  CleaningUp: { whom: 'its workloads', until: 'all that it put to sleep are awake' },
};

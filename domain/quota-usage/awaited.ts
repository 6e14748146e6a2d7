import { type AwaitedIn, COMMON_WAITS } from '../kernel/awaited.ts';
import type { UsagePhase } from './verdict.ts';

export const usageAwaits: AwaitedIn<UsagePhase> = {
  ...COMMON_WAITS,
  Counting: { whom: 'Headroom', until: 'the namespace is counted' },
  Late: { whom: 'the quota controller', until: 'the status has followed' },
  Wrong: { whom: 'the quota controller', until: 'the status is what is counted' },
};

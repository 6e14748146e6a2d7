import { type AwaitedIn, COMMON_WAITS } from '../kernel/awaited.ts';
import type { MemcachedPhase } from './decide/verdict.ts';

export const memcachedAwaits: AwaitedIn<MemcachedPhase> = {
  ...COMMON_WAITS,
  Starting: { whom: 'Headroom', until: 'it is compared with its objects' },
  Reconciling: { whom: 'Headroom', until: 'everything is as specified' },
  RollingOut: { whom: 'its pods', until: 'the rollout is complete' },
};

import { type AwaitedIn, COMMON_WAITS } from '../kernel/awaited.ts';
import type { BudgetPhase } from './summary.ts';

export const budgetAwaits: AwaitedIn<BudgetPhase> = {
  Idle: { whom: 'the workflows', until: 'one asks for a permit', isRest: true },
  Granting: { whom: 'Headroom', until: 'all permits are granted' },
  Waiting: { whom: 'the clock', until: 'the next permit is due' },
  Limited: { whom: 'GitHub', until: 'its limit is over' },
  Paused: COMMON_WAITS.Paused,
};

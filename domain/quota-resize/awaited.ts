import { type AwaitedIn, COMMON_WAITS, PERSON } from '../kernel/awaited.ts';
import type { Phase } from './model/verdict.ts';

export const resizeAwaits: AwaitedIn<Phase> = {
  ...COMMON_WAITS,
  Detecting: { whom: 'the cluster', until: 'the demand is gone or known for certain' },
  Recommending: { whom: 'the cluster', until: 'the demand is gone or another one', isRest: true },
  OpeningPullRequest: { whom: 'Headroom', until: 'the pull request is open' },
  AwaitingChecks: { whom: 'GitHub', until: 'checks and reviews have passed' },
  AwaitingApproval: { whom: PERSON, until: 'it is approved or rejected' },
  AwaitingMerge: { whom: PERSON, until: 'the pull request is merged or closed' },
  Merging: { whom: 'GitHub', until: 'the pull request is merged' },
  AwaitingSync: { whom: 'GitOps', until: 'the cluster shows the merged limits' },
  CoolingDown: { whom: 'the clock', until: 'the cooldown is over', isRest: true },
};

import { type Adapter, LATER_STRATEGY, notApplicable, type Suite, UNNAMED_KIND } from '../adapter.ts';
import { eventMessage } from './event.ts';
import { leaseKinds } from './lease.ts';
import { lifecycleKinds } from './lifecycle.ts';
import { pullRequestKinds } from './pull-request.ts';
import { thresholdEngineKinds } from './threshold-engine.ts';

/** Kinds that Headroom has no answer to, and why. */
const unanswered: Readonly<Record<string, Adapter>> = {
  ...Object.fromEntries(
    [
      'decide',
      'headroom-decide',
      'observer',
      'policy',
      'shrink-lifecycle',
      'window',
      'window-complete',
      'window-decode',
      'window-observe',
    ].map((kind) => [kind, notApplicable(LATER_STRATEGY)]),
  ),
  'find-open-pr': notApplicable(
    'Headroom finds its pull request by the whole name of its own branch, which has the id of the decision',
  ),
  'github-sequence': notApplicable('Headroom asks GitHub in an order of its own, which its integration tests count'),
  'pr-status': notApplicable('how an API client folds checks into one word; Headroom keeps them apart, by name'),
  e2e: notApplicable('a whole cluster, which the integration tests start; and a dry run of Headroom merges nothing'),
};

/** The cases of an existing resizer, and the messages of real Events. */
export const quotaResizeSuites: readonly Suite[] = [
  { files: ['event'], kinds: { [UNNAMED_KIND]: eventMessage } },
  {
    files: ['quota-resize'],
    kinds: { ...unanswered, ...thresholdEngineKinds, ...pullRequestKinds, ...lifecycleKinds, ...leaseKinds },
  },
];

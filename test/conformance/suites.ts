/** Which adapter answers which case: by the file that it is in, because two files may use one word for two things. */
import { type Adapter, LATER_STRATEGY, leftOut } from './adapter.ts';
import { eventMessage } from './kinds/event.ts';
import { quantityKinds } from './kinds/quantity.ts';
import { quotaKinds } from './kinds/quota.ts';
import { quotaControllerKinds } from './kinds/quota-controller.ts';
import { quotaEvaluatorKinds } from './kinds/quota-evaluators.ts';
import { leaseKinds } from './kinds/lease.ts';
import { lightsOutScalingKinds } from './kinds/lights-out-scaling.ts';
import { lightsOutScheduleKinds } from './kinds/lights-out-schedule.ts';
import { pullRequestKinds } from './kinds/pull-request.ts';
import { lifecycleKinds } from './kinds/lifecycle.ts';
import { lightsOutPeriodKinds } from './kinds/lights-out-period.ts';
import { thresholdEngineKinds } from './kinds/threshold-engine.ts';

/** The kind of an entry that names none. */
export const UNNAMED_KIND = 'message';

interface Suite {
  /** The file names, without `.json`, that belong to it. */
  readonly files: RegExp;
  readonly kinds: Readonly<Record<string, Adapter>>;
}

/** Kinds of the quota-resize files that Headroom has no answer to, and why. */
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
    ].map((kind) => [kind, leftOut(LATER_STRATEGY)]),
  ),
  'github-sequence': leftOut('Headroom asks GitHub in an order of its own, which its integration tests count'),
  'pr-status': leftOut('how an API client folds checks into one word; Headroom keeps them apart, by name'),
  e2e: leftOut('a whole cluster, which the integration tests start; and a dry run of Headroom merges nothing'),
};

const suites: readonly Suite[] = [
  { files: /^quantity/, kinds: quantityKinds },
  { files: /^lights-out/, kinds: { ...lightsOutPeriodKinds, ...lightsOutScheduleKinds, ...lightsOutScalingKinds } },
  { files: /^event/, kinds: { [UNNAMED_KIND]: eventMessage } },
  {
    files: /^quota-resize/,
    kinds: { ...unanswered, ...thresholdEngineKinds, ...pullRequestKinds, ...lifecycleKinds, ...leaseKinds },
  },
  { files: /^quota/, kinds: { ...quotaKinds, ...quotaEvaluatorKinds, ...quotaControllerKinds } },
];

/** The adapter of a kind in a file (`quota-resize-peer`), or undefined when nobody answers for it yet. */
export function adapterFor(file: string, kind: string): Adapter | undefined {
  const kinds = suites.find((suite) => suite.files.test(file))?.kinds ?? {};
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}

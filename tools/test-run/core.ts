import type { ControllerName } from '../../domain/kernel/controllers.ts';

/** The layers that have integration tests of their own, and the parts that all tests stand on. */
type Layer = 'activities' | 'starter' | 'worker' | 'platform' | 'command line' | 'manifests' | 'test servers' | 'forge';

/** What goes wrong around the product, and who stands in its way. */
type Fault =
  | 'a worker dies at a write'
  | 'a starter dies'
  | 'the API server goes away'
  | 'Temporal goes away'
  | 'an answer is lost'
  | 'a conflict'
  | 'a limit of GitHub'
  | 'a missing right'
  | 'a pause'
  | 'a hostile webhook'
  | 'a person at the browser';

/**
 * The most that the recorded durations of the core may add up to, in seconds. Three files run at once on two cores, so this
 * is five minutes; npm, the checks and the unit tests take three and a half of the ten that `make test` may take.
 */
export const CORE_SECONDS = 900;

/** The core: of the integration tests those that `make test` runs, by what each shows. docs/testing.md has the rule. */
const CORE = {
  'quota-resize': ['quota-resize/episode'],
  'quota-usage': ['quota-usage/owner', 'quota-usage/episode-runs'],
  'lights-out': ['lights-out/nights'],
  memcached: ['memcached/episodes'],
  'node-group': ['node-group/headroom/scaling', 'node-group/machines/machines', 'node-group/provider/kwok'],
  'lease-gc': ['starter/cli/command-line'],
  'github-budget': ['github-budget/episodes'],

  activities: [
    'activities/kubernetes',
    'activities/kubernetes/informer',
    'activities/forge/github/approvals',
    'activities/forge/github/enterprise',
    'activities/lights-out/lights-out',
    'activities/lights-out/metrics',
    'activities/quota-usage/event',
    'activities/quota-resize/pull-request/calls',
    'activities/quota-resize/pull-request/end',
    'activities/quota-resize/pull-request/open',
    'activities/quota-resize/pull-request/state',
    'activities/quota-resize/source/layouts',
  ],
  starter: [
    'starter/kernel/keep-running',
    'starter/lights-out/admission',
    'starter/node-group/admission',
    'starter/quota-resize/watch',
  ],
  worker: ['worker/cluster-claim', 'worker/activity-queues', 'worker/workflow-thread/workflow-thread'],
  platform: ['platform/kubernetes/kubernetes-access', 'platform/temporal/temporal', 'platform/temporal/worker-reports'],
  'command line': ['starter/cli/command-line', 'starter/cli/quota-usage/usage'],
  manifests: [
    'deploy/approval-policy',
    'deploy/chart',
    'deploy/helm',
    'deploy/lights-out',
    'deploy/manifests',
    'deploy/node-group',
    'deploy/write-policy',
    'docs/security',
    'ledger/kubernetes',
  ],
  'test servers': ['kernel/servers/control-plane', 'kernel/servers/temporal'],
  forge: [
    'kernel/forge/apps',
    'kernel/forge/git-over-http',
    'kernel/forge/git/repository',
    'kernel/forge/graphql',
    'kernel/forge/http-rules',
    'kernel/forge/mergeable-state',
    'kernel/forge/pull-request-life',
    'kernel/forge/refused-requests',
    'kernel/forge/several-repositories',
  ],

  'a worker dies at a write': ['faults/worker-killed'],
  'a starter dies': ['quota-usage/owner'],
  'the API server goes away': ['starter/quota-usage/cache', 'activities/kubernetes/informer'],
  'Temporal goes away': ['quota-usage/owner'],
  'an answer is lost': ['activities/quota-resize/pull-request/open'],
  'a conflict': ['activities/kubernetes'],
  'a limit of GitHub': ['activities/forge/github/client'],
  'a missing right': ['deploy/privileges'],
  'a pause': ['starter/cli/command-line'],
  'a hostile webhook': ['starter/quota-resize/webhooks/webhooks'],
  'a person at the browser': ['browser/approval'],
} as const satisfies Readonly<Record<ControllerName | Layer | Fault, readonly [string, ...string[]]>>;

/** The files of the core that show this, from the root of the checkout. */
export function coreFilesFor(subject: keyof typeof CORE): readonly string[] {
  return CORE[subject].map((name) => `test/${name}.integration.test.ts`);
}

/** The files of the core, from the root of the checkout. */
export const coreFiles: ReadonlySet<string> = new Set(
  (Object.keys(CORE) as (keyof typeof CORE)[]).flatMap(coreFilesFor),
);

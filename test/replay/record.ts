/** `npm run replay:record`: drives every scenario on real servers and writes the histories that the replay test replays. */
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { startStack, type Stack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { CLUSTER, startHeadroomPlane } from '../quota-usage/planes.ts';
import { forgetUnreleased, type Replacements, UNRELEASED, writeHistory } from './histories.ts';
import { audited, owned, type UsageScenario } from './quota-usage-scenarios.ts';
import { alone, type Recorded, type Scenario, together } from './scenarios.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What is this machine's own in every recording. */
const OF_EVERY_RUN: Replacements = [
  [`file://${ROOT}`, 'file:///headroom/'],
  [ROOT, '/headroom/'],
  [/\b\d+@[\w.-]+/g, 'operator@example'],
  [/(headroom-(?:worker|starter)@[\w.-]+)\/\d+/g, '$1/1'],
  [hostname(), 'host.example'],
];
/** What is wrong is told soon. */
const AUDIT = { HEADROOM_USAGE_MODE: 'audit', HEADROOM_USAGE_AUDIT_AFTER: '2s' };

const stack = await startStack({
  files: { 'README.md': '# acme/gitops\n' },
  forge: { checks: 'pass', checkDelayMs: 300, validate: false },
  env: {
    HEADROOM_MODE: 'propose',
    ENABLE_AUTO_MERGE: 'true',
    HEADROOM_DEMAND_SETTLE: '300ms',
    HEADROOM_CHECKS_POLL_MIN: '300ms',
    HEADROOM_UPDATE_INTERVAL: '1s',
    HEADROOM_NEED_GONE: '5s',
    HEADROOM_HOLD_RETRY: '2s',
    HEADROOM_SYNC_POLL: '300ms',
    HEADROOM_SYNC_OVERDUE: '2s',
  },
  log: (message) => console.log(message),
});
try {
  const episodes = new Map<string, Recorded>();
  const play = async (name: string, scenario: Scenario): Promise<void> => {
    const started = performance.now();
    episodes.set(name, await scenario(stack, name));
    console.log(`${name} after ${((performance.now() - started) / 1000).toFixed(1)} s`);
  };
  const outcomes = await Promise.allSettled(Object.entries(together).map(async ([name, run]) => await play(name, run)));
  const failures = outcomes.filter((outcome) => outcome.status === 'rejected');
  if (failures.length > 0) throw new AggregateError(failures.map(({ reason }) => reason as unknown));
  for (const [name, run] of Object.entries(alone)) await play(name, run);

  await forgetUnreleased();
  for (const [name, episode] of episodes) await record(stack.client, name, episode, ofThisRun(stack));
  const usage = (await recordUsage({}, owned)) + (await recordUsage(AUDIT, audited));
  console.log(`recorded ${episodes.size + usage} scenarios as ${UNRELEASED}`);
} catch (error) {
  console.error(error instanceof AggregateError ? error.errors : error);
  process.exitCode = 1;
} finally {
  await stack.stop();
}
process.exit();

/** Writes the history of an episode, and of every run that it continued as: `name`, `name-2`, `name-3`. */
async function record(
  client: Client,
  name: string,
  { workflowId, runId }: Recorded,
  replacements: Replacements,
): Promise<void> {
  let next: string | undefined = runId;
  for (let run = 1; next !== undefined; run += 1) {
    const history = await client.workflow.getHandle(workflowId, next).fetchHistory();
    await writeHistory(run === 1 ? name : `${name}-${run}`, history, replacements);
    next = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
}

/** Plays and records scenarios of usage, one after the other, on a cluster of their own. Returns how many. */
async function recordUsage(
  env: Readonly<Record<string, string>>,
  scenarios: Readonly<Record<string, UsageScenario>>,
): Promise<number> {
  const headroom = await startHeadroomPlane({ env });
  try {
    const { client, plane, temporal } = headroom;
    await Promise.all([headroom.startWorker(), headroom.startStarter()]);
    const admin = new KubeConfig();
    admin.loadFromFile(plane.adminKubeconfig);
    const servers = {
      cluster: CLUSTER,
      client,
      core: admin.makeApiClient(CoreV1Api),
      rbac: admin.makeApiClient(RbacAuthorizationV1Api),
      systemNamespace: SYSTEM_NAMESPACE,
    };
    const replacements: Replacements = [
      [temporal.address, 'temporal.example:7233'],
      [plane.url, 'https://kubernetes.example'],
      ...OF_EVERY_RUN,
    ];
    for (const [name, run] of Object.entries(scenarios)) {
      const episode = await run(servers, name);
      await record(client, name, episode, replacements);
      console.log(name);
    }
    return Object.keys(scenarios).length;
  } finally {
    await headroom.stop();
  }
}

function ofThisRun({ dir, forge, temporal, env }: Omit<Stack, 'client'>): Replacements {
  return [
    [env.worker['GITHUB_TOKEN'] ?? '', 'TOKEN'],
    [forge.url, 'https://forge.example'],
    [temporal.address, 'temporal.example:7233'],
    [dir, '/run/headroom'],
    ...OF_EVERY_RUN,
  ];
}

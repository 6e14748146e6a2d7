/**
 * `npm run replay:record [-- resize|usage|lights-out]`: drives the scenarios on real servers and writes the histories that the
 * replay test replays.
 */
import { realpathSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, RbacAuthorizationV1Api } from '@kubernetes/client-node';
import type { Client } from '@temporalio/client';
import { startStack, type Stack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { CLUSTER } from '../kernel/stack/headroom-plane.ts';
import { startUsagePlane } from '../quota-usage/planes.ts';
import { LightsOutCluster, startLightsOutPlane } from '../lights-out/cluster.ts';
import { lightsOutScenarios } from './lights-out-scenarios.ts';
import { forgetUnreleased, type Replacements, UNRELEASED, writeHistory } from './histories.ts';
import { audited, owned, type UsageScenario } from './quota-usage-scenarios.ts';
import { alone, type Recorded, type Scenario, together } from './scenarios.ts';
import { accessOf } from '../kernel/stack/access.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** What is this machine's own in every recording. */
const OF_EVERY_RUN: Replacements = [
  [`file://${ROOT}`, 'file:///headroom/'],
  [ROOT, '/headroom/'],
  // A link in a second working tree.
  [`${realpathSync(join(ROOT, 'node_modules'))}/`, '/headroom/node_modules/'],
  [/\b\d+@[\w.-]+/g, 'operator@example'],
  [/(headroom-(?:worker|starter)@[\w.-]+)\/\d+/g, '$1/1'],
  [hostname(), 'host.example'],
];
/** What is wrong is told soon. */
const AUDIT = { HEADROOM_USAGE_MODE: 'audit', HEADROOM_USAGE_AUDIT_AFTER: '2s' };

/** What is recorded: everything, or only the scenarios of one room. */
const GROUPS = { resize: recordResize, usage: recordUsages, 'lights-out': recordLightsOut } as const;

const [only] = process.argv.slice(2);
const meant = Object.entries(GROUPS).filter(([name]) => only === undefined || name === only);
if (meant.length === 0) {
  console.error(`replay:record: "${only}" is none of ${Object.keys(GROUPS).join(', ')}`);
  process.exit(2);
}
try {
  let scenarios = 0;
  for (const [group, run] of meant) {
    await forgetUnreleased((name) => groupOf(name) === group);
    scenarios += await run();
  }
  console.log(`recorded ${scenarios} scenarios as ${UNRELEASED}`);
} catch (error) {
  console.error(error instanceof AggregateError ? error.errors : error);
  process.exitCode = 1;
}
process.exit();

function groupOf(name: string): keyof typeof GROUPS {
  if (name.startsWith('usage-')) return 'usage';
  return name.startsWith('lights-out-') ? 'lights-out' : 'resize';
}

/** Plays and records what needs a repository, most of it at once. Returns how many scenarios. */
async function recordResize(): Promise<number> {
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
    const all = Object.entries(together).map(async ([name, run]) => await play(name, run));
    const failures = (await Promise.allSettled(all)).filter((outcome) => outcome.status === 'rejected');
    if (failures.length > 0) throw new AggregateError(failures.map(({ reason }) => reason as unknown));
    for (const [name, run] of Object.entries(alone)) await play(name, run);
    for (const [name, episode] of episodes) await record(stack.client, name, episode, ofThisRun(stack));
    return episodes.size;
  } finally {
    await stack.stop();
  }
}

async function recordUsages(): Promise<number> {
  return (await recordUsage({}, owned)) + (await recordUsage(AUDIT, audited));
}

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
  const headroom = await startUsagePlane({ env });
  try {
    const { client, plane, temporal } = headroom;
    await Promise.all([headroom.startWorker(), headroom.startStarter()]);
    const admin = accessOf(plane.adminKubeconfig);
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

/** Plays and records schedules, one after the other, on a cluster of their own. Returns how many. */
async function recordLightsOut(): Promise<number> {
  const plane = await startLightsOutPlane();
  try {
    await Promise.all([plane.startWorker(), plane.startStarter()]);
    const cluster = new LightsOutCluster(plane);
    const replacements: Replacements = [
      [plane.temporal.address, 'temporal.example:7233'],
      [plane.plane.url, 'https://kubernetes.example'],
      ...OF_EVERY_RUN,
    ];
    for (const [name, run] of Object.entries(lightsOutScenarios)) {
      await record(plane.client, name, await run(cluster, name), replacements);
      console.log(name);
    }
    return Object.keys(lightsOutScenarios).length;
  } finally {
    await plane.stop();
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

/** `npm run replay:record`: drives every scenario on real servers and writes the histories that the replay test replays. */
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startStack, type Stack } from '../kernel/stack/stack.ts';
import { forgetUnreleased, type Replacements, UNRELEASED, writeHistory } from './histories.ts';
import { alone, type Recorded, type Scenario, together } from './scenarios.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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
  for (const [name, episode] of episodes) await record(stack, name, episode);
  console.log(`recorded ${episodes.size} scenarios as ${UNRELEASED}`);
} catch (error) {
  console.error(error instanceof AggregateError ? error.errors : error);
  process.exitCode = 1;
} finally {
  await stack.stop();
}
process.exit();

/** Writes the history of an episode, and of every run that it continued as: `name`, `name-2`, `name-3`. */
async function record({ client, ...servers }: Stack, name: string, { workflowId, runId }: Recorded): Promise<void> {
  let next: string | undefined = runId;
  for (let run = 1; next !== undefined; run += 1) {
    const history = await client.workflow.getHandle(workflowId, next).fetchHistory();
    await writeHistory(run === 1 ? name : `${name}-${run}`, history, ofThisRun(servers));
    next = history.events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId ?? undefined;
  }
}

function ofThisRun({ dir, forge, temporal, env }: Omit<Stack, 'client'>): Replacements {
  return [
    [env.worker['GITHUB_TOKEN'] ?? '', 'TOKEN'],
    [forge.url, 'https://forge.example'],
    [temporal.address, 'temporal.example:7233'],
    [dir, '/run/headroom'],
    [`file://${ROOT}`, 'file:///headroom/'],
    [ROOT, '/headroom/'],
    [/\b\d+@[\w.-]+/g, 'operator@example'],
    [/(headroom-(?:worker|starter)@[\w.-]+)\/\d+/g, '$1/1'],
    [hostname(), 'host.example'],
  ];
}

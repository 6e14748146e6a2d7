/** `headroom all-in-one`, as people start it: worker and starter in one process. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { launchProgram } from '../kernel/stack/launch-program.ts';
import { parted } from '../kernel/stack/programs.ts';
import { logFolder } from '../kernel/stack/log-folder.ts';
import { metricsOf } from '../kernel/stack/metrics-of.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS, givenQuota } from '../kernel/stack/watched-quota.ts';
import { runProgram } from './run-program.ts';

let stack: Stack;
let both: SupervisedProcess;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    // A starter that counts has a worker of its own for those who ask it.
    env: { ...quickAutoMerge, HEADROOM_USAGE_MODE: 'audit' },
    workers: 0,
    starters: 0,
  });
  const logFile = join(logFolder(stack.dir), 'all-in-one.log');
  both = await launchProgram({
    name: 'all-in-one',
    env: environment(),
    logFile,
    onStarted: (it) => stack.processes.push(it),
  });
});
afterAll(async () => await stack?.stop());

/** One account for both, that of whoever tries it, and every constant as it ships. */
function environment(): Readonly<Record<string, string>> {
  return { ...parted(stack.env.worker).env, KUBECONFIG: stack.controlPlane.adminKubeconfig };
}

it('raises a quota from the denial to the merge', { timeout: EPISODE_MS }, async () => {
  const quota = await givenQuota(stack, { namespace: 'together', hard: { pods: '10' } });
  await quota.deploy('web', 8, { cpu: '10m' });
  await quota.reaches('CoolingDown', 'CoolingDown');
  expect(await quota.hard()).toEqual({ pods: '12' });
});

it('is ready for what both are ready for, and serves the metrics of both at one address', async () => {
  const log = await readFile(both.logFile, 'utf8');
  expect(log).toContain('"name":"headroom-all-in-one"');
  const [, health] = /"health":"([^"]+)"/.exec(log) ?? [];
  const response = await fetch(`${health}/readyz`);
  expect(response.status).toBe(200);
  const { conditions } = (await response.json()) as { conditions: Record<string, unknown> };
  expect(both.exit()).toBeUndefined();
  expect(Object.keys(conditions)).toEqual(
    expect.arrayContaining(['kubernetes', 'temporal', 'workflow worker', 'watch resourcequotas']),
  );
  const metrics = await metricsOf(both);
  expect(metrics).toContain('headroom_starter_watch_stale_seconds{');
  expect(metrics).toContain('temporal_workflow_task_schedule_to_start_latency_seconds_count{');
});

it('takes no webhooks, and says so before it does anything', async () => {
  for (const [name, value] of [
    ['GITHUB_WEBHOOKS', 'true'],
    ['HEADROOM_MEMCACHED_WEBHOOK_ADDRESS', '127.0.0.1:0'],
  ] as const) {
    const { code, stderr } = await runProgram('headroom', ['all-in-one'], { ...environment(), [name]: value });
    expect(code).toBe(2);
    expect(stderr).toContain(
      `${name}: is not for worker and starter in one process, which takes no webhooks: leave it out, or run them apart`,
    );
  }
});

it('takes the flags of both, and those of the command line before its name', async () => {
  const { code, stdout } = await runProgram('headroom', ['--cluster-name', 'x', 'all-in-one', '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain('--metrics-address');
  const wrong = await runProgram('headroom', ['all-in-one', '--pods', '1'], environment());
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--pods');
});

it('stops in order', async () => {
  both.signal('SIGTERM');
  await expect(both.exited).resolves.toMatchObject({ code: 0 });
});

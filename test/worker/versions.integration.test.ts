/** Releases as versions of a worker deployment: what runs where, and what an operator has to do. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resolveServer } from '../../tools/resolver/resolve-server.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { logFolder } from '../kernel/stack/log-folder.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from '../quota-resize/phases.ts';

const DEPLOYMENT = 'headroom-test';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 50 },
    env: quickAutoMerge,
    workers: 0,
  });
});
afterAll(async () => await stack?.stop());

async function startRelease(buildId: string): Promise<SupervisedProcess> {
  return await stack.startWorker({ TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT, TEMPORAL_WORKER_BUILD_ID: buildId });
}

/** Temporal's own command line. */
async function temporal(args: readonly string[]): Promise<void> {
  await promisify(execFile)(await resolveServer('temporal'), args, { env: { HOME: '/nonexistent' } });
}

/** Runs the command in the log of a worker that is given no workflows, as it is, once the log has it. */
async function becomesCurrent(worker: string, current: string): Promise<void> {
  const says = new RegExp(
    `is given no workflows, because .* has ${current} as its current version\\. .*: temporal (.*?)"`,
  );
  const args = await eventually(`the log of ${worker} has the command`, async () => {
    const log = await readFile(join(logFolder(stack.dir), `${worker}.log`), 'utf8');
    return says.exec(log)?.[1]?.split(' ');
  });
  await temporal(args);
}

async function raised(namespace: string): Promise<WatchedQuota> {
  const quota = await givenQuota(stack, { namespace, hard: { pods: '4' } });
  await quota.deploy('web', 6, { cpu: '10m' });
  return quota;
}

/** The build id that the last task of its episode ran on; empty without one. */
async function buildOf(quota: WatchedQuota): Promise<string> {
  const { raw } = await stack.client.workflow.getHandle(quota.workflowId).describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? '';
}

it(
  'versioning is switched on, a release takes over from the one before, and it is switched off',
  SEVERAL_PHASES,
  async () => {
    const without = await stack.startWorker();
    const zero = await raised('zero');
    await zero.reaches('CoolingDown');
    expect(await buildOf(zero)).toBe('');

    const first = await startRelease('one');
    await becomesCurrent('worker-2', 'no version');
    await without.stop();
    const one = await raised('one');
    await one.reaches('CoolingDown');
    expect(await buildOf(one)).toBe('one');

    await startRelease('two');
    await first.stop();
    await becomesCurrent('worker-3', 'one');
    const two = await raised('two');
    await two.reaches('CoolingDown');
    expect(await buildOf(two)).toBe('two');
    // They slept without a version and on the first release, and are woken on the second.
    for (const quota of [zero, one]) {
      await quota.command('skipCooldown');
      await eventually('the episode runs on the second release', async () => (await buildOf(quota)) === 'two');
    }

    await stack.startWorker();
    const { address, namespace } = stack.temporal;
    const place = ['--address', address, '--namespace', namespace, '--deployment-name', DEPLOYMENT];
    await temporal(['worker', 'deployment', 'set-current-version', ...place, '--unversioned', '--yes']);
    const last = await raised('last');
    await last.reaches('CoolingDown');
    expect(await buildOf(last)).toBe('');
  },
);

import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quotaResizeId } from '../../domain/quota-resize/target.ts';
import type { Hold } from '../kernel/forge/http/faults.ts';
import { untilHeld } from '../kernel/forge/until-held.ts';
import type { SupervisedProcess } from '../kernel/servers/supervised-process.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { ONE_OF_EACH, writtenFor } from './decision-writes.ts';
import { namespaceFiles, press, quickTimings, targetOf, untilResized } from './pressed-namespaces.ts';
import { openingOf } from '../kernel/forge/opening.ts';

const namespaces = [
  'starter-alive',
  'starter-away',
  'worker-stops',
  'worker-stops-unanswered',
  'starter-stops',
  'cluster-away',
  'cluster-back',
  'token-expired',
  'temporal-away',
  'temporal-missed',
] as const;

/**
 * What was held up may back off for 30 s before its next attempt, and so may whoever watches the cluster; that adds up when a
 * server was away for several steps of an episode.
 */
const RESIZED_MS = 120_000;
/**
 * A test waits until an episode stands somewhere, for two episodes, one after the other, and for processes and servers that
 * start; each of these waits has its own end, and says what did not come.
 */
const timeout = 3 * RESIZED_MS + 180_000;

let stack: Stack;
let worker: SupervisedProcess;
let starter: SupervisedProcess;

beforeAll(async () => {
  stack = await startStack({
    files: namespaceFiles(namespaces),
    // What is under way is broken off after half of it; the other half is for stopping, also on a machine under load.
    env: { ...quickTimings, 'process.shutdownGrace': '16s' },
    durableTemporal: true,
    workers: 0,
    starters: 0,
  });
  [worker, starter] = await Promise.all([nextWorker(), nextStarter()]);
});

afterAll(async () => {
  await stack?.stop();
});

/** Each process has a kubeconfig of its own, so that a test decides when it learns of another token. */
async function kubeconfigOf(user: 'worker' | 'starter'): Promise<string> {
  const own = join(stack.dir, `${user}.kubeconfig`);
  await copyFile(stack.controlPlane.kubeconfigFor(`headroom-${user}`), own);
  return own;
}

async function nextWorker(): Promise<SupervisedProcess> {
  return await stack.startWorker({ KUBECONFIG: await kubeconfigOf('worker') });
}

async function nextStarter(): Promise<SupervisedProcess> {
  return await stack.startStarter({ KUBECONFIG: await kubeconfigOf('starter') });
}

async function resized(namespace: string): Promise<void> {
  await untilResized(stack, namespace, RESIZED_MS);
}

/** Waits until the episode of a namespace stands at a request to GitHub. */
async function standsAt(hold: Hold, namespace: string): Promise<void> {
  await untilHeld(hold, `a request of ${namespace} is held`, RESIZED_MS);
}

/** How a process ended that was told to stop. */
async function ended(process: SupervisedProcess) {
  return await eventually(`the ${process.name} has ended`, () => process.exit());
}

/** The body of `/readyz`. */
async function readinessOf(process: SupervisedProcess): Promise<string> {
  const address = /"health":"([^"]+)"/.exec(await readFile(process.logFile, 'utf8'))?.[1];
  return await (await fetch(`${address}/readyz`)).text();
}

async function isReady(process: SupervisedProcess): Promise<void> {
  await eventually(`the ${process.name} is ready again`, async () =>
    (await readinessOf(process)).startsWith('{"ready":true'),
  );
}

async function saysInReadiness(process: SupervisedProcess, words: RegExp): Promise<void> {
  await eventually(`/readyz of the ${process.name} says ${words}`, async () => words.test(await readinessOf(process)));
}

async function logs(process: SupervisedProcess, words: RegExp): Promise<void> {
  await eventually(`the ${process.name} logs ${words}`, async () =>
    words.test(await readFile(process.logFile, 'utf8')),
  );
}

/** What the activity that an episode retries said last. */
async function saysWhatItWaitsFor(namespace: string, words: RegExp): Promise<void> {
  const handle = stack.client.workflow.getHandle(quotaResizeId(targetOf(namespace)));
  await eventually(`the episode of ${namespace} says ${words}`, async () => {
    const { raw } = await handle.describe();
    return (raw.pendingActivities ?? []).some((activity) => words.test(activity.lastFailure?.message ?? ''));
  });
}

describe('a starter', { timeout }, () => {
  it('that was killed finds what happened meanwhile, and starts nothing again that is done', async () => {
    await press(stack, 'starter-alive');
    await resized('starter-alive');
    await starter.kill();
    await press(stack, 'starter-away');
    starter = await nextStarter();
    await resized('starter-away');
  });

  it('stops with 0 on SIGTERM, and the next one goes on', async () => {
    starter.signal('SIGTERM');
    expect(await ended(starter)).toEqual({ code: 0, signal: null });
    await press(stack, 'starter-stops');
    starter = await nextStarter();
    await resized('starter-stops');
  });
});

describe('a worker', { timeout }, () => {
  it('that gets SIGTERM ends the write that it is at, stops with 0, and the next one goes on', async () => {
    const hold = stack.forge.hold({ ...openingOf('worker-stops'), when: 'after' });
    await press(stack, 'worker-stops');
    await standsAt(hold, 'worker-stops');
    worker.signal('SIGTERM');
    await logs(worker, /stopping: SIGTERM/);
    hold.release();
    expect(await ended(worker)).toEqual({ code: 0, signal: null });
    worker = await nextWorker();
    await resized('worker-stops');
  });

  it('that gets SIGTERM while GitHub does not answer stops with 0 within its grace, and the next one goes on', async () => {
    const hold = stack.forge.hold({ ...openingOf('worker-stops-unanswered'), when: 'after' });
    await press(stack, 'worker-stops-unanswered');
    await standsAt(hold, 'worker-stops-unanswered');
    worker.signal('SIGTERM');
    expect(await ended(worker)).toEqual({ code: 0, signal: null });
    hold.abandon();
    worker = await nextWorker();
    await resized('worker-stops-unanswered');
  });
});

describe('an API server', { timeout }, () => {
  it('that is away is waited for, visibly, and then everything goes on', async () => {
    const hold = stack.forge.hold({ method: 'PUT', path: '/pulls/*/merge', body: 'cluster-away', when: 'before' });
    await press(stack, 'cluster-away');
    await standsAt(hold, 'cluster-away');
    await stack.controlPlane.killApiServer();
    hold.release();
    await saysWhatItWaitsFor('cluster-away', /the Kubernetes API does not answer: .*ECONNREFUSED/);
    for (const process of [worker, starter]) {
      await saysInReadiness(process, /waiting for Kubernetes at https:\S+: .*ECONNREFUSED/);
      await logs(process, /"waiting for Kubernetes at https:[^"]*ECONNREFUSED/);
    }
    await saysInReadiness(starter, /"watch resourcequotas":\{"ready":false,"reason":"broken for \d+ (?:s|min)"/);
    await logs(starter, /"waiting for Kubernetes to watch resourcequotas"/);
    await stack.controlPlane.startApiServer();
    await resized('cluster-away');
    for (const process of [worker, starter]) await isReady(process);
    await press(stack, 'cluster-back');
    await resized('cluster-back');
  });

  it('that refuses an expired token is asked again with the next one', async () => {
    for (const user of ['worker', 'starter'] as const) await stack.controlPlane.rotateToken(`headroom-${user}`);
    await press(stack, 'token-expired');
    for (const process of [worker, starter]) {
      await logs(process, /"waiting for Kubernetes at https:\S+ 401 Unauthorized/);
      await saysInReadiness(process, /waiting for Kubernetes at https:\S+ 401 Unauthorized/);
    }
    for (const user of ['worker', 'starter'] as const) await kubeconfigOf(user);
    await resized('token-expired');
    for (const process of [worker, starter]) await isReady(process);
  });
});

describe('Temporal', { timeout }, () => {
  it('that is away is waited for, visibly, and then the episode is finished', async () => {
    const hold = stack.forge.hold({ method: 'PUT', path: '/pulls/*/merge', body: 'temporal-away', when: 'after' });
    await press(stack, 'temporal-away');
    await standsAt(hold, 'temporal-away');
    await stack.temporal.kill();
    hold.release();
    await press(stack, 'temporal-missed');
    for (const process of [worker, starter]) {
      await logs(process, /"waiting for Temporal at 127/);
      await saysInReadiness(process, /waiting for Temporal at 127/);
    }
    await stack.temporal.restart();
    await resized('temporal-away');
    await resized('temporal-missed');
    for (const process of [worker, starter]) await isReady(process);
  });
});

describe('all of this together', { timeout }, () => {
  it('has led to one branch, commit, pull request and merge for each quota', async () => {
    const done: Record<string, readonly string[]> = {};
    for (const namespace of namespaces) done[namespace] = await writtenFor(stack, namespace);
    expect(done).toEqual(Object.fromEntries(namespaces.map((namespace) => [namespace, ONE_OF_EACH])));
  });
});

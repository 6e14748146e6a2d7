import { PatchStrategy, RbacAuthorizationV1Api, setHeaderOptions } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyOf } from '../../activities/kernel/pause.ts';
import { PAUSES, type PauseScope } from '../../domain/kernel/pause.ts';
import { storePause } from '../../domain/kernel/stored-pause.ts';
import { targetName } from '../../domain/kernel/target.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually, never } from '../kernel/stack/eventually.ts';
import { quickAutoMerge } from '../kernel/stack/quick-settings.ts';
import { startStack, type Stack, SYSTEM_NAMESPACE } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';

const byPeople = { 'resizer.io/auto-merge': 'false' };
const merge = setHeaderOptions('Content-Type', PatchStrategy.MergePatch);

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 300, validate: false },
    env: quickAutoMerge,
  });
});
afterAll(async () => await stack?.stop());

/** As `headroom pause` writes it; null ends it. */
async function say(scope: Exclude<PauseScope, { kind: 'everything' }>, by: string | null): Promise<void> {
  const value = by === null ? null : storePause({ by, reason: 'a test', at: Date.now() });
  await stack.core.patchNamespacedConfigMap(
    { name: PAUSES, namespace: SYSTEM_NAMESPACE, body: { data: { [keyOf(scope)]: value } } },
    merge,
  );
}

async function kept(): Promise<Readonly<Record<string, string>>> {
  const { data = {} } = await stack.core.readNamespacedConfigMap({ name: PAUSES, namespace: SYSTEM_NAMESPACE });
  return data;
}

function scopeOf(quota: WatchedQuota): Extract<PauseScope, { kind: 'target' }> {
  return { kind: 'target', controller: 'quota-resize', name: targetName(quota.target) };
}

describe('a pause', () => {
  it('that was sent to an episode survives its termination, and ends with resume', async () => {
    const quota = await givenQuota(stack, { namespace: 'terminated', hard: { pods: '10' }, annotations: byPeople });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingMerge');
    await quota.signal('pause', { by: 'alice', reason: 'a freeze' });
    const paused = await quota.reaches('Paused', 'Paused');
    expect(paused).toMatchObject({ paused: { by: 'alice', reason: 'a freeze' } });
    expect(Object.keys(await kept())).toContain(keyOf(scopeOf(quota)));
    await quota.terminate();
    await quota.annotate({ 'resizer.io/auto-merge': null });
    const writes = stack.forge.writes.length;
    await quota.deploy('more', 1, { cpu: '10m' });
    const again = await quota.reaches('Paused', 'Paused');
    expect(again).toMatchObject({ paused: { by: 'alice', reason: 'a freeze' } });
    await never('it is merged', () => stack.forge.writes.length > writes, 1_000);
    await quota.command('resume', { by: 'alice' });
    await quota.reaches('CoolingDown');
    expect(Object.keys(await kept())).not.toContain(keyOf(scopeOf(quota)));
  });

  it.each<[string, (quota: WatchedQuota) => Exclude<PauseScope, { kind: 'everything' }>]>([
    ['idle', scopeOf],
    ['namespace', ({ target: { namespace } }) => ({ kind: 'namespace', namespace })],
    ['controller', () => ({ kind: 'controller', controller: 'quota-resize' })],
  ])('of what is idle holds before anything runs: %s', async (name, scope) => {
    const quota = await givenQuota(stack, { namespace: `paused-${name}`, hard: { pods: '10' } });
    await say(scope(quota), 'bob');
    await quota.deploy('web', 9, { cpu: '10m' });
    const paused = await quota.reaches('Paused', 'Paused');
    expect(paused).toMatchObject({ paused: { by: 'bob', reason: 'a test' } });
    expect(await quota.lease()).toBeNull();
    expect(await quota.events()).toEqual([]);
    await say(scope(quota), null);
    await quota.reaches('CoolingDown');
    expect(quota.pullRequests()).toHaveLength(1);
  });

  it.each<[string, (quota: WatchedQuota) => Exclude<PauseScope, { kind: 'everything' }>]>([
    ['namespace', ({ target: { namespace } }) => ({ kind: 'namespace', namespace })],
    ['controller', () => ({ kind: 'controller', controller: 'quota-resize' })],
  ])('is shown by an episode that only waits, and so is its end: %s', async (name, scope) => {
    const namespace = `waiting-${name}`;
    const quota = await givenQuota(stack, { namespace, hard: { pods: '10' }, annotations: byPeople });
    await quota.deploy('web', 9, { cpu: '10m' });
    await quota.reaches('AwaitingMerge');
    await say(scope(quota), 'bob');
    const { detail } = await quota.reaches('Paused', 'Paused');
    expect(detail).toMatch(new RegExp(`^the ${name} is paused by bob since `));
    await say(scope(quota), null);
    await quota.reaches('AwaitingMerge');
  });

  it('that cannot be read lets nothing be written', async () => {
    const quota = await givenQuota(stack, { namespace: 'unreadable', hard: { pods: '10' } });
    const name = 'headroom-worker';
    const rbac = accessOf(stack.controlPlane.adminKubeconfig).makeApiClient(RbacAuthorizationV1Api);
    const role = await rbac.readNamespacedRole({ name, namespace: SYSTEM_NAMESPACE });
    const rules = (role.rules ?? []).filter(({ resources }) => !resources?.includes('configmaps'));
    await rbac.patchNamespacedRole({ name, namespace: SYSTEM_NAMESPACE, body: { rules } }, merge);
    // What the worker has read before counts for 30 s; one that is started now has read nothing.
    for (const worker of stack.processes.filter(({ name }) => name.startsWith('worker'))) await worker.stop();
    await stack.startWorker();
    await quota.deploy('web', 9, { cpu: '10m' });
    const handle = stack.client.workflow.getHandle(quota.workflowId);
    await eventually('it cannot look', async () => {
      const { raw } = await handle.describe();
      return (raw.pendingActivities ?? []).some(({ lastFailure }) => lastFailure?.message?.includes('configmaps'));
    });
    expect(await quota.lease()).toBeNull();
    expect(quota.pullRequests()).toEqual([]);
    await rbac.patchNamespacedRole({ name, namespace: SYSTEM_NAMESPACE, body: { rules: role.rules } }, merge);
    await quota.reaches('CoolingDown');
  });
});

/** When a rollout counts as seen whole: when its owners say so. The clock of these tests would take ten minutes. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quickSettings } from '../kernel/stack/quick-settings.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { givenQuota, type WatchedQuota } from '../kernel/stack/watched-quota.ts';
import { SEVERAL_PHASES } from './phases.ts';

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    files: { 'README.md': '# acme/gitops\n' },
    env: { ...quickSettings, HEADROOM_MODE: 'propose', 'timings.demandSettle': '10m' },
  });
});
afterAll(async () => await stack?.stop());

const template = {
  metadata: { labels: { app: 'web' } },
  spec: {
    containers: [{ name: 'app', image: 'registry.example/app:1', resources: { requests: { cpu: '500m' } } }],
  },
};
const selector = { matchLabels: { app: 'web' } };

/** The limit in the only commit of the only pull request. */
async function proposed(quota: WatchedQuota): Promise<string | undefined> {
  const { number, head, commits } = await quota.pullRequest();
  expect({ number: quota.pullRequests(), commits }).toEqual({ number: [number], commits: 1 });
  const text = (await stack.forge.readFile(head.ref, quota.path)) ?? '';
  return /requests\.cpu: *"?([^"\n]+)"?/.exec(text)?.[1];
}

describe.concurrent('a refusal is acted on when its owner is done', SEVERAL_PHASES, () => {
  it('a Deployment', async () => {
    const quota = await givenQuota(stack, { namespace: 'deployment', hard: { 'requests.cpu': '2' } });
    await quota.deploy('web', 6, { cpu: '500m' });
    // Six pods need 3 CPUs: 80 % of 3750m, rounded up.
    expect(await proposed(quota)).toBe('3800m');
  });

  it('a StatefulSet', async () => {
    const namespace = 'stateful-set';
    const quota = await givenQuota(stack, { namespace, hard: { 'requests.cpu': '2' } });
    const spec = { replicas: 6, serviceName: 'web', selector, template, podManagementPolicy: 'Parallel' };
    await stack.apps.createNamespacedStatefulSet({ namespace, body: { metadata: { name: 'web' }, spec } });
    expect(await proposed(quota)).toBe('3800m');
  });

  it('ten Deployments in three seconds, in one commit', async () => {
    const quota = await givenQuota(stack, { namespace: 'rollout', hard: { 'requests.cpu': '7' } });
    const deployed: Promise<void>[] = [];
    for (let index = 0; index < 10; index += 1) {
      deployed.push(quota.deploy(`web-${index}`, 2, { cpu: '500m' }));
      if (index < 9) await sleep(333);
    }
    await Promise.all(deployed);
    // They need 10 CPUs, of which 7 are there: 80 % of 12500m, rounded up.
    expect(await proposed(quota)).toBe('13');
  });
});

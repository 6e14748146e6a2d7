import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../kernel/stack/eventually.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { EPISODE_MS } from '../kernel/stack/watched-quota.ts';
import { TEST_BUNDLE } from '../kernel/stack/workflow-bundle.ts';
import { createDeployment } from '../kernel/stack/workloads.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Admission comes to know the quota, and then an episode takes its time. */
const timeout = 2 * EPISODE_MS;

let stack: Stack;

beforeAll(async () => {
  // Compiled for all tests, by the very command that an image is made with.
  const bundle = process.env[TEST_BUNDLE];
  if (bundle === undefined) throw new Error(`the run has made no bundle: ${TEST_BUNDLE} is not set`);
  stack = await startStack({
    files: {
      'managed-resources/test/team-a/all.yaml': `apiVersion: v1
kind: Namespace
metadata: { name: team-a }
---
apiVersion: v1
kind: ResourceQuota
metadata: { name: compute, namespace: team-a }
spec: { hard: { requests.cpu: "1" } }
`,
    },
    env: { HEADROOM_WORKFLOW_BUNDLE: bundle, HEADROOM_DEMAND_SETTLE: '100ms' },
  });
});
afterAll(async () => {
  await stack?.stop();
});

it('a worker with the bundle of an image takes an episode to its recommendation', { timeout }, async () => {
  const { core, apps } = stack;
  // Admission has a cache of its own, and while that is behind the first count, a pod is let in that nobody charges.
  await eventually('admission goes by the quota', async () => {
    const resources = { requests: { cpu: '2' } };
    const body = {
      metadata: { name: 'too-large' },
      spec: { containers: [{ name: 'app', image: 'app:1', resources }] },
    };
    const tried = core.createNamespacedPod({ namespace: 'team-a', dryRun: 'All', body });
    await expect(tried).rejects.toThrow('exceeded quota');
    return true;
  });
  await createDeployment(apps, { namespace: 'team-a', name: 'web', replicas: 1, requests: { cpu: '900m' } });
  const recommendation = async () => {
    const { items } = await core.listNamespacedEvent({ namespace: 'team-a' });
    return items.find(({ reason }) => reason === 'QuotaResizeRecommended');
  };
  const event = await eventually('the recommendation is an Event on the quota', recommendation, EPISODE_MS);
  expect(event.message).toContain('requests.cpu should be raised from 1 to 1200m');
});

it('the command says in one sentence which argument it wants', async () => {
  const run = promisify(execFile)(process.execPath, [join(ROOT, 'worker/bundle-main.ts')], { cwd: ROOT });
  await expect(run).rejects.toMatchObject({
    code: 2,
    stderr: 'expected one argument, the path of the bundle to write: npm run bundle -- workflow-bundle.js\n',
  });
});

import { PauseView } from '../../activities/kernel/pause-view.ts';
import { KubeConfig } from '@kubernetes/client-node';
import { Client, Connection } from '@temporalio/client';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import type { NodeGroupCacheActivities } from '../../activities/node-group/interface.ts';
import type { UsageCacheActivities } from '../../activities/quota-usage/interface.ts';
import type { UsageCache } from '../../activities/quota-usage/usage-cache.ts';
import { createUsageCacheActivities } from '../../activities/quota-usage/cache-activities.ts';
import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import { loadConfig } from '../../starter/config.ts';
import type { WorkerController } from '../../worker/controller.ts';
import { controllers } from '../../worker/registry.ts';
import { createActivities } from '../../worker/workers.ts';
import * as workflows from '../../workflows/index.ts';
import { declaredActivities } from '../kernel/activity-names.ts';

/** Whatever is switched on. */
const all = Object.fromEntries<WorkerController>(
  Object.entries(controllers).map(([name, controller]) => [name, { ...controller, isEnabled: () => true }]),
) as Record<ControllerName, WorkerController>;
const REPOSITORY = { GITHUB_TOKEN: 'token-of-nobody', GITHUB_OWNER: 'acme', GITHUB_REPO: 'gitops' };

/** What the starters would run, which hold the caches. */
const ofStarters = {
  ...createUsageCacheActivities({
    cache: {} as UsageCache,
    cluster: 'test',
    policy: { mode: 'own', auditAfterMs: 60_000 },
  }),
  observeNodeGroup: async () => await Promise.reject(new Error('a starter answers it, which has plans')),
} satisfies UsageCacheActivities & NodeGroupCacheActivities;

/** What the worker would run, connected to nothing. */
function activitiesWith(env: Record<string, string>): object {
  return Object.assign({}, ...byControllerWith(env).values());
}

function byControllerWith(env: Record<string, string>): ReturnType<typeof createActivities> {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromClusterAndUser(
    { name: 'nowhere', server: 'https://127.0.0.1:1', skipTLSVerify: false },
    { name: 'nobody' },
  );
  return createActivities(all, {
    config: loadConfig({ env: { CLUSTER_NAME: 'test', ...env }, argv: [] }),
    kubeConfig,
    temporal: new Client({ connection: Connection.lazy({ address: '127.0.0.1:1' }) }),
    pauses: new PauseView(async () => ({ everything: null, pauses: null })),
    tracing: null,
    log: pino({ enabled: false }),
  });
}

describe('the registry', () => {
  it('has a definition for every controller, and no other', () => {
    expect(Object.keys(controllers).toSorted()).toEqual([...controllerNames].toSorted());
  });

  it('gives every workflow type to exactly one controller', () => {
    const ofControllers = Object.values(controllers).flatMap(({ workflowTypes }) => workflowTypes);
    expect(ofControllers.toSorted()).toEqual(Object.keys(workflows).toSorted());
  });

  it.each([
    ['with a repository', REPOSITORY],
    ['without one, which is enough for observing', {}],
  ])('provides exactly the activities that workflows are promised, %s', async (_, env) => {
    const provided = { ...activitiesWith(env), ...ofStarters };
    const declared = await declaredActivities();
    expect(declared.length).toBeGreaterThan(0);
    expect(Object.keys(provided).toSorted()).toEqual(declared.toSorted());
    for (const activity of Object.values(provided)) expect(activity).toBeTypeOf('function');
  });
});

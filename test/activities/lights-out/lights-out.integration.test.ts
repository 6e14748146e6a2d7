import type { V1ClusterRole } from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { templateObjects } from '../../kernel/stack/chart.ts';
import { autoscalerTests } from './autoscalers.ts';
import { catchUpTests } from './catch-up.ts';
import { type Cluster, startCluster, WORKER } from './cluster.ts';
import { customTests } from './custom.ts';
import { exemptTests } from './exempt.ts';
import { memoryTests } from './remembered.ts';
import { scalingTests } from './scaling.ts';
import { refusedRights, rolesOf } from '../refused-rights.ts';
import { scheduleTests } from './schedules.ts';
import { waitingTests } from './waiting.ts';

// One control plane for all of them: the last tests break its API server, and read its audit log for what the worker's role
// is used for.
let cluster: Cluster | undefined;

beforeAll(async () => {
  cluster = await startCluster();
});

afterAll(async () => {
  await cluster?.stop();
});

function running(): Cluster {
  if (cluster === undefined) throw new Error('the control plane did not start');
  return cluster;
}

scalingTests(running);
autoscalerTests(running);
scheduleTests(running);
memoryTests(running);
catchUpTests(running);
exemptTests(running);
customTests(running);
waitingTests(running);

describe('the role of the worker', () => {
  it('allows everything that the activities ask for, and has no rule that they do not use', async () => {
    const role = ((await templateObjects('lights-out/rbac')) as V1ClusterRole[]).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata?.name === 'headroom-worker-lights-out',
    );
    const wanted = (role?.rules ?? []).flatMap(({ verbs, apiGroups = [], resources = [] }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${resource} ${group}`)),
      ),
    );
    expect(wanted.length).toBeGreaterThan(10);
    // An event is in the log shortly after its answer.
    await vi.waitFor(
      async () => {
        const events = (await running().plane.auditEvents()).filter(({ user }) => user.username === WORKER);
        const forbidden = events.filter(
          ({ annotations }) => annotations?.['authorization.k8s.io/decision'] === 'forbid',
        );
        const roles = rolesOf(running().plane.adminKubeconfig);
        expect(await refusedRights(forbidden, roles, (user) => user === WORKER)).toEqual([]);
        const used = new Set(
          events.map(({ verb, objectRef }) => {
            const subresource = objectRef?.subresource === undefined ? '' : `/${objectRef.subresource}`;
            return `${verb} ${objectRef?.resource}${subresource} ${objectRef?.apiGroup ?? ''}`;
          }),
        );
        expect(wanted.filter((rule) => !used.has(rule))).toEqual([]);
      },
      { timeout: 40_000, interval: 200 },
    );
  });
});

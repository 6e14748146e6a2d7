/** Servers that scenarios are played on: real ones, started once for all controllers that need the same. */
import type { HeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import { type Stack, startStack } from '../kernel/stack/stack.ts';
import { LightsOutCluster, startLightsOutPlane } from '../lights-out/cluster.ts';
import { startUsagePlane } from '../quota-usage/planes.ts';
import { OF_EVERY_RUN, type Started } from './stages.ts';

/** A repository, a forge, a cluster, and a Headroom that opens pull requests and merges them. */
export async function withRepository(): Promise<Started<Stack>> {
  const stack = await startStack({
    ownServers: true,
    files: { 'README.md': '# acme/gitops\n' },
    forge: { checks: 'pass', checkDelayMs: 300, validate: false },
    env: {
      HEADROOM_MODE: 'propose',
      ENABLE_AUTO_MERGE: 'true',
      'timings.demandSettle': '300ms',
      'timings.checksPollMin': '300ms',
      'timings.updateInterval': '1s',
      'timings.needGone': '5s',
      'timings.holdRetry': '2s',
      'timings.syncPoll': '300ms',
      HEADROOM_SYNC_OVERDUE: '2s',
    },
    log: (message) => console.log(message),
  });
  const { client, dir, env, forge, temporal } = stack;
  return {
    servers: stack,
    client,
    replacements: [
      [env.worker['GITHUB_TOKEN'] ?? '', 'TOKEN'],
      [forge.url, 'https://forge.example'],
      [temporal.address, 'temporal.example:7233'],
      [dir, '/run/headroom'],
      ...OF_EVERY_RUN,
    ],
    stop: async () => await stack.stop(),
  };
}

/** A cluster whose quotas Headroom counts in place of Kubernetes. */
export async function withCountedQuotas(): Promise<Started<HeadroomPlane>> {
  return await started(await startUsagePlane({ ownServers: true }), (plane) => plane);
}

/** A cluster whose quotas Headroom counts and compares; what is wrong is told after seconds. */
export async function withAuditedQuotas(): Promise<Started<HeadroomPlane>> {
  const env = { HEADROOM_USAGE_MODE: 'audit', 'quotaUsage.auditAfter': '10s' };
  return await started(await startUsagePlane({ env, ownServers: true }), (plane) => plane);
}

/** A cluster with LightsOutSchedules. */
export async function withSchedules(): Promise<Started<LightsOutCluster>> {
  return await started(await startLightsOutPlane({ ownServers: true }), (plane) => new LightsOutCluster(plane));
}

/** Worker and starter on a plane, as the recorder needs them. */
export async function started<Servers>(
  plane: HeadroomPlane,
  serversOf: (plane: HeadroomPlane) => Servers,
): Promise<Started<Servers>> {
  await Promise.all([plane.startWorker(), plane.startStarter()]);
  return {
    servers: serversOf(plane),
    client: plane.client,
    replacements: [
      [plane.temporal.address, 'temporal.example:7233'],
      [plane.plane.url, 'https://kubernetes.example'],
      ...OF_EVERY_RUN,
    ],
    stop: async () => await plane.stop(),
  };
}

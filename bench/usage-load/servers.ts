import type { Client } from '@temporalio/client';
import type { AuditEvent } from '../../test/kernel/servers/audit-log.ts';
import type { ControlPlane } from '../../test/kernel/servers/control-plane.ts';
import { freePort } from '../../test/kernel/servers/free-port.ts';
import { startUsagePlane, startOriginalPlane } from '../../test/quota-usage/planes.ts';
import { countersIn } from './counters.ts';

/** The clusters that are compared, and the processes that they are made of. */
export interface LoadServers {
  /** The kubeconfig of an admin of each, by the name that the report has for it. */
  readonly clusters: Readonly<Record<string, string>>;
  readonly pids: () => Readonly<Record<string, number>>;
  /** Null where both clusters have Kubernetes' own controller. */
  readonly headroom: {
    readonly client: Client;
    /** The requests to the API server of its cluster. */
    readonly auditEvents: () => Promise<readonly AuditEvent[]>;
    /** The users that its processes are. */
    readonly users: readonly string[];
    /** What its starter has counted of its own work since it started: `recounts_total` and the like. */
    readonly counters: () => Promise<Readonly<Record<string, number>>>;
  } | null;
  readonly stop: () => Promise<void>;
}

/** The default of Kubernetes. Tests have the controller resync more often. */
const originalResync = { controllerManagerFlags: ['--resource-quota-sync-period=5m0s'] };

/** The harness's own range has 254 addresses, and every namespace gets services. */
const apiServerFlags = ['--service-cluster-ip-range=10.0.0.0/16'];

/**
 * A cluster with Kubernetes' own controller, and one with Headroom in its place.
 *
 * @param isDoubled whether a second starter stands by, as in a deployment that survives the loss of one.
 */
export async function startAgainstHeadroom(isDoubled: boolean): Promise<LoadServers> {
  const [original, headroom] = await Promise.all([
    startOriginalPlane({ ...originalResync, apiServerFlags }),
    startUsagePlane({ apiServerFlags, ownServers: true }),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all([original.stop(), headroom.stop()]);
  };
  try {
    const metrics = `127.0.0.1:${await freePort()}`;
    const [worker, starter] = await Promise.all([
      headroom.startWorker(),
      headroom.startStarter({ METRICS_ADDRESS: metrics }),
    ]);
    // The first one has the Lease by now.
    const second = isDoubled ? await headroom.startStarter() : null;
    return {
      clusters: { original: original.adminKubeconfig, headroom: headroom.plane.adminKubeconfig },
      pids: () => ({
        ...pidsOf('original', original),
        ...pidsOf('headroom', headroom.plane),
        'headroom temporal': headroom.temporal.pid(),
        'headroom worker': worker.pid,
        'headroom starter': starter.pid,
        ...(second === null ? {} : { 'headroom second starter': second.pid }),
      }),
      headroom: {
        client: headroom.client,
        auditEvents: headroom.plane.auditEvents,
        users: ['headroom-worker', 'headroom-starter'],
        counters: async () => countersIn(await (await fetch(`http://${metrics}/metrics`)).text(), 'headroom_usage_'),
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Two clusters with Kubernetes' own controller: how far apart two of the same are. */
export async function startOriginalTwice(): Promise<LoadServers> {
  const [first, second] = await Promise.all([
    startOriginalPlane({ ...originalResync, apiServerFlags }),
    startOriginalPlane({ ...originalResync, apiServerFlags }),
  ]);
  return {
    clusters: { original: first.adminKubeconfig, again: second.adminKubeconfig },
    pids: () => ({ ...pidsOf('original', first), ...pidsOf('again', second) }),
    headroom: null,
    stop: async () => {
      await Promise.all([first.stop(), second.stop()]);
    },
  };
}

/** `headroom kube-apiserver`, as people know the processes. */
function pidsOf(name: string, plane: ControlPlane): Readonly<Record<string, number>> {
  const { etcd, apiServer, controllerManager } = plane.pids();
  return {
    [`${name} etcd`]: etcd,
    [`${name} kube-apiserver`]: apiServer,
    [`${name} kube-controller-manager`]: controllerManager,
  };
}

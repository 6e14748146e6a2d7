import { BUILT_IN_GUARDRAIL } from '../../../domain/quota-resize/policy/guardrail.ts';
import { KubernetesObjectApi } from '@kubernetes/client-node';
import { pino } from 'pino';
import { vi } from 'vitest';
import { connectKubernetes, type Kubernetes } from '../../../activities/kubernetes/kubernetes.ts';
import type { QuotaResizeActivities } from '../../../activities/quota-resize/interface.ts';
import {
  createQuotaResizeKubernetesActivities,
  type QuotaResizeKubernetesOptions,
} from '../../../activities/quota-resize/kubernetes-activities.ts';
import { noPullRequestEnds } from '../../../activities/quota-resize/lease/ends.ts';
import { LeaseStore } from '../../../activities/quota-resize/lease/lease.ts';
import type { QuotaTarget } from '../../../domain/kernel/target.ts';
import type { QuotaObservation } from '../../../domain/quota-resize/model/observation.ts';
import { loadKubeConfig } from '../../../platform/kubernetes/kubernetes-access.ts';
import type { ControlPlane } from '../../kernel/servers/control-plane.ts';
import { borrowControlPlane } from '../../kernel/servers/shared-control-plane.ts';
import { applyRights } from '../../kernel/stack/chart.ts';
import { untilAllowed } from '../until-allowed.ts';

export const SYSTEM_NAMESPACE = 'namespace-resizer-system';
/** The API server takes the name of a service account for the account itself, so the manifests bind it as they are. */
export const WORKER = `system:serviceaccount:${SYSTEM_NAMESPACE}:headroom-worker`;
export const NOBODY = 'nobody';

/** A control plane with Headroom's manifests applied, and the ports of its users. */
export interface Cluster {
  readonly plane: ControlPlane;
  readonly admin: Kubernetes;
  /** The worker's user under its own ClusterRole. */
  readonly worker: Kubernetes;
  /** Creates objects as the admin. */
  readonly create: (...objects: readonly object[]) => Promise<void>;
  /** The activities as the worker runs them, and the lines that they logged. */
  readonly activities: (change?: Partial<QuotaResizeKubernetesOptions>) => Pick<
    QuotaResizeActivities,
    keyof ReturnType<typeof createQuotaResizeKubernetesActivities>
  > & {
    readonly lines: readonly Record<string, unknown>[];
  };
  readonly stop: () => Promise<void>;
}

export async function startCluster(): Promise<Cluster> {
  const plane = await borrowControlPlane([{ name: WORKER }, { name: NOBODY }]);
  const admin = connect(plane.adminKubeconfig);
  const worker = connect(plane.kubeconfigFor(WORKER));
  const objects = kubeConfig(plane.adminKubeconfig).makeApiClient(KubernetesObjectApi);
  const create: Cluster['create'] = async (...list) => {
    for (const object of list) await objects.create(object);
  };
  await applyRights(plane.adminKubeconfig);
  await untilAllowed(plane.adminKubeconfig, WORKER, [
    { verb: 'list', resource: 'resourcequotas' },
    { verb: 'get', group: 'coordination.k8s.io', resource: 'leases', namespace: SYSTEM_NAMESPACE },
  ]);
  return {
    plane,
    admin,
    worker,
    create,
    activities(change = {}) {
      const lines: Record<string, unknown>[] = [];
      const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>) });
      return { ...createQuotaResizeKubernetesActivities({ ...optionsOf(worker), log, ...change }), lines };
    },
    stop: () => plane.stop(),
  };
}

/** The Leases as a worker keeps them that has no repository. */
export function leaseStore({ worker: kubernetes }: Pick<Cluster, 'worker'>): LeaseStore {
  const log = pino({ level: 'silent' });
  return new LeaseStore({
    kubernetes,
    systemNamespace: SYSTEM_NAMESPACE,
    abandonedHolder: null,
    ends: noPullRequestEnds,
    log,
  });
}

export function connect(kubeconfig: string): Kubernetes {
  return connectKubernetes(kubeConfig(kubeconfig));
}

export function kubeConfig(kubeconfig: string) {
  return loadKubeConfig({ kubeconfig, context: undefined, requestTimeoutMs: 30_000 }, {});
}

export const timings = {
  demandSettle: 0,
  settle: 0,
  updateInterval: 0,
  needGone: 0,
  holdRetry: 300_000,
  syncOverdue: 0,
  recommendationRepeat: 0,
  syncPoll: 15_000,
};

function optionsOf(kubernetes: Kubernetes): Omit<QuotaResizeKubernetesOptions, 'log'> {
  return {
    kubernetes,
    systemNamespace: SYSTEM_NAMESPACE,
    policyDefaults: {
      mode: 'observe',
      dryRun: false,
      threshold: '80',
      increment: '20',
      cooldown: 3_600_000,
      autoMerge: false,
      maxStep: '2',
      burst: 'settle',
      steps: {},
      approval: 'none',
      approvalReminder: 86_400_000,
      approvalTimeout: null,
      freezeUntil: null,
      mergeWindows: [],
      rejectionCooldown: 86_400_000,
      guardrails: [BUILT_IN_GUARDRAIL],
    },
    timings,
    pauses: null,
    abandonedHolder: null,
    ends: noPullRequestEnds,
    usage: 'off',
    candidates: null,
  };
}

export function targetOf(namespace: string, quota = 'compute'): QuotaTarget {
  return { cluster: 'test', namespace, quota };
}

export function namespaceOf(name: string, annotations: Record<string, string> = {}): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, annotations } };
}

export function quotaOf(
  namespace: string,
  hard: Record<string, string>,
  name = 'compute',
  more: object = {},
  annotations: Record<string, string> = {},
): object {
  const metadata = { name, namespace, annotations };
  return { apiVersion: 'v1', kind: 'ResourceQuota', metadata, spec: { hard, ...more } };
}

/** A pod template; `cpu` is its one container's request. */
export function templateOf(app: string, cpu?: string, spec: object = {}): object {
  const resources = cpu === undefined ? {} : { requests: { cpu } };
  return { metadata: { labels: { app } }, spec: { containers: [{ name: 'app', image: 'app', resources }], ...spec } };
}

/** A workload of the apps group (or a ReplicationController) named and labelled `name`. */
export function workloadOf(kind: string, namespace: string, name: string, spec: object): object {
  const isController = kind === 'ReplicationController';
  const selector = isController ? { app: name } : { matchLabels: { app: name } };
  return {
    apiVersion: isController ? 'v1' : 'apps/v1',
    kind,
    metadata: { name, namespace },
    spec: { selector, ...spec },
  };
}

/** Waits until admission enforces the quota: before its first count it refuses nothing of the kind that tests look for. */
export async function quotaCounted({ admin }: Cluster, namespace: string, name = 'compute'): Promise<void> {
  await vi.waitFor(async () => {
    const quota = await admin.core.readNamespacedResourceQuota({ name, namespace });
    if (Object.keys(quota.status?.hard ?? {}).length === 0) throw new Error(`${namespace}/${name} is not counted yet`);
  }, patience);
}

/** Looks until the observation is as it should be. */
export async function observed(
  cluster: Cluster,
  target: QuotaTarget,
  check: (seen: QuotaObservation) => void,
): Promise<QuotaObservation> {
  const { observeQuota } = cluster.activities();
  return await vi.waitFor(async () => {
    const seen = await observeQuota({ target });
    check(seen);
    return seen;
  }, patience);
}

/** Controllers act within some seconds, and within ten times as long where all cores are busy with something else. */
export const patience = { timeout: 60_000, interval: 200 };

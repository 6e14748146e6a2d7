/** Two control planes for tests of usage: one with Kubernetes' own quota controller, one with Headroom in its place. */
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '../kernel/servers/control-plane.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { type HeadroomPlane, startHeadroomPlane } from '../kernel/stack/headroom-plane.ts';
import type { Api } from './side-by-side/api.ts';

/**
 * Without what would act on its own clock on nodes that no kubelet serves and volumes that no driver makes: two control
 * planes would do it at different moments.
 */
const CONTROLLERS = [
  '*',
  '-node-lifecycle-controller',
  '-taint-eviction-controller',
  '-pod-garbage-collector-controller',
  '-persistentvolume-binder-controller',
  '-persistentvolume-expander-controller',
];

/** Milliseconds between two resyncs of the original, which heal what its filters let through. */
export const ORIGINAL_RESYNC_MS = 5_000;

/** A control plane whose controller manager runs Kubernetes' own quota controller. */
export async function startOriginalPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return await startControlPlane({
    ...options,
    controllerManagerFlags: [
      `--controllers=${CONTROLLERS.join(',')}`,
      `--resource-quota-sync-period=${ORIGINAL_RESYNC_MS / 1_000}s`,
      ...(options.controllerManagerFlags ?? []),
    ],
  });
}

export interface UsagePlaneOptions {
  /** Environment variables of worker and starter, beside those that run it in mode `own`. */
  readonly env?: Readonly<Record<string, string>>;
  readonly apiServerFlags?: readonly string[];
  readonly controllerManagerFlags?: readonly string[];
  readonly ownServers?: boolean;
  /** Kubernetes' own quota controller runs as well, as it does where Headroom audits. Default: false. */
  readonly hasOriginal?: boolean;
}

/** A control plane whose quotas Headroom counts, in mode `own` unless the environment says otherwise. */
export async function startUsagePlane(options: UsagePlaneOptions = {}): Promise<HeadroomPlane> {
  return await startHeadroomPlane({
    values: { config: { quotaUsage: { mode: 'own' } }, rights: { countSecrets: true } },
    manifests: [new URL('./custom-resources.yaml', import.meta.url)],
    env: { HEADROOM_USAGE_MODE: 'own', ...options.env },
    apiServerFlags: options.apiServerFlags ?? [],
    ownServers: options.ownServers ?? false,
    controllerManagerFlags: [
      `--controllers=${[...CONTROLLERS, ...(options.hasOriginal ? [] : ['-resourcequota-controller'])].join(',')}`,
      ...(options.controllerManagerFlags ?? []),
    ],
  });
}

/**
 * Until admission goes by the quotas of a namespace as their statuses are now. It reads them from a cache of its own: while
 * that is behind, it lets everything in and charges nothing.
 *
 * @param path of the collection.
 * @param tooMuch an object that the newest of these statuses does not allow; it is only tried.
 */
export async function untilEnforced(api: Api, path: string, tooMuch: object): Promise<void> {
  await eventually(`admission refuses what is too much at ${path}`, async () => {
    const { code, message } = await api.ask('POST', `${path}?dryRun=All`, tooMuch);
    return code === 403 && message.includes('exceeded quota');
  });
}

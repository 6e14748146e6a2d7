/** A plane on which Headroom runs Memcacheds, alone or beside other controllers. */
import { CustomObjectsApi } from '@kubernetes/client-node';
import { GROUP, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { untilAllowed } from '../activities/until-allowed.ts';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import type { HeadroomPlane, HeadroomPlaneOptions } from '../kernel/stack/headroom-plane.ts';

/** What a plane needs whose worker and starter run Memcacheds, besides other controllers. */
export function memcachedPlaneOptions(options: Partial<HeadroomPlaneOptions> = {}): HeadroomPlaneOptions {
  return {
    ...options,
    values: { config: { memcached: { enabled: true } } },
    manifests: [new URL('../../deploy/chart-crds/definitions/memcached.yaml', import.meta.url)],
    env: { HEADROOM_MEMCACHED: 'true', ...options.env },
  };
}

/** A definition is stored before it is served, and a binding before it is gone by. */
export async function untilMemcachedsAreServed({ plane: { adminKubeconfig } }: HeadroomPlane): Promise<void> {
  const custom = accessOf(adminKubeconfig).makeApiClient(CustomObjectsApi);
  await eventually('Memcacheds are served', async () => {
    await custom.listClusterCustomObject({ group: GROUP, version: VERSION, plural: PLURAL });
    return true;
  });
  await untilAllowed(adminKubeconfig, 'headroom-worker', [
    { verb: 'get', resource: 'configmaps', name: 'headroom-pause', namespace: 'namespace-resizer-system' },
    { verb: 'create', group: 'networking.k8s.io', resource: 'networkpolicies' },
  ]);
  await untilAllowed(adminKubeconfig, 'headroom-starter', [
    { verb: 'watch', resource: 'resourcequotas' },
    { verb: 'watch', group: 'networking.k8s.io', resource: 'networkpolicies' },
  ]);
}

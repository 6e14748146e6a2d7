/** Definitions that a cluster gets and loses. */
import { ApiextensionsV1Api } from '@kubernetes/client-node';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';
import { applyManifests } from '../kernel/stack/manifests.ts';

export const MONITORS = { group: 'monitoring.coreos.com', version: 'v1', plural: 'servicemonitors' } as const;

/** Serves ServiceMonitors, by a definition that has their names and no fields. */
export async function serveMonitors(kubeconfig: string): Promise<void> {
  const { group, version, plural } = MONITORS;
  const any = { type: 'object', x_kubernetes_preserve_unknown_fields: true };
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: any } } };
  await accessOf(kubeconfig)
    .makeApiClient(ApiextensionsV1Api)
    .createCustomResourceDefinition({
      body: {
        metadata: { name: `${plural}.${group}` },
        spec: {
          group,
          names: { kind: 'ServiceMonitor', plural },
          scope: 'Namespaced',
          versions: [{ name: version, served: true, storage: true, schema }],
        },
      },
    });
}

/** Applies the definition of Memcacheds. */
export async function defineMemcacheds(kubeconfig: string): Promise<void> {
  await applyManifests(kubeconfig, [new URL('../../deploy/chart-crds/definitions/memcached.yaml', import.meta.url)]);
}

/** Deletes a definition and with it all its objects, and waits until it is gone. */
export async function removeDefinition(
  kubeconfig: string,
  { plural, group }: { readonly plural: string; readonly group: string },
): Promise<void> {
  const definitions = accessOf(kubeconfig).makeApiClient(ApiextensionsV1Api);
  const name = `${plural}.${group}`;
  await definitions.deleteCustomResourceDefinition({ name });
  await eventually(`the definition of ${plural} is gone`, async () => {
    const { items } = await definitions.listCustomResourceDefinition();
    return items.every(({ metadata }) => metadata?.name !== name);
  });
}

import { applyManifests } from './manifests.ts';

/** What `deploy/quota-usage` grants worker and starter besides in a mode of counting; nothing in `off`. */
export async function grantUsage(adminKubeconfig: string, mode: string | undefined): Promise<void> {
  if (mode === undefined || mode === 'off') return;
  const manifest = (name: string) => new URL(`../../../deploy/quota-usage/${name}/rbac.yaml`, import.meta.url);
  const roles = mode === 'own' ? [manifest('reading'), manifest('own')] : [manifest('reading')];
  await applyManifests(adminKubeconfig, [...roles, new URL('./usage-bindings.yaml', import.meta.url)]);
}

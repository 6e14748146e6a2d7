import { readFile } from 'node:fs/promises';
import { KubernetesObjectApi, type KubernetesObject, loadAllYaml, PatchStrategy } from '@kubernetes/client-node';
import { accessOf } from './access.ts';

/** Applies manifests with server-side apply, as `kubectl apply --server-side` would. */
export async function applyManifests(kubeconfig: string, files: readonly (string | URL)[]): Promise<void> {
  for (const file of files) {
    await applyObjects(kubeconfig, readManifests(await readFile(file, 'utf8')));
  }
}

/** The objects of a manifest, in the client's own names of fields: a definition has some that it calls otherwise (`default`). */
export function readManifests(text: string): readonly KubernetesObject[] {
  return (loadAllYaml(text) as (KubernetesObject | null | undefined)[]).filter((object) => object != null);
}

/** Applies objects with server-side apply, in their order. */
export async function applyObjects(kubeconfig: string, objects: readonly KubernetesObject[]): Promise<void> {
  const config = accessOf(kubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  for (const object of objects) {
    await api.patch(object, undefined, undefined, 'headroom-setup', true, PatchStrategy.ServerSideApply);
  }
}

import { readFile } from 'node:fs/promises';
import { KubeConfig, KubernetesObjectApi, type KubernetesObject, PatchStrategy } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';

/** Applies manifests with server-side apply, as `kubectl apply --server-side` would. */
export async function applyManifests(kubeconfig: string, files: readonly (string | URL)[]): Promise<void> {
  for (const file of files) {
    const documents = parseAllDocuments(await readFile(file, 'utf8'));
    await applyObjects(
      kubeconfig,
      documents.map((document) => document.toJS() as KubernetesObject | null).filter((object) => object !== null),
    );
  }
}

/** Applies objects with server-side apply, in their order. */
async function applyObjects(kubeconfig: string, objects: readonly KubernetesObject[]): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  for (const object of objects) {
    await api.patch(object, undefined, undefined, 'headroom-setup', true, PatchStrategy.ServerSideApply);
  }
}

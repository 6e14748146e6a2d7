import { readFile } from 'node:fs/promises';
import { applyObjects, readManifests } from './manifests.ts';

const MANIFEST = new URL('../../../deploy/write-policy.yaml', import.meta.url);

/**
 * Holds the writes of worker and starter to what `deploy/write-policy.yaml` lists.
 *
 * @param users what the names of the two users begin with, where they are not the accounts themselves: `headroom-`.
 */
export async function applyWritePolicy(adminKubeconfig: string, users?: string): Promise<void> {
  const text = await readFile(MANIFEST, 'utf8');
  const accounts = 'system:serviceaccount:namespace-resizer-system:headroom-';
  await applyObjects(adminKubeconfig, readManifests(users === undefined ? text : text.replaceAll(accounts, users)));
}

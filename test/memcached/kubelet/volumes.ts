import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CoreV1Api, V1Container, V1Pod } from '@kubernetes/client-node';

/**
 * Writes the Secrets that a pod mounts into a folder for each of its volumes, readable for everybody as a Secret's files are. What changes in
 * a Secret later does not reach them.
 *
 * @throws Error where a Secret or a key of it is missing: a kubelet tries again.
 */
export async function mountSecrets(core: CoreV1Api, { metadata, spec }: V1Pod, folder: string): Promise<void> {
  for (const { name, secret } of spec?.volumes ?? []) {
    if (secret?.secretName === undefined) continue;
    const namespace = metadata?.namespace ?? '';
    const { data = {} } = await core.readNamespacedSecret({ namespace, name: secret.secretName });
    await mkdir(join(folder, name), { recursive: true, mode: 0o755 });
    for (const { key, path } of secret.items ?? Object.keys(data).map((each) => ({ key: each, path: each }))) {
      const value = data[key];
      if (value === undefined) throw new Error(`the Secret ${namespace}/${secret.secretName} has no ${key}`);
      await writeFile(join(folder, name, path), Buffer.from(value, 'base64'), { mode: 0o644 });
    }
  }
}

/** The arguments with the folders of the volumes in place of where they are mounted. */
export function withMounts({ args = [], volumeMounts = [] }: V1Container, folder: string): readonly string[] {
  return volumeMounts.reduce<readonly string[]>(
    (words, { name, mountPath }) => words.map((word) => word.replaceAll(`${mountPath}/`, `${join(folder, name)}/`)),
    args,
  );
}

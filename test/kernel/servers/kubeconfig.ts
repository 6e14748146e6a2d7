import { randomUUID } from 'node:crypto';
import { rename, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

/** What a kubeconfig says: one cluster, one user, one context. */
export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly certificateAuthority: string;
  readonly user: string;
  readonly token: string;
}

/** Writes a kubeconfig that only this user of the machine can read. A reader sees the old file or the new one, no mixture. */
export async function writeKubeconfig(file: string, content: KubeconfigContent): Promise<void> {
  const text = stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'headroom',
        cluster: {
          server: content.server,
          'certificate-authority-data': Buffer.from(content.certificateAuthority).toString('base64'),
        },
      },
    ],
    users: [{ name: content.user, user: { token: content.token } }],
    contexts: [{ name: 'headroom', context: { cluster: 'headroom', user: content.user } }],
    'current-context': 'headroom',
  });
  const next = `${file}.${randomUUID()}`;
  await writeFile(next, text, { mode: 0o600 });
  await rename(next, file);
}

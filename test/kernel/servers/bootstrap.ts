/**
 * What a control plane makes anew at each first start and could as well be told: its certificate, and the roles of RBAC. The
 * next control planes of the process begin with those of the first, which is a quarter of what a start takes of the processor.
 * An API server checks and completes them, as it does after each restart. Whatever tells one cluster from another, such as the
 * UIDs of its namespaces, each has of its own.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EtcdStore } from './etcd-keys.ts';

/** The certificate is for 127.0.0.1 at any port. */
const CERTIFICATE_FILES = ['certificates/apiserver.crt', 'certificates/apiserver.key'] as const;
const ROLES = /^\/registry\/(?:clusterroles|clusterrolebindings|roles|rolebindings)\//;

interface Bootstrap {
  /** Content by name, in the folder of a control plane. */
  readonly files: ReadonlyMap<string, string>;
  /** Values of etcd by key, in base64. */
  readonly roles: ReadonlyMap<string, string>;
}

/** By the flags that were given to the API server, which its roles may depend on. */
const bootstraps = new Map<string, Bootstrap>();

/** Gives a control plane, whose etcd runs and whose API server has never started, what an earlier one has made. */
export async function prepareBootstrap(dir: string, etcdSocket: string, flags: readonly string[]): Promise<void> {
  const bootstrap = bootstraps.get(flags.join(' '));
  if (bootstrap === undefined) return;
  const store = new EtcdStore(join(dir, etcdSocket));
  // A given folder may hold the data of an earlier run.
  if ((await store.keys()).size > 0) return;
  for (const [name, content] of bootstrap.files) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), content, { mode: 0o600 });
  }
  await store.putAll(bootstrap.roles);
}

/** Keeps what a control plane has made that is ready and that nobody has used yet. */
export async function keepBootstrap(dir: string, etcdSocket: string, flags: readonly string[]): Promise<void> {
  const key = flags.join(' ');
  if (bootstraps.has(key)) return;
  const values = await new EtcdStore(join(dir, etcdSocket)).values();
  const files = await Promise.all(
    CERTIFICATE_FILES.map(async (name) => [name, await readFile(join(dir, name), 'utf8')] as const),
  );
  bootstraps.set(key, {
    files: new Map(files),
    roles: new Map([...values].filter(([name]) => ROLES.test(name))),
  });
}

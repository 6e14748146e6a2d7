import { setTimeout as sleep } from 'node:timers/promises';
import { KubernetesObjectApi, type KubernetesObject, PatchStrategy } from '@kubernetes/client-node';
import { parseAllDocuments } from 'yaml';
import { changedFiles, filesAt, headOf, readFileAt } from './gitops-repository.ts';
import { accessOf } from './access.ts';

export interface SyncerOptions {
  readonly gitDir: string;
  readonly kubeconfig: string;
  /** Whether it waits for `resume` before it reads anything. */
  readonly paused?: boolean;
  /** Milliseconds between two reads of the branch. */
  readonly everyMs?: number;
  readonly onSync?: (commit: string) => void;
  readonly onError?: (error: unknown) => void;
}

/** Stands in for Argo CD or Flux: keeps the cluster as the repository's main branch says. */
export interface Syncer {
  /** Applies nothing until `resume`. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** Applies the manifests of `main` to the cluster with server-side apply: all at the start, then what each commit changes. */
export function startSyncer(options: SyncerOptions): Syncer {
  const config = accessOf(options.kubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  const stopping = new AbortController();
  let { paused = false } = options;
  let applied = '';

  const observed = async (): Promise<void> => {
    const head = await headOf(options.gitDir);
    if (head === applied) return;
    const paths =
      applied === '' ? await filesAt(options.gitDir, head) : await changedFiles(options.gitDir, applied, head);
    const mayGoOn = (): boolean => !paused && !stopping.signal.aborted;
    const objects = await manifestsAt(options.gitDir, head, paths, mayGoOn);
    for (const object of objects) {
      if (!mayGoOn()) return;
      await api.patch(object, undefined, undefined, 'syncer', true, PatchStrategy.ServerSideApply);
    }
    if (!mayGoOn()) return;
    applied = head;
    options.onSync?.(head);
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // What failed is tried again at the next read: the repository may hold what the cluster refuses for a while.
      if (!paused) await observed().catch((error: unknown) => options.onError?.(error));
      await sleep(options.everyMs ?? 300, undefined, { signal: stopping.signal }).catch(() => {});
    }
  };
  const running = loop();
  return {
    pause: () => {
      paused = true;
    },
    resume: () => {
      paused = false;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}

/** Namespaces before what is in them; a file that is no manifest is not for the syncer. */
async function manifestsAt(
  gitDir: string,
  commit: string,
  paths: readonly string[],
  mayGoOn: () => boolean,
): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const path of paths) {
    // Each file is a process: thousands of them would outlast whoever has paused it.
    if (!mayGoOn()) break;
    if (!/\.ya?ml$/.test(path)) continue;
    for (const document of parseAllDocuments(await readFileAt(gitDir, commit, path))) {
      if (document.errors.length > 0) continue;
      const object = document.toJS() as KubernetesObject | null;
      if (object?.kind === 'Namespace' || (object?.kind === 'ResourceQuota' && object.metadata?.namespace))
        objects.push(object);
    }
  }
  const rank = (object: KubernetesObject) => (object.kind === 'Namespace' ? 0 : 1);
  return objects.toSorted((a, b) => rank(a) - rank(b));
}

import type { KubeConfig, KubernetesObject } from '@kubernetes/client-node';
import { readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { referencedSecrets } from '../../domain/memcached/children/secrets.ts';
import type { Log } from '../../platform/log/log.ts';
import { listPath } from '../../activities/kubernetes/api-get.ts';
import { type Informer, openInformer } from '../../activities/kubernetes/informer.ts';

export interface SecretWatch {
  /** Watches the Secrets of the Memcached's namespace, where it names any; it may have named some before. */
  watchFor(memcached: KubernetesObject): void;
  /** It is gone: with the last of its namespace that named Secrets, their watch ends. */
  forget(memcached: KubernetesObject): void;
  informers(): readonly Informer<KubernetesObject>[];
}

/** Of a namespace. */
interface Watched {
  readonly informer: Informer<KubernetesObject>;
  /** The names of its Memcacheds that name Secrets. */
  readonly users: Set<string>;
}

interface SecretWatchParts {
  readonly memcacheds: (namespace: string) => readonly KubernetesObject[];
  /** A Secret that the Memcached names was created, changed or deleted. */
  readonly onSecret: (memcached: KubernetesObject, secret: string) => void;
}

/**
 * Watches Secrets in the namespaces whose Memcacheds name some, and their metadata only: which data they have, the worker reads. Where
 * the starter may not, a change is found at the next comparison.
 */
export function watchSecrets(
  { kubeConfig, log, signal }: { readonly kubeConfig: KubeConfig; readonly log: Log; readonly signal: AbortSignal },
  { memcacheds, onSecret }: SecretWatchParts,
): SecretWatch {
  const watched = new Map<string, Watched>();

  function onEvent({ metadata }: KubernetesObject): void {
    const { name = '', namespace = '' } = metadata ?? {};
    for (const memcached of memcacheds(namespace)) if (secretsOf(memcached).includes(name)) onSecret(memcached, name);
  }

  function open(namespace: string): Watched {
    const path = listPath({ group: '', version: 'v1', resource: 'secrets' }, namespace);
    const options = { name: `secrets of ${namespace}`, path, metadataOnly: true, onChange: onEvent, onDelete: onEvent };
    const opened = { informer: openInformer(kubeConfig, options, { log, signal }), users: new Set<string>() };
    watched.set(namespace, opened);
    return opened;
  }

  function forget({ metadata }: KubernetesObject): void {
    const { name = '', namespace = '' } = metadata ?? {};
    const found = watched.get(namespace);
    if (found?.users.delete(name) !== true || found.users.size > 0) return;
    watched.delete(namespace);
    void found.informer.stop();
  }

  return {
    watchFor: (memcached) => {
      if (secretsOf(memcached).length === 0) return forget(memcached);
      const { name = '', namespace = '' } = memcached.metadata ?? {};
      (watched.get(namespace) ?? open(namespace)).users.add(name);
    },
    forget,
    informers: () => [...watched.values()].map(({ informer }) => informer),
  };
}

function secretsOf(memcached: KubernetesObject): readonly string[] {
  const { spec } = readMemcached(memcached);
  return spec === null ? [] : referencedSecrets(spec);
}

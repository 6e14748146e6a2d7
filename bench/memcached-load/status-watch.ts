import { pino } from 'pino';
import { GROUP, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { listPath } from '../../activities/kubernetes/api-get.ts';
import { openInformer } from '../../activities/kubernetes/informer.ts';
import { accessOf } from '../../test/kernel/stack/access.ts';
import type { MemcachedObject } from '../../test/memcached/cluster.ts';

export interface StatusWatch {
  /** When the status of a Memcached first was of this generation, by `performance.now()`. */
  readonly at: (name: string, generation: number) => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Milliseconds until a status is there; hundreds that are made at once take minutes. */
const WITHIN_MS = 900_000;

/** Notes when each status was written. It comes last, when all that a Memcached owns has been written. */
export function watchStatuses(kubeconfig: string): StatusWatch {
  const reached = new Map<string, PromiseWithResolvers<number>>();
  const of = (name: string, generation: number): PromiseWithResolvers<number> => {
    const key = `${name} ${generation}`;
    const known = reached.get(key) ?? Promise.withResolvers<number>();
    reached.set(key, known);
    return known;
  };
  const over = new AbortController();
  const informer = openInformer<MemcachedObject>(
    accessOf(kubeconfig),
    {
      name: PLURAL,
      path: listPath({ group: GROUP, version: VERSION, resource: PLURAL }),
      onChange: ({ metadata, status }) => of(metadata.name, status?.observedGeneration ?? 0).resolve(performance.now()),
      onDelete: () => {},
    },
    { log: pino({ level: 'warn' }, pino.destination(2)), signal: over.signal },
  );
  return {
    at: async (name, generation) => {
      let timer: NodeJS.Timeout | undefined;
      const overdue = new Promise<never>((_resolve, reject) => {
        const message = `the status of ${name} is not of generation ${generation} after ${WITHIN_MS / 1000} s`;
        timer = setTimeout(() => reject(new Error(message)), WITHIN_MS);
      });
      try {
        return await Promise.race([of(name, generation).promise, overdue]);
      } finally {
        clearTimeout(timer);
      }
    },
    stop: async () => {
      over.abort();
      await informer.stop();
    },
  };
}

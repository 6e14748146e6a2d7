import type { ReadMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { referencedSecrets } from '../../domain/memcached/children/secrets.ts';
import { type LiveObject, secretHashOf } from '../../domain/memcached/plan/live.ts';
import { lackingKeysIn, unreadableSecretsIn } from '../../domain/memcached/plan/notes.ts';
import type { Seen } from '../../domain/memcached/plan/seen.ts';
import { missingSecretsIn } from '../../domain/memcached/status/conditions.ts';

/**
 * What the starter, which reads no Secret, knows of those that the pods mount: the pods have the right hash, and what the worker
 * wrote into the status is true.
 */
export function seenSecrets({ spec, status }: ReadMemcached, deployment: LiveObject | null): Seen['secrets'] {
  const mounted = spec === null ? [] : referencedSecrets(spec);
  return {
    // Without Secrets the worker wants none, whoever wrote one.
    hash: mounted.length === 0 ? '' : secretHashOf(deployment),
    missing: missingSecretsIn(status),
    lacking: lackingKeysIn(status).filter((key) => mounted.some((secret) => key.endsWith(` of ${secret}`))),
    // Those that are not mounted any more are no reason to keep the note.
    unreadable: unreadableSecretsIn(status).filter((secret) => mounted.includes(secret)),
  };
}

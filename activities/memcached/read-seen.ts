import type { EpochMs } from '../../domain/kernel/time.ts';
import { nameProblems } from '../../domain/memcached/api/name-problems.ts';
import { type ReadMemcached, readMemcached } from '../../domain/memcached/api/read-memcached.ts';
import { GROUP, PLURAL, VERSION } from '../../domain/memcached/api/names.ts';
import { type ChildKind, childKinds } from '../../domain/memcached/children/children.ts';
import { isSecretName, lackingKeys, referencedSecrets } from '../../domain/memcached/children/secrets.ts';
import { type LiveObject, secretHashOf } from '../../domain/memcached/plan/live.ts';
import type { LiveChildren, Seen } from '../../domain/memcached/plan/seen.ts';
import type { MemcachedTarget } from '../../domain/memcached/target.ts';
import { orNull, statusCode } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { otherOperator } from './other-operator.ts';
import { readChild, readEndpointSlices, UNSERVED } from './child-api.ts';
import { type SecretData, secretHash } from './secret-hash.ts';

export const MEMCACHEDS = { group: GROUP, version: VERSION, plural: PLURAL } as const;

/** A Memcached with everything that it may own, as it is now; null for one that does not exist, or is being deleted. */
export async function readSeen(
  kubernetes: Kubernetes,
  target: MemcachedTarget,
  { formerNamespace, now }: { readonly formerNamespace: string; readonly now: () => EpochMs },
): Promise<Seen | null> {
  const { namespace, name } = target;
  // Before all else: one that is gone is gone, whatever else cannot be read.
  const object: unknown = await orNull(kubernetes.custom.getNamespacedCustomObject({ ...MEMCACHEDS, namespace, name }));
  if (object === null) return null;
  const memcached = readMemcached(object);
  if (memcached.isDeleting) return null;
  const [operator, endpointSlices, ...read] = await Promise.all([
    otherOperator(kubernetes, formerNamespace, now()),
    // No Service has such a name, and its slices could not be asked for.
    nameProblems(name).length > 0 ? [] : readEndpointSlices(kubernetes, target),
    ...childKinds.map(async (kind) => [kind, await readChild(kubernetes, target, kind)] as const),
  ]);
  const children = Object.fromEntries(
    read.map(([kind, live]) => [kind, live === UNSERVED ? null : live] as const),
  ) as Record<ChildKind, LiveObject | null> satisfies LiveChildren;
  return {
    memcached,
    children,
    at: now(),
    otherOperator: operator,
    endpointSlices,
    unserved: read.flatMap(([kind, live]) => (live === UNSERVED ? [kind] : [])),
    secrets: await readSecrets(kubernetes, memcached, children.Deployment),
  };
}

/**
 * What the pods mount. A Secret that must not be read, or cannot be now, is not missing: the pods keep the hash that they have, so
 * that nothing is restarted for it; and so they do where a Secret is missing, or lacks what they need to start.
 */
async function readSecrets(
  { core }: Kubernetes,
  { namespace, spec }: ReadMemcached,
  deployment: LiveObject | null,
): Promise<Seen['secrets']> {
  const names = spec === null ? [] : referencedSecrets(spec);
  const read = await Promise.all(
    names.map(async (name): Promise<SecretData | 'missing' | 'unreadable'> => {
      if (!isSecretName(name)) return 'missing';
      try {
        const secret = await orNull(core.readNamespacedSecret({ namespace, name }));
        return secret === null ? 'missing' : { name, data: secret.data ?? {} };
      } catch (error) {
        if (statusCode(error) === 403) return 'unreadable';
        throw error;
      }
    }),
  );
  const isComplete = !read.includes('unreadable') && !read.includes('missing');
  const found = read.filter((secret) => typeof secret === 'object');
  const lacking = spec === null ? [] : found.flatMap((secret) => lackingKeys(spec, secret)).toSorted();
  return {
    hash: isComplete && lacking.length === 0 ? secretHash(found) : secretHashOf(deployment),
    lacking,
    missing: names.filter((_, at) => read[at] === 'missing').toSorted(),
    unreadable: names.filter((_, at) => read[at] === 'unreadable').toSorted(),
  };
}

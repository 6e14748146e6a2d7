import { ApiException } from '@kubernetes/client-node';
import { AUTOSCALER_LEASE, NAMESPACE } from '../../../domain/node-group/api/names.ts';
import { definitionNames, isOwnDefinition } from '../../../domain/node-group/api/own-definition.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { holderOf, readLease } from '../../kubernetes/lease-object.ts';
import type { ServerClock } from '../../kubernetes/server-clock.ts';

/**
 * How long a leader may have renewed nothing, in milliseconds, before it counts as gone: several times its own limit of 15 s, as
 * clocks may differ.
 */
const ALIVE_MS = 60_000;
const DEFINITIONS = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
} as const;

/**
 * Who else acts on NodeGroups, as a sentence; null where nobody does.
 *
 * @param clock is set by the answer.
 */
export async function otherController(kubernetes: Kubernetes, clock: ServerClock): Promise<string | null> {
  const lease = await readLease({ kubernetes, systemNamespace: NAMESPACE, clock }, AUTOSCALER_LEASE);
  const renewed = lease?.spec?.renewTime;
  const holder = lease === null ? null : holderOf(lease);
  if (renewed === undefined || holder === null) return null;
  return clock.now() - new Date(renewed).getTime() < ALIVE_MS
    ? `another controller acts on NodeGroups: ${holder} renews the Lease ${NAMESPACE}/${AUTOSCALER_LEASE}`
    : null;
}

/** Which definition would lose what is written, as a sentence; null where none does. */
export async function foreignDefinition({ custom }: Pick<Kubernetes, 'custom'>): Promise<string | null> {
  for (const name of definitionNames) {
    const definition: unknown = await definitionOf(custom, name);
    if (definition !== null && !isOwnDefinition(name, definition)) {
      return `the CustomResourceDefinition ${name} is not that of this version of Headroom: apply deploy/chart-crds/definitions/node-group.yaml over it`;
    }
  }
  return null;
}

/** Null where it does not exist: then nothing can be written either. @throws where it must not be read. */
async function definitionOf(custom: Kubernetes['custom'], name: string): Promise<unknown> {
  try {
    return await custom.getClusterCustomObject({ ...DEFINITIONS, name });
  } catch (error) {
    if (error instanceof ApiException && error.code === 404) return null;
    throw error;
  }
}

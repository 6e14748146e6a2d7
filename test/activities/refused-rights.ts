import { AuthorizationV1Api, type V1ResourceAttributes } from '@kubernetes/client-node';
import type { AuditEvent } from '../kernel/servers/audit-log.ts';
import { accessOf } from '../kernel/stack/access.ts';

type Answered = Pick<AuditEvent, 'user' | 'verb' | 'objectRef' | 'responseStatus' | 'requestURI' | 'annotations'>;

type AllowsNow = (user: string, deed: V1ResourceAttributes) => Promise<boolean>;

/** Whether the roles of a cluster allow something; asked as the admin. */
export function rolesOf(adminKubeconfig: string): AllowsNow {
  const authorization = accessOf(adminKubeconfig).makeApiClient(AuthorizationV1Api);
  return async (user, resourceAttributes) => {
    const { status } = await authorization.createSubjectAccessReview({ body: { spec: { user, resourceAttributes } } });
    return status?.allowed === true;
  };
}

/**
 * The requests of Headroom that no role allows, in words.
 *
 * An API server refuses everybody for a moment after its start, until it has read its roles, and a request that is made
 * once in an hour may meet just that moment. So each refusal is asked again afterwards.
 *
 * @param allowsNow whether the roles allow it, asked of an API server that has read them.
 */
export async function refusedRights(
  events: Iterable<Answered>,
  allowsNow: AllowsNow,
  isHeadroom = (user: string): boolean => user.startsWith('headroom-'),
): Promise<readonly string[]> {
  const refused = new Map<string, Answered>();
  for (const event of events) {
    const { user, verb, objectRef, responseStatus } = event;
    if (!isHeadroom(user.username) || responseStatus?.code !== 403) continue;
    refused.set(JSON.stringify([user.username, verb, objectRef]), event);
  }
  const problems: string[] = [];
  for (const { user, verb, objectRef, requestURI, annotations } of refused.values()) {
    const byRoles = annotations?.['authorization.k8s.io/decision'] === 'forbid';
    const { apiGroup: group, resource, subresource, namespace, name } = objectRef ?? {};
    const deed = {
      verb,
      ...(group !== undefined && { group }),
      ...(resource !== undefined && { resource }),
      ...(subresource !== undefined && { subresource }),
      ...(namespace !== undefined && { namespace }),
      ...(name !== undefined && { name }),
    };
    if (byRoles && (await allowsNow(user.username, deed))) continue;
    const by = byRoles ? 'no role allows' : 'admission refused';
    problems.push(`${by} ${user.username} ${verb} ${resource} (${requestURI})`);
  }
  return problems;
}

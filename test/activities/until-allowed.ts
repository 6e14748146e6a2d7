import { AuthorizationV1Api, type V1ResourceAttributes } from '@kubernetes/client-node';
import { accessOf } from '../kernel/stack/access.ts';
import { eventually } from '../kernel/stack/eventually.ts';

/**
 * Waits until the API server allows a user what its roles say. It goes by a cache of its own, which is behind a binding that
 * was just made. Asked as the admin, so that the audit log has no refusal of the user.
 */
export async function untilAllowed(
  adminKubeconfig: string,
  user: string,
  deeds: readonly V1ResourceAttributes[],
): Promise<void> {
  const authorization = accessOf(adminKubeconfig).makeApiClient(AuthorizationV1Api);
  for (const resourceAttributes of deeds) {
    await eventually(`${user} may ${resourceAttributes.verb} ${resourceAttributes.resource}`, async () => {
      const body = { spec: { user, resourceAttributes } };
      return (await authorization.createSubjectAccessReview({ body })).status?.allowed;
    });
  }
}

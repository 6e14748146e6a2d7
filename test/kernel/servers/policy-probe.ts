/** When an API server goes by the ValidatingAdmissionPolicies that it has now. */
import { setTimeout as delay } from 'node:timers/promises';
import { AdmissionregistrationV1Api, ApiException, CoreV1Api } from '@kubernetes/client-node';
import { accessOf } from '../stack/access.ts';

const NAME = 'policy-probe';
const ASK_MS = 50;

/**
 * Makes a policy that refuses one name alone, and waits until it does. The policy and its binding are left to the caller.
 *
 * @throws Error at the deadline.
 */
export async function untilPoliciesAreCompiled(adminKubeconfig: string, deadline: number): Promise<void> {
  const config = accessOf(adminKubeconfig);
  const admission = config.makeApiClient(AdmissionregistrationV1Api);
  const core = config.makeApiClient(CoreV1Api);
  const metadata = { name: NAME };
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
  await admission.createValidatingAdmissionPolicy({
    body: {
      metadata,
      spec: {
        matchConstraints: { resourceRules: [rule] },
        validations: [{ expression: `object.metadata.name != '${NAME}'` }],
      },
    },
  });
  await admission.createValidatingAdmissionPolicyBinding({
    body: { metadata, spec: { policyName: NAME, validationActions: ['Deny'] } },
  });
  const isRefused = async (): Promise<boolean> => {
    try {
      await core.createNamespacedConfigMap({ namespace: 'default', body: { metadata }, dryRun: 'All' });
      return false;
    } catch (error) {
      if (error instanceof ApiException && String(error.body).includes(NAME)) return true;
      throw error;
    }
  };
  while (!(await isRefused())) {
    if (Date.now() > deadline) throw new Error('the API server does not go by a new ValidatingAdmissionPolicy');
    await delay(ASK_MS);
  }
}

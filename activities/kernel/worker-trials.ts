/** Writes that the roles of a worker allow and the policy of its writes has to refuse. */
import { CoreV1Api } from '@kubernetes/client-node';
import type { PolicyTrial } from './policy-proof.ts';

const NAME = 'headroom-write-trial';
const DRY_RUN = { dryRun: 'All' } as const;

/** Every worker may create Events, in its own name only; with some controllers also ConfigMaps, of an owner only. */
export function workerTrials(namespace: string): readonly PolicyTrial[] {
  const metadata = { name: NAME, namespace };
  const event: PolicyTrial = {
    what: 'an Event in the name of another component',
    attempt: async (kubeConfig) =>
      await kubeConfig.makeApiClient(CoreV1Api).createNamespacedEvent({
        namespace,
        body: {
          metadata,
          involvedObject: { apiVersion: 'v1', kind: 'ConfigMap', namespace, name: NAME },
          type: 'Normal',
          reason: 'Trial',
          source: { component: NAME },
          reportingComponent: NAME,
          reportingInstance: NAME,
        },
        ...DRY_RUN,
      }),
  };
  const configMap: PolicyTrial = {
    what: 'a ConfigMap without an owner',
    attempt: async (kubeConfig) =>
      await kubeConfig
        .makeApiClient(CoreV1Api)
        .createNamespacedConfigMap({ namespace, body: { metadata }, ...DRY_RUN }),
  };
  return [event, configMap];
}

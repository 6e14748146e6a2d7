/** Writes that the roles of a worker allow and the policy of its writes has to refuse. */
import { CoreV1Api } from '@kubernetes/client-node';
import type { PolicyTrial } from './policy-proof.ts';

const NAME = 'headroom-write-trial';
const DRY_RUN = { dryRun: 'All' } as const;

interface WorkerSettings {
  readonly kubernetes: { readonly systemNamespace: string };
  readonly lightsOut: { readonly enabled: boolean };
  readonly memcached: { readonly enabled: boolean };
}

/** Every worker may create Events, in its own name only; with some controllers it may create ConfigMaps that have an owner. */
export function workerTrials(config: WorkerSettings): readonly PolicyTrial[] {
  const { systemNamespace: namespace } = config.kubernetes;
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
  const ownsConfigMaps = config.lightsOut.enabled || config.memcached.enabled;
  return ownsConfigMaps ? [event, configMap] : [event];
}

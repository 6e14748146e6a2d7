/** What a starter that makes the certificate of its webhooks itself may write, and must not. */
import { AdmissionregistrationV1Api, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { PolicyTrial } from '../../activities/kernel/policy-proof.ts';

const LABEL = 'headroom-write-trial';

/**
 * @param name of the webhook configuration.
 * @param served as in the settings; a certificate that is given is written by somebody else.
 */
export function webhookTrials(
  name: string,
  served: { readonly webhookAddress?: unknown; readonly webhookCertificate?: string | undefined },
): readonly PolicyTrial[] {
  if (served.webhookAddress === undefined || served.webhookCertificate !== undefined) return [];
  return [
    {
      what: `a label of the webhooks ${name}`,
      attempt: async (kubeConfig) =>
        await kubeConfig
          .makeApiClient(AdmissionregistrationV1Api)
          .patchValidatingWebhookConfiguration(
            { name, body: { metadata: { labels: { [LABEL]: '' } } }, dryRun: 'All' },
            setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
          ),
    },
  ];
}

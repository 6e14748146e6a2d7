/** What a starter that makes the certificate of its webhooks itself may write, and must not. */
import { AdmissionregistrationV1Api, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import type { PolicyTrial } from '../../activities/kernel/policy-proof.ts';

const LABEL = 'headroom-write-trial';

/** The settings of a controller's webhooks. */
interface Served {
  readonly webhookAddress?: unknown;
  readonly webhookCertificate?: string | undefined;
}

/** Whether the starter makes the certificate of the webhooks: one that is given is written by somebody else. */
export function makesCertificate({ webhookAddress, webhookCertificate }: Served): boolean {
  return webhookAddress !== undefined && webhookCertificate === undefined;
}

/** @param name of the webhook configuration. */
export function webhookTrials(name: string, served: Served): readonly PolicyTrial[] {
  if (!makesCertificate(served)) return [];
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

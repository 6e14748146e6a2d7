/** Tells the API server which authorities to trust when it calls the webhooks. */
import { AdmissionregistrationV1Api, type KubeConfig, PatchStrategy, setHeaderOptions } from '@kubernetes/client-node';
import { orNull, statusCode } from '../../activities/kubernetes/failure.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';
import type { AdmissionWebhooks } from './webhooks.ts';

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
}

/** One of the two kinds of webhook configurations. */
interface Configurations {
  readonly kind: string;
  readonly read: () => Promise<{ readonly webhooks?: readonly Webhook[] }>;
  readonly patch: (body: readonly object[]) => Promise<unknown>;
}

/**
 * Returns a function that makes the webhook configurations trust a PEM bundle: the mutating one where a review patches (its path is
 * `/mutate`), and the validating one. A configuration that is missing or
 * forbidden is logged once and tried again at every call, because a person may have set its bundle.
 *
 * The function throws other errors of the API server or the network.
 */
export function createBundleWriter({
  webhooks: { name, reviews },
  kubeConfig,
  log,
}: {
  readonly webhooks: Pick<AdmissionWebhooks, 'name' | 'reviews'>;
  readonly kubeConfig: KubeConfig;
  readonly log: Log;
}): (bundle: string) => Promise<void> {
  const api = kubeConfig.makeApiClient(AdmissionregistrationV1Api);
  const fieldManager = 'headroom-starter';
  const jsonPatch = setHeaderOptions('Content-Type', PatchStrategy.JsonPatch);
  const mutating: Configurations = {
    kind: 'MutatingWebhookConfiguration',
    read: async () => await api.readMutatingWebhookConfiguration({ name }),
    patch: async (body) => await api.patchMutatingWebhookConfiguration({ name, body, fieldManager }, jsonPatch),
  };
  const validating: Configurations = {
    kind: 'ValidatingWebhookConfiguration',
    read: async () => await api.readValidatingWebhookConfiguration({ name }),
    patch: async (body) => await api.patchValidatingWebhookConfiguration({ name, body, fieldManager }, jsonPatch),
  };
  const all = '/mutate' in reviews ? [mutating, validating] : [validating];
  const logged = new Map<string, 'absent' | 'forbidden'>();

  return async (bundle) => {
    const wanted = Buffer.from(bundle).toString('base64');
    for (const configurations of all) {
      const { kind } = configurations;
      try {
        const outcome = await ensureBundle(configurations, wanted);
        if (outcome === 'absent') {
          if (logged.get(kind) !== 'absent') {
            log.info({ kind }, `there is no ${kind} ${name} yet: the API server does not call this webhook`);
          }
          logged.set(kind, 'absent');
          continue;
        }
        if (outcome === 'written') log.info({ kind }, `the ${kind} ${name} trusts the certificate now`);
        logged.delete(kind);
      } catch (error) {
        if (statusCode(error) !== 403) throw error;
        if (logged.get(kind) !== 'forbidden') {
          const { reason } = failureOf(error);
          log.warn(
            { kind, reason },
            `the CA bundle of the ${kind} ${name} may not be written: ${reason}; the ClusterRole that comes with webhooks.certificates: self allows it`,
          );
        }
        logged.set(kind, 'forbidden');
      }
    }
  };
}

async function ensureBundle(
  { read, patch }: Configurations,
  wanted: string,
): Promise<'absent' | 'written' | 'unchanged'> {
  const configuration = await orNull(read());
  if (configuration === null) return 'absent';
  const body = (configuration.webhooks ?? []).flatMap((webhook, index) =>
    webhook.clientConfig.caBundle === wanted
      ? []
      : [
          // The index would be wrong after a concurrent change of the list.
          { op: 'test', path: `/webhooks/${index}/name`, value: webhook.name },
          { op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: wanted },
        ],
  );
  if (body.length === 0) return 'unchanged';
  await patch(body);
  return 'written';
}

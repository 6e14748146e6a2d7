/** The certificate that the starters make, keep in a Secret and renew. */
import { CoreV1Api, type KubeConfig, type V1Secret } from '@kubernetes/client-node';
import { orNull, statusCode } from '../../activities/kubernetes/failure.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';
import { createBundleWriter } from './ca-bundle.ts';
import { type Chain, type CheckedChain, reviewChain } from './chain.ts';
import type { CertificateSource } from './keep.ts';
import { type AdmissionWebhooks, tlsSecretName } from './webhooks.ts';

/** Long before a renewal is urgent, and soon enough after a change of the host. */
const CHECK_EVERY_MS = 60_000;
/** A conflict means that another starter renewed the certificate; the next pass finds its result. */
const MAX_CONFLICTS = 5;

export interface SelfMadeCertificateOptions {
  readonly webhooks: Pick<AdmissionWebhooks, 'name' | 'reviews'>;
  readonly kubeConfig: KubeConfig;
  /** Where the Secret is. */
  readonly systemNamespace: string;
  /** The DNS name or IP address that the API server calls. */
  readonly host: string;
  readonly log: Log;
  /** Milliseconds between two passes at the Secret. */
  readonly everyMs?: number;
  readonly now?: () => EpochMs;
}

/**
 * A certificate in a Secret that all starters share: the first one fills it, any one renews it when due, and the others
 * take it over. The Secret itself has to be there: a right to create one cannot be bound to a name. Before a certificate is
 * used, the API server is configured to trust it.
 */
export function selfMadeCertificate(options: SelfMadeCertificateOptions): CertificateSource {
  const { webhooks, kubeConfig, systemNamespace, host, log, everyMs = CHECK_EVERY_MS, now = Date.now } = options;
  const core = kubeConfig.makeApiClient(CoreV1Api);
  const secretName = tlsSecretName(webhooks.name);
  const where = { name: secretName, namespace: systemNamespace };
  const writeBundle = createBundleWriter({ webhooks, kubeConfig, log });

  /** The chain in the Secret; made or renewed if necessary. */
  const ensureChain = async (): Promise<CheckedChain> => {
    for (let conflicts = 0; ; conflicts += 1) {
      const secret = await orNull(core.readNamespacedSecret(where));
      if (secret === null) {
        throw new Error(
          `there is no Secret ${systemNamespace}/${secretName}, which webhooks.certificates: self of the chart deploys empty: apply it`,
        );
      }
      const review = await reviewChain(chainOf(secret), {
        host,
        now: now(),
        // The library takes 20 MB and is needed once in two months by one of the starters.
        issuer: async () => await import('./issue.ts'),
      });
      if (review.kind === 'good') return review.chain;
      try {
        await write(secret, review.next);
        log.info({ secret: secretName, host }, `the Secret ${secretName} was renewed for ${host}: ${review.why}`);
        // Further renewals wait for the next pass, when the API server trusts the new authority.
        return review.next;
      } catch (error) {
        // Another starter was faster, or the Secret was deleted meanwhile.
        if (!CHANGED_MEANWHILE.has(statusCode(error)) || conflicts === MAX_CONFLICTS) throw error;
      }
    }
  };

  const write = async (secret: V1Secret, chain: Chain): Promise<void> => {
    // As it was read, with its resourceVersion, its labels and a type that cannot be changed.
    secret.data = { ...secret.data, ...dataOf(chain) };
    await core.replaceNamespacedSecret({ ...where, body: secret });
  };

  return {
    name: `the certificate of the admission webhooks in the Secret ${systemNamespace}/${secretName}`,
    everyMs,
    read: async () => {
      const chain = await ensureChain().catch((error: unknown) => {
        throw withAdvice(error);
      });
      await writeBundle(chain.authorities);
      return chain.server;
    },
  };
}

const CHANGED_MEANWHILE: ReadonlySet<number | undefined> = new Set([404, 409]);

/** Null for a Secret as it is deployed: empty. */
function chainOf({ data = {} }: V1Secret): Chain | null {
  if (data['tls.crt'] === undefined) return null;
  const text = (key: string): string => Buffer.from(data[key] ?? '', 'base64').toString();
  return {
    server: { certificate: text('tls.crt'), key: text('tls.key') },
    authorities: text('ca.crt'),
    authorityKey: text('ca.key'),
  };
}

function dataOf({ server, authorities, authorityKey }: Chain): Record<string, string> {
  const parts = {
    'tls.crt': server.certificate,
    'tls.key': server.key,
    'ca.crt': authorities,
    'ca.key': authorityKey,
  };
  return Object.fromEntries(Object.entries(parts).map(([key, pem]) => [key, Buffer.from(pem).toString('base64')]));
}

/** Says what a person can do about a missing permission. */
function withAdvice(error: unknown): unknown {
  if (statusCode(error) !== 403) return error;
  const advice = 'the Role that comes with webhooks.certificates: self allows it, so check its binding';
  return new Error(`${failureOf(error).reason}; ${advice}`, { cause: error });
}

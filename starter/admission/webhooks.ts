import type { ListenAddress } from '../../domain/kernel/settings/forms.ts';
import type { AdmissionRequest, AdmissionResponse } from './review.ts';

/** The admission webhooks of a controller: what they are called, what they answer, and where they are served. */
export interface AdmissionWebhooks {
  /**
   * The name of the Service and of both webhook configurations, such as `headroom-things`. The Secret of a certificate that the
   * starter makes is called `headroom-things-tls`.
   */
  readonly name: string;
  /** The kind of the objects, for messages. */
  readonly kind: string;
  /** What answers each path, `/validate` and, where anything is filled in, `/mutate`. Whatever it throws is answered with 500. */
  readonly reviews: Readonly<Record<string, (request: AdmissionRequest) => AdmissionResponse>>;
  readonly address: ListenAddress;
  /** The folder of a certificate that somebody else keeps; without it the starter makes one. */
  readonly certificateFolder: string | undefined;
  /** The DNS name or IP address that the API server calls; without it the Service in Headroom's own namespace. */
  readonly host: string | undefined;
}

/** The Secret of the certificate that the starter makes for webhooks of this name. */
export function tlsSecretName(name: string): string {
  return `${name}-tls`;
}

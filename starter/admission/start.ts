/** The admission webhooks of LightsOutSchedules, from the port to the certificate that they are served with. */
import type { KubeConfig } from '@kubernetes/client-node';
import { Counter, Gauge, type Registry } from 'prom-client';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import type { Readiness } from '../../platform/health/health.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';
import { protectedNamespaces } from '../../domain/lights-out/protected-namespaces.ts';
import type { ListenAddress } from '../../domain/kernel/settings/forms.ts';
import type { ServerCertificate } from './certificate.ts';
import { givenCertificate } from './given.ts';
import { type CertificateSource, keepCertificate } from './keep.ts';
import type { NamedSchedule } from './review.ts';
import { selfMadeCertificate } from './self-made.ts';
import { serveAdmission } from './server.ts';

export interface AdmissionOptions {
  readonly kubeConfig: KubeConfig;
  readonly metrics: Registry;
  /** All schedules of the cluster that can be read, for warnings of overlaps. */
  readonly others: () => readonly NamedSchedule[];
}

export interface RunningAdmission {
  /** `https://host:port`, with the port that was taken. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the webhooks where an address is configured for them; null where none is. It listens when this resolves, and can
 * be called as soon as it has a certificate, which the readiness says.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function startAdmission(
  { config, log, readiness, signal, onStop, stop }: HeadroomProcess<Config>,
  { kubeConfig, metrics, others }: AdmissionOptions,
): Promise<RunningAdmission | null> {
  const { webhookAddress: address, webhookCertificate: folder, webhookHost } = config.lightsOut;
  if (address === undefined) return null;
  const { systemNamespace } = config.kubernetes;
  const host = webhookHost ?? `headroom-lights-out.${systemNamespace}.svc`;
  const source =
    folder === undefined
      ? selfMadeCertificate({ kubeConfig, systemNamespace, host, log })
      : givenCertificate({ folder });
  const fail = (error: unknown): void => stop('the certificate of the admission webhooks could not be kept', error);
  const admission = await runAdmission({
    address,
    source,
    others,
    protectedNamespaces: protectedNamespaces(config),
    metrics,
    readiness,
    log,
    signal,
    fail,
  });
  onStop('admission webhooks', async () => await admission.close());
  log.info({ url: admission.url }, 'the starter serves the admission webhooks of LightsOutSchedules');
  return admission;
}

export interface RunAdmissionOptions extends Omit<AdmissionOptions, 'kubeConfig'> {
  readonly address: ListenAddress;
  readonly source: CertificateSource;
  /** Never touched by any schedule. */
  readonly protectedNamespaces: readonly string[];
  readonly readiness: Readiness;
  readonly log: Log;
  /** Ends the looks at the certificate; the server itself is closed. */
  readonly signal: AbortSignal;
  /** Told of an error that no look at the certificate may end with. */
  readonly fail: (error: unknown) => void;
  readonly now?: () => EpochMs;
}

/** Serves the webhooks with the certificates of a source. @throws as {@link startAdmission}. */
export async function runAdmission(options: RunAdmissionOptions): Promise<RunningAdmission> {
  const { address, source, metrics, readiness, log, signal, fail, now = Date.now } = options;
  const { others, protectedNamespaces: untouched } = options;
  const requests = new Counter({
    name: 'headroom_admission_requests_total',
    help: 'Reviews of schedules by the admission webhooks, by operation and answer; the operation none is no review.',
    labelNames: ['operation', 'allowed'],
    registers: [metrics],
  });
  const expiry = new Gauge({
    name: 'headroom_admission_certificate_expiry_timestamp_seconds',
    help: 'Until when the certificate of the admission webhooks is valid; 0 while there is none.',
    registers: [metrics],
  });
  const server = await serveAdmission({
    address,
    context: () => ({ others: others(), protectedNamespaces: untouched, now: now() }),
    requests,
    log,
  });
  let waitsFor = 'no certificate yet';
  let certificate: ServerCertificate | null = null;
  readiness.watch('admission webhooks', () => {
    if (certificate === null) return { ready: false, reason: waitsFor };
    const until = certificate.leaf.validToDate.getTime();
    return now() < until
      ? { ready: true }
      : { ready: false, reason: `the certificate is over since ${formatInstant(until)}` };
  });
  const over = new AbortController();
  const keeping = keepCertificate({
    source,
    use: (next) => {
      server.useCertificate(next);
      expiry.set(next.leaf.validToDate.getTime() / 1000);
      certificate = next;
    },
    onWait: (reason) => {
      waitsFor = reason ?? waitsFor;
    },
    log,
    signal: AbortSignal.any([signal, over.signal]),
  }).catch(fail);
  return {
    url: server.url,
    close: async () => {
      over.abort();
      await server.close();
      await keeping;
    },
  };
}

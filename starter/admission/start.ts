/** The admission webhooks of the controllers, from the port to the certificate that they are served with. */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Counter, Gauge, Registry } from 'prom-client';
import { sharedMetrics } from '../../domain/kernel/monitoring/shared-metrics.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import type { Readiness } from '../../platform/health/health.ts';
import type { Log } from '../../platform/log/log.ts';
import type { HeadroomProcess } from '../../platform/process/process.ts';
import type { Config } from '../config.ts';
import { createCounter, createGauge } from '../kernel/metrics.ts';
import type { ServerCertificate } from './certificate.ts';
import { givenCertificate } from './given.ts';
import { type CertificateSource, keepCertificate } from './keep.ts';
import { selfMadeCertificate } from './self-made.ts';
import { serveAdmission } from './server.ts';
import type { AdmissionWebhooks } from './webhooks.ts';

export interface AdmissionOptions {
  readonly kubeConfig: KubeConfig;
  readonly metrics: AdmissionMetrics;
  readonly webhooks: AdmissionWebhooks;
}

export interface RunningAdmission {
  /** `https://host:port`, with the port that was taken. */
  readonly url: string;
  close(): Promise<void>;
}

/** What is measured of all webhooks of a process, with the name of the webhooks as a label. */
export interface AdmissionMetrics {
  readonly requests: Counter<'webhooks' | 'operation' | 'allowed'>;
  readonly expiry: Gauge<'webhooks'>;
}

export function createAdmissionMetrics(metrics: Registry): AdmissionMetrics {
  return {
    requests: createCounter(metrics, sharedMetrics.admissionRequests),
    expiry: createGauge(metrics, sharedMetrics.certificateExpiry),
  };
}

/**
 * Serves the webhooks of a controller. When this resolves, the server listens; it can be called once it has a
 * certificate, which the readiness reports.
 *
 * @throws the system's error when the address cannot be listened on.
 */
export async function startAdmission(
  { config, log, readiness, signal, onStop, stop }: HeadroomProcess<Config>,
  { kubeConfig, metrics, webhooks }: AdmissionOptions,
): Promise<RunningAdmission> {
  const { name, kind, certificateFolder: folder } = webhooks;
  const { systemNamespace } = config.kubernetes;
  const host = webhooks.host ?? `${name}.${systemNamespace}.svc`;
  const source =
    folder === undefined
      ? selfMadeCertificate({ webhooks, kubeConfig, systemNamespace, host, log })
      : givenCertificate({ of: 'the admission webhooks', folder });
  const fail = (error: unknown): void => stop(`the certificate of the webhooks ${name} could not be kept`, error);
  const admission = await runAdmission({ webhooks, source, metrics, readiness, log, signal, fail });
  onStop(`admission webhooks ${name}`, async () => await admission.close());
  log.info({ url: admission.url }, `the starter serves the admission webhooks of every ${kind}`);
  return admission;
}

export interface RunAdmissionOptions {
  readonly webhooks: Pick<AdmissionWebhooks, 'name' | 'kind' | 'reviews' | 'address'>;
  readonly source: CertificateSource;
  readonly metrics: AdmissionMetrics;
  readonly readiness: Readiness;
  readonly log: Log;
  /** Ends the looks at the certificate; the server itself is closed. */
  readonly signal: AbortSignal;
  /** Called with an error that is not expected from a certificate check. */
  readonly fail: (error: unknown) => void;
  readonly now?: () => EpochMs;
}

/** Serves the webhooks with the certificates of a source. @throws as {@link startAdmission}. */
export async function runAdmission(options: RunAdmissionOptions): Promise<RunningAdmission> {
  const { webhooks, source, metrics, readiness, log, signal, fail, now = Date.now } = options;
  const { name } = webhooks;
  const server = await serveAdmission({ webhooks, requests: metrics.requests, log });
  metrics.expiry.set({ webhooks: name }, 0);
  let waitsFor = 'no certificate yet';
  let certificate: ServerCertificate | null = null;
  readiness.watch(`admission webhooks ${name}`, () => {
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
      metrics.expiry.set({ webhooks: name }, next.leaf.validToDate.getTime() / 1000);
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

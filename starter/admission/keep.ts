/** Keeps a server's certificate equal to that of its source. */
import { setTimeout as sleep } from 'node:timers/promises';
import { formatInstant } from '../../domain/kernel/time.ts';
import { untilAvailable } from '../../platform/process/availability.ts';
import type { Log } from '../../platform/log/log.ts';
import { failureOf } from '../../activities/kubernetes/api-get.ts';
import type { ServerCertificate } from './certificate.ts';

/** Where a certificate comes from. */
export interface CertificateSource {
  /** For messages: "the certificate of the admission webhooks in /etc/certificate". */
  readonly name: string;
  /** Milliseconds between two passes. */
  readonly everyMs: number;
  /** The certificate as it is now. @throws Error that says in a sentence why there is none. */
  readonly read: () => Promise<ServerCertificate>;
}

export interface KeepOptions {
  readonly source: CertificateSource;
  /** Called with the first certificate and every later one. */
  readonly use: (certificate: ServerCertificate) => void;
  /** Called with the reason why there is no certificate yet; `undefined` once there is one. */
  readonly onWait: (reason: string | undefined) => void;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/**
 * Waits for a certificate, and checks for a new one until the process stops. A failed check is logged once per reason,
 * and the present certificate stays in use.
 */
export async function keepCertificate({ source, use, onWait, log, signal }: KeepOptions): Promise<void> {
  try {
    let current = await untilAvailable(source.name, source.read, reasonOf, { log, signal, onWait });
    use(current);
    log.info({ until: validUntil(current) }, `${source.name} is used until ${validUntil(current)}`);
    let trouble: string | null = null;
    for (;;) {
      await sleep(source.everyMs, undefined, { signal });
      let next: ServerCertificate;
      try {
        next = await source.read();
      } catch (error) {
        signal.throwIfAborted();
        const reason = reasonOf(error);
        if (reason !== trouble) {
          log.warn({ reason }, `${source.name}: ${reason}; the one until ${validUntil(current)} goes on`);
        }
        trouble = reason;
        continue;
      }
      if (trouble !== null) log.info(`${source.name} can be read again`);
      trouble = null;
      if (next.certificate === current.certificate && next.key === current.key) continue;
      use(next);
      current = next;
      log.info({ until: validUntil(next) }, `${source.name} is another one, used until ${validUntil(next)}`);
    }
  } catch (error) {
    // Every wait ends with the signal.
    if (!signal.aborted) throw error;
  }
}

function validUntil({ leaf }: ServerCertificate): string {
  return formatInstant(leaf.validToDate.getTime());
}

function reasonOf(error: unknown): string {
  return failureOf(error).reason;
}

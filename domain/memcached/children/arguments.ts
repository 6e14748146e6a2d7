import { lastValue, readArguments } from '../api/argument-problems.ts';
import { type MemcachedSpec, SERVER_DEFAULTS } from '../api/memcached.ts';
import { SERVER_PORT, TLS_PORT } from './ports.ts';

export const SASL_PATH = '/etc/memcached/sasl';
export const TLS_PATH = '/etc/memcached/tls';

const VERBOSITY: Readonly<Record<number, readonly string[]>> = { 1: ['-v'], 2: ['-vv'] };

/**
 * The arguments of memcached. Those of people come last, because the last one of a kind counts.
 *
 * @param isTakenOver whether they are to be those of the first implementation.
 */
export function serverArguments(
  { memcached, security }: Pick<MemcachedSpec, 'memcached' | 'security'>,
  isTakenOver = false,
): readonly string[] {
  const { maxMemoryMB, maxConnections, threads, maxItemSize } = { ...SERVER_DEFAULTS, ...memcached };
  const { sasl, tls } = security ?? {};
  return [
    '-m',
    String(maxMemoryMB),
    '-c',
    String(maxConnections),
    '-t',
    String(threads),
    '-I',
    maxItemSize,
    ...(VERBOSITY[memcached?.verbosity ?? 0] ?? []),
    ...(sasl?.enabled === true ? ['-Y', `${SASL_PATH}/password-file`] : []),
    ...(tls?.enabled === true ? tlsArguments(tls.enableClientCert === true, !isTakenOver) : []),
    ...(tls?.enabled === true && !isTakenOver && !listensElsewhere(memcached?.extraArgs ?? []) ? BOTH_PORTS : []),
    ...(memcached?.extraArgs ?? []),
  ];
}

/**
 * With TLS, pods and Service name two ports, and memcached by itself listens on the first one only. `*` is every address of the
 * pod, of IPv4 and IPv6; both ports speak TLS.
 */
const BOTH_PORTS: readonly string[] = ['-l', [SERVER_PORT, TLS_PORT].map(({ port }) => `*:${port}`).join()];

/** Whether arguments of people say where memcached listens. It would add that to ours, and find a port taken. */
function listensElsewhere(extraArgs: readonly string[]): boolean {
  return lastValue(readArguments(extraArgs), 'l') !== undefined;
}

/**
 * The arguments of the exporter; undefined without. It asks the memcached beside it, at localhost, a name that no certificate has to
 * be for. Where memcached demands a certificate of clients, it shows memcached's own: no other is at hand.
 */
export function exporterArguments({ security }: Pick<MemcachedSpec, 'security'>): readonly string[] | undefined {
  const { tls } = security ?? {};
  if (tls?.enabled !== true) return undefined;
  const certificate = [`--memcached.tls.cert-file=${TLS_PATH}/tls.crt`, `--memcached.tls.key-file=${TLS_PATH}/tls.key`];
  return [
    '--memcached.tls.enable',
    '--memcached.tls.insecure-skip-verify',
    ...(tls.enableClientCert === true ? certificate : []),
  ];
}

/** A certificate authority alone demands nothing of clients: mode 2 does (SSL_VERIFY_PEER and FAIL_IF_NO_PEER_CERT). */
function tlsArguments(asksClients: boolean, isDemanded: boolean): readonly string[] {
  const options = [
    `ssl_chain_cert=${TLS_PATH}/tls.crt`,
    `ssl_key=${TLS_PATH}/tls.key`,
    ...(asksClients ? [`ssl_ca_cert=${TLS_PATH}/ca.crt`, ...(isDemanded ? ['ssl_verify_mode=2'] : [])] : []),
  ];
  return ['-Z', ...options.flatMap((option) => ['-o', option])];
}

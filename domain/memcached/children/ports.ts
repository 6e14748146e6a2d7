import type { MemcachedSpec } from '../api/memcached.ts';

export interface NamedPort {
  readonly name: string;
  readonly port: number;
}

/** Clients connect here, with TLS where it is enabled: then at both. */
export const SERVER_PORT: NamedPort = { name: 'memcached', port: 11_211 };
export const TLS_PORT: NamedPort = { name: 'memcached-tls', port: 11_212 };
export const EXPORTER_PORT: NamedPort = { name: 'metrics', port: 9150 };

/** The ports of the server's container. */
export function serverPorts({ security }: Pick<MemcachedSpec, 'security'>): readonly NamedPort[] {
  return security?.tls?.enabled === true ? [SERVER_PORT, TLS_PORT] : [SERVER_PORT];
}

/** All ports of a pod. */
export function podPorts(spec: Pick<MemcachedSpec, 'security' | 'monitoring'>): readonly NamedPort[] {
  return [...serverPorts(spec), ...(spec.monitoring?.enabled === true ? [EXPORTER_PORT] : [])];
}

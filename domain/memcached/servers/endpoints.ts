/** Reads the pods behind the Service of a Memcached from its EndpointSlices. */
import { isRecord } from '../../kernel/record.ts';
import { SERVER_PORT } from '../children/ports.ts';
import { type LiveObject, uidOf } from '../plan/live.ts';
import type { Endpoint } from './slots.ts';

/** The label of an EndpointSlice that names its Service. */
export const SERVICE_NAME = 'kubernetes.io/service-name';

export const ENDPOINT_SLICES = { group: 'discovery.k8s.io', version: 'v1', plural: 'endpointslices' } as const;

/** As the API server takes them; the reference in a slice may be any text, and the list of servers has to fit into a ConfigMap. */
export const LONGEST_POD_NAME = 253;

/** The name of the Service that a slice is of; empty where it has none. */
export function serviceOf({ metadata }: LiveObject): string {
  const labels = metadata?.['labels'];
  const name = isRecord(labels) ? labels[SERVICE_NAME] : undefined;
  return typeof name === 'string' ? name : '';
}

/**
 * The pods behind a Service, with addresses of its first family. Slices of a Service that was there before, or that somebody else
 * made, do not count.
 *
 * @param service null while there is none: then nothing is known.
 */
export function endpointsOf(slices: readonly LiveObject[], service: LiveObject | null): readonly Endpoint[] {
  if (service === null) return [];
  const families = listOf(service.spec?.['ipFamilies']);
  const family = families[0] ?? 'IPv4';
  return slices
    .filter((slice) => slice['addressType'] === family && isOf(slice, uidOf(service)))
    .flatMap((slice) => listOf(slice['endpoints']).flatMap(readEndpoint));
}

function isOf({ metadata }: LiveObject, serviceUid: string): boolean {
  return listOf(metadata?.['ownerReferences']).some((owner) => isRecord(owner) && owner['uid'] === serviceUid);
}

function readEndpoint(endpoint: unknown): readonly Endpoint[] {
  if (!isRecord(endpoint)) return [];
  // The API server demands one at least, and what more there may be has no meaning.
  const address = listOf(endpoint['addresses'])[0];
  if (typeof address !== 'string') return [];
  const conditions = isRecord(endpoint['conditions']) ? endpoint['conditions'] : {};
  const target = isRecord(endpoint['targetRef']) ? endpoint['targetRef']['name'] : undefined;
  return [
    {
      pod: typeof target === 'string' && target.length <= LONGEST_POD_NAME ? target : address,
      address: withPort(address),
      // Unknown means ready, and not terminating.
      isReady: conditions['ready'] !== false,
      isTerminating: conditions['terminating'] === true,
    },
  ];
}

/** An IPv6 address needs brackets before a port. */
function withPort(address: string): string {
  return `${address.includes(':') ? `[${address}]` : address}:${SERVER_PORT.port}`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

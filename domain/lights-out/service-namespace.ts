/**
 * The namespace of a Service in an address, `temporal` for `frontend.temporal.svc.cluster.local:7233` and for
 * `frontend.temporal:7233`; null for any other form. A public host name of two parts looks like the second form; its
 * last part is then protected without need.
 */
export function serviceNamespace(address: string): string | null {
  const host = address.replace(/:\d+$/, '').replace(/\.$/, '');
  const [service, namespace, next, ...rest] = host.split('.');
  if (!isLabel(service) || !isLabel(namespace)) return null;
  return next === undefined || (next === 'svc' && rest.every(isLabel)) ? namespace : null;
}

function isLabel(part: string | undefined): part is string {
  return part !== undefined && /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(part);
}

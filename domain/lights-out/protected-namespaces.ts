import { serviceNamespace } from './service-namespace.ts';

/** What of the configuration names protected namespaces. */
interface ProtectedBy {
  readonly lightsOut: { readonly protectedNamespaces: readonly string[] };
  readonly kubernetes: { readonly systemNamespace: string };
  readonly temporal: { readonly address: string };
}

/**
 * Namespaces that no schedule touches, besides Kubernetes' own: those of the configuration, Headroom's, and Temporal's as far
 * as its address names one. Whoever puts Headroom or Temporal to sleep never wakes anything again.
 */
export function protectedNamespaces({ lightsOut, kubernetes, temporal }: ProtectedBy): readonly string[] {
  const ofTemporal = serviceNamespace(temporal.address);
  return [
    ...new Set([
      ...lightsOut.protectedNamespaces,
      kubernetes.systemNamespace,
      ...(ofTemporal === null ? [] : [ofTemporal]),
    ]),
  ];
}

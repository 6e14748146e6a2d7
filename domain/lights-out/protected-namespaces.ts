import { serviceNamespace } from './service-namespace.ts';

/** The settings that name protected namespaces. */
interface ProtectedBy {
  readonly lightsOut: { readonly protectedNamespaces: readonly string[] };
  readonly kubernetes: { readonly systemNamespace: string };
  readonly temporal: { readonly address: string };
}

/**
 * Namespaces that no schedule may touch, besides Kubernetes' own: those of the configuration, Headroom's, and
 * Temporal's if its address contains one. If Headroom or Temporal were asleep, nothing would ever be woken again.
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

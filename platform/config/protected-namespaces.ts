import { serviceNamespace } from '../kubernetes/service-namespace.ts';
import type { Config } from './config.ts';

/**
 * Namespaces that no schedule touches, besides Kubernetes' own: those of the configuration, Headroom's, and Temporal's as far
 * as its address names one. Whoever puts Headroom or Temporal to sleep never wakes anything again.
 */
export function protectedNamespaces({
  lightsOut,
  kubernetes,
  temporal,
}: Pick<Config, 'lightsOut' | 'kubernetes' | 'temporal'>): readonly string[] {
  const ofTemporal = serviceNamespace(temporal.address);
  return [
    ...new Set([
      ...lightsOut.protectedNamespaces,
      kubernetes.systemNamespace,
      ...(ofTemporal === null ? [] : [ofTemporal]),
    ]),
  ];
}

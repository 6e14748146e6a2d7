/** The providers of machines, each by the name that a NodeGroup has for it. */
import type { Provider } from '../../../domain/node-group/model/node-group.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { createKwokProvider } from './kwok/kwok-provider.ts';
import type { NodeProvider } from './provider.ts';
import type { VpsieOptions } from './vpsie/options.ts';
import { createVpsieProvider } from './vpsie/vpsie-provider.ts';

export interface ProvidersOptions {
  readonly kubernetes: Kubernetes;
  /** Where Headroom keeps its Leases. */
  readonly systemNamespace: string;
  readonly vpsie: VpsieOptions;
}

/** One of each for a process: they share what they know of limits and tokens. */
export function createProviders(options: ProvidersOptions): Readonly<Record<Provider, NodeProvider>> {
  return { kwok: createKwokProvider(options), vpsie: createVpsieProvider(options) };
}

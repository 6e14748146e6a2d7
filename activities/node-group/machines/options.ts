import type { Logger } from 'pino';
import type { Provider } from '../../../domain/node-group/model/node-group.ts';
import type { NodeGroupTarget } from '../../../domain/node-group/target.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import type { ServerClock } from '../../kubernetes/server-clock.ts';
import type { NodeProvider } from '../provider/provider.ts';

/** What the activities of machines and groups work with. */
export interface MachineOptions {
  readonly kubernetes: Kubernetes;
  /** The namespace of the plan's Lease. */
  readonly systemNamespace: string;
  readonly providers: Readonly<Record<Provider, NodeProvider>>;
  /** Goes by the API server's time, as the plans do that are acted on; is set by what is read. */
  readonly clock: ServerClock;
  readonly log: Pick<Logger, 'warn'>;
  /** Before each write. @throws while nothing may be written. */
  readonly guard: (target: NodeGroupTarget) => Promise<void>;
}

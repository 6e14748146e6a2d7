import type { Logger } from 'pino';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { observationOf } from '../../domain/memcached/plan/observe.ts';
import { type MemcachedTarget, memcachedName } from '../../domain/memcached/target.ts';
import { createPauseGuard, type PauseOptions } from '../kernel/pause.ts';
import { withKubernetesFailures } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { ensureMemcached } from './ensure-memcached.ts';
import type { MemcachedActivities } from './interface.ts';
import { measuredReconcile } from './metrics.ts';
import { readSeen } from './read-seen.ts';

export interface MemcachedActivitiesOptions {
  readonly kubernetes: Kubernetes;
  /** The namespace of the pause ConfigMaps. */
  readonly systemNamespace: string;
  /** Where the first implementation ran. */
  readonly formerNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly log: Pick<Logger, 'warn'>;
  /** The clock of the process when absent. */
  readonly now?: () => EpochMs;
}

/** The activities for one cluster. All throw the failures of `kubernetesFailure`; what writes asks for pauses first. */
export function createMemcachedActivities(options: MemcachedActivitiesOptions): MemcachedActivities {
  const { kubernetes, formerNamespace, log, now = Date.now } = options;
  const pauses = createPauseGuard(options);
  const guard = async (target: MemcachedTarget): Promise<void> => {
    const name = memcachedName(target);
    await pauses({ controller: 'memcached', namespace: target.namespace, name }, `the Memcached ${name}`);
  };
  return {
    observeMemcached: withKubernetesFailures(
      async ({ target }) =>
        await measuredReconcile(
          target,
          async () => observationOf(await readSeen(kubernetes, target, { formerNamespace, now }), now()),
          ({ pending }) => pending.length === 0,
        ),
    ),
    ensureMemcached: withKubernetesFailures(
      async (input) =>
        await measuredReconcile(
          input.target,
          async () => await ensureMemcached({ kubernetes, formerNamespace, now, log, guard }, input),
        ),
    ),
  };
}

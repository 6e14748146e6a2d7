import { pauseSentence } from '../../../domain/kernel/pause.ts';
import { type DrainTarget, nodeDrainId } from '../../../domain/node-group/target.ts';
import { createPauseGuard, type PauseOptions, readPause } from '../../kernel/pause.ts';
import { withKubernetesFailures } from '../../kubernetes/failure.ts';
import type { Kubernetes } from '../../kubernetes/kubernetes.ts';
import { ServerClock } from '../../kubernetes/server-clock.ts';
import { awaitReplacement } from './await-replacement.ts';
import type { Logger } from 'pino';
import { createWriteGuard } from '../group/write-guard.ts';
import { strikeRemoval } from '../machines/claim-plan.ts';
import { type EvictOptions, ensureEvicted } from './ensure-evicted.ts';
import { reportBlocked } from './report-blocked.ts';
import type { DrainActivities } from './interface.ts';
import { ensureMarked, ensureUnmarked } from './node-marks.ts';
import { ensureOrdered } from './ordered.ts';

export interface DrainActivitiesOptions {
  readonly kubernetes: Kubernetes;
  /** The namespace of the pause ConfigMaps, and of the plan's Lease. */
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly log: Pick<Logger, 'warn'>;
  /** Of this cluster; one of its own when absent. */
  readonly clock?: ServerClock;
}

/** The activities for one cluster. All throw the failures of `kubernetesFailure`; what writes asks for pauses first. */
export function createDrainActivities(given: DrainActivitiesOptions): DrainActivities {
  const { clock = new ServerClock() } = given;
  const options = drainOptions({ ...given, clock });
  return {
    ensureDrainMarked: withKubernetesFailures(async ({ target }) => {
      const marked = await ensureMarked(options, target);
      return marked.kind === 'marked' ? { kind: 'marked' } : marked;
    }),
    awaitReplacement: withKubernetesFailures(
      async ({ machine }) => await awaitReplacement(options.kubernetes, machine),
    ),
    ensureEvicted: withKubernetesFailures(async (input) => await ensureEvicted(options, input)),
    ensureDrainUnmarked: withKubernetesFailures(async ({ target, blocked }) => {
      const isUnmarked = await ensureUnmarked(options, target, nodeDrainId(target));
      // One that was refused before its first mark has left nothing to take back.
      const isOver = isUnmarked || blocked?.reason === 'WriteFailed';
      if (blocked !== undefined && isOver) await reportBlocked(given, target, blocked);
      // Last: an attempt after it finds no marks, and has nothing to report.
      await strikeRemoval({ ...given, clock, guard: async () => await options.guard(target) }, target);
    }),
  };
}

/** What the functions of a drain need, for those too who take back the marks of drains that do not run any more. */
function drainOptions(
  given: DrainActivitiesOptions & { readonly clock: ServerClock },
): EvictOptions & { readonly kubernetes: Kubernetes } {
  const { kubernetes, clock } = given;
  const pauses = createPauseGuard(given);
  const guard = createWriteGuard(given);
  return {
    kubernetes,
    now: clock.now,
    ensureOrdered: async (target, node, isMarked) => {
      await ensureOrdered(given, target, node, isMarked);
    },
    guard: async ({ group, node, cluster }: DrainTarget) => {
      await guard({ cluster, group });
      await pauses({ controller: 'node-group', name: node }, `the node ${node}`);
    },
    pauseOfNamespace: async (namespace) => {
      const pause = await readPause(given, { controller: 'node-group', namespace });
      // A wider pause holds the drain itself.
      return pause?.scope === 'namespace' ? pauseSentence(pause) : null;
    },
  };
}

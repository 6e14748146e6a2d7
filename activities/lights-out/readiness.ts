import type { PollPace } from '../../domain/kernel/poll-pace.ts';
import { unpackItem } from '../../domain/lights-out/decide/packed.ts';
import type { ScheduleState } from '../../domain/lights-out/schedule/names.ts';
import type { PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { workloadName } from '../../domain/lights-out/workload/workload.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import { notYet } from '../kernel/not-yet.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { orNull } from '../kubernetes/failure.ts';
import type { ReadinessWait } from './interface.ts';
import type { ReplicatedObject } from './read-workload.ts';
import { WORKLOAD_API } from './workload-api.ts';

type Awaited = Pick<PlanItem, 'workload' | 'to' | 'owner'>;

/** Pods start within seconds or take minutes: polled after 2 s at first, and every 15 s after five minutes. */
const PACE: PollPace = { first: 2_000, last: 15_000, ramp: 5 * 60_000 };
const AT_ONCE = 10;
/** Up to this number the workloads of a namespace are read one by one; otherwise the namespace is listed. */
const FEW = 5;
/** How many workloads a message names. */
const NAMED = 5;

/** @throws NotYet, retried, until every workload allows the next priority to begin. */
export async function awaitScaled(kubernetes: Kubernetes, { direction, workloads }: ReadinessWait): Promise<void> {
  const items = workloads.map(unpackItem);
  const groups = [...Map.groupBy(items, ({ workload }) => `${workload.kind} ${workload.namespace}`).values()];
  const found = await inParallel(AT_ONCE, groups, async (group) => await readGroup(kubernetes, group));
  const missing = found.flat().flatMap(([item, object]) => {
    const lack = object === undefined ? null : lackOf(object, item, direction);
    return lack === null ? [] : [`${workloadName(item.workload)} (${lack})`];
  });
  if (missing.length === 0) return;
  const rest = missing.length - NAMED;
  const names = missing.slice(0, NAMED).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
  const what = direction === 'Up' ? 'ready' : 'down';
  throw notYet(`${missing.length} of ${items.length} workloads are not ${what} yet: ${names}`, PACE);
}

/** The items of one kind and namespace with their objects, undefined for one that is gone; none for a kind without pods. */
async function readGroup(
  kubernetes: Kubernetes,
  items: readonly Awaited[],
): Promise<readonly (readonly [Awaited, ReplicatedObject | undefined])[]> {
  const [first] = items;
  const pods = first === undefined ? null : WORKLOAD_API[first.workload.kind].pods;
  if (first === undefined || pods === null) return [];
  const objects =
    items.length <= FEW
      ? await inParallel(FEW, items, ({ workload: { namespace, name } }) =>
          orNull(pods.read(kubernetes, { namespace, name })),
        )
      : await pods.list(kubernetes, first.workload.namespace);
  const byName = new Map(
    objects.filter((present) => present !== null).map((present) => [present.metadata?.name, present]),
  );
  return items.map((item) => [item, byName.get(item.workload.name)] as const);
}

/**
 * What is missing, in words; null when nothing is. If somebody scaled the workload since, its present replicas are
 * sufficient; but what has its number from an owner gets it a moment later.
 */
export function lackOf(
  { metadata, spec, status }: ReplicatedObject,
  { to, owner }: Pick<Awaited, 'to' | 'owner'>,
  direction: ScheduleState,
): string | null {
  if ((status?.observedGeneration ?? 0) < (metadata?.generation ?? 0)) return 'not observed by its controller yet';
  const present = spec?.replicas ?? 1;
  const asked = owner === undefined ? present : (to ?? present);
  if (direction === 'Up') {
    const wanted = Math.min(to ?? asked, asked);
    const ready = status?.readyReplicas ?? 0;
    return ready >= wanted ? null : `${ready} of ${wanted} ready`;
  }
  const allowed = Math.max(to ?? asked, asked);
  const pods = status?.replicas ?? 0;
  return pods <= allowed ? null : `${pods} pods, ${allowed} wanted`;
}

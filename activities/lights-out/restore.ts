/**
 * Wakes what schedules put to sleep, from the marks and the memory, with nothing but the Kubernetes API: for the day on
 * which neither Temporal nor a worker is there.
 */
import type { EpochMs } from '../../domain/kernel/time.ts';
import { inOrder } from '../../domain/lights-out/decide/order.ts';
import { MANAGED_BY } from '../../domain/lights-out/schedule/names.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import type { EvaluationContext, ObjectChange, PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { recalled, type RememberedWorkloads, withoutWorkload } from '../../domain/lights-out/workload/remembered.ts';
import {
  markedOwner,
  type OwnerMark,
  readOwnerMark,
  scaledUid,
} from '../../domain/lights-out/workload/scaled-owner.ts';
import { labelValue, savedStateOf } from '../../domain/lights-out/workload/saved-state.ts';
import type { Workload } from '../../domain/lights-out/workload/workload.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import { statusCode } from '../kubernetes/failure.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { itemFailure } from './item-failure.ts';
import { OwnerKinds, type Owners } from './owners.ts';
import { listWorkloads, readItem } from './read-cluster.ts';
import { NO_SPEC } from './read-schedule-object.ts';
import { readMemories, ScalingMemory } from './scaling-memory.ts';
import { writeObject } from './write-object.ts';

/**
 * Not Headroom's own manager: the schedule leaves what this wakes until its next morning, as what any person wakes.
 */
const RESTORE_MANAGER = 'headroom-restore';
/** Workloads written in parallel. */
const AT_ONCE = 10;
/** How often a workload is read and evaluated again after a conflict. */
const ROUNDS = 5;

export interface RestoreOptions {
  readonly kubernetes: Kubernetes;
  /** Where the memory is. */
  readonly systemNamespace: string;
  readonly now: EpochMs;
}

/** A workload that sleeps, or an autoscaler that is held, and what wakes it. */
export interface Sleeper {
  readonly schedule: string;
  readonly uid: string;
  readonly item: PlanItem;
  readonly writes: readonly ObjectChange[];
  /** Its marks are lost, and the memory has what it was. */
  readonly isRecalled: boolean;
  /** Its marks name an owner that was not among those of the list, which says nothing of the reason. */
  readonly isWithoutOwner: boolean;
}

export interface Asleep {
  readonly sleepers: readonly Sleeper[];
  /** Why the memory cannot be read; null when it can. What has its marks is found all the same. */
  readonly withoutMemory: unknown;
}

/**
 * Everything that one schedule, or any, put to sleep. Whether the schedule exists does not matter.
 *
 * @param schedule its name; null: all of them.
 * @throws ApiException when the workloads cannot be listed.
 */
export async function findAsleep(options: RestoreOptions, schedule: string | null): Promise<Asleep> {
  const { kubernetes, systemNamespace } = options;
  const listed = await listWorkloads(kubernetes, new OwnerKinds(kubernetes, []));
  const { memories, withoutMemory } = await readMemories(kubernetes, systemNamespace);
  const remembered = new Map([...memories.values()].flatMap((memory) => [...memory.remembered]));
  const owners = await listOwners(kubernetes, listed.workloads, remembered);
  const workloads = owners.attachedAll(listed.workloads);
  const alone = withoutWorkload(remembered, workloads, (mark, namespace) => owners.get(mark, namespace));
  const missing = [...listed.missing, ...alone];
  const schedules = schedule === null ? schedulesOf([...workloads, ...missing], [...memories.keys()]) : [schedule];
  const sleepers = schedules.flatMap((owner) =>
    [...workloads, ...missing].flatMap((workload) => {
      const found = sleeperOf(workload, restoring(owner, options.now, memories.get(owner)?.remembered));
      return found === null ? [] : [found];
    }),
  );
  const byItem = new Map(sleepers.map((sleeper) => [sleeper.item, sleeper]));
  const ordered = inOrder(sleepers.map(({ item }) => item)).map((item) => byItem.get(item));
  return { sleepers: ordered.filter((sleeper) => sleeper !== undefined), withoutMemory };
}

/**
 * The owners that the memory names, and those that marks name. Anybody may write a mark: what cannot be listed because of one
 * holds up no other, and is said of the workload with the mark.
 */
async function listOwners(
  kubernetes: Kubernetes,
  workloads: readonly Workload[],
  remembered: RememberedWorkloads,
): Promise<Owners> {
  const kept = definitionsOf([...remembered.values()].map(({ owner }) => readOwnerMark(owner)));
  const owners = await new OwnerKinds(kubernetes, [...kept]).list();
  for (const definition of definitionsOf(workloads.map(markedOwner))) {
    if (kept.has(definition)) continue;
    try {
      await new OwnerKinds(kubernetes, [definition]).list(owners);
    } catch (error) {
      if (statusCode(error) !== 403) throw error;
    }
  }
  return owners;
}

function definitionsOf(marks: readonly (OwnerMark | null)[]): ReadonlySet<string> {
  return new Set(marks.flatMap((mark) => (mark === null ? [] : [mark.definition])));
}

/** The schedules that anything names: by annotation, by the memory, or, where both are gone, by label. */
function schedulesOf(workloads: readonly Workload[], remembered: readonly string[]): readonly string[] {
  const named = new Set(remembered);
  for (const { annotations, autoscalers } of workloads) {
    for (const all of [annotations, ...autoscalers.map((autoscaler) => autoscaler.annotations)]) {
      const owner = all[MANAGED_BY];
      if (owner !== undefined && owner !== '') named.add(owner);
    }
  }
  const labels = new Set([...named].map(labelValue));
  for (const workload of workloads) {
    const { managedBy, label, original } = savedStateOf(workload);
    if (managedBy === null && original !== null && label !== null && !labels.has(label)) named.add(label);
  }
  return [...named].toSorted();
}

/** As if the schedule had been deleted: what it put to sleep is woken, and nothing else is done. */
function restoring(schedule: string, now: EpochMs, remembered: RememberedWorkloads = new Map()): EvaluationContext {
  return {
    schedule,
    createdAt: 0,
    spec: NO_SPEC,
    now,
    period: { state: 'Up', since: null },
    isRestoringAll: true,
    overrides: [],
    completedAt: null,
    protectedNamespaces: [],
    gitopsManagers: [],
    others: [],
    contested: {},
    failing: [],
    remembered,
  };
}

function sleeperOf(listed: Workload, context: EvaluationContext): Sleeper | null {
  const workload = recalled(listed, context);
  const evaluation = evaluate(workload, null, context);
  if (evaluation.kind === 'keep' || evaluation.item.direction !== 'Up') return null;
  const { item, writes } = evaluation;
  return {
    schedule: context.schedule,
    uid: scaledUid(workload),
    item,
    writes,
    isRecalled: workload.isRecalled === true,
    isWithoutOwner: workload.owner === undefined && markedOwner(workload) !== null,
  };
}

export interface Restored {
  readonly sleeper: Sleeper;
  /** Null: it is awake, or gone. */
  readonly failure: string | null;
}

/**
 * Wakes them, as many at once as the API server bears. One that cannot be written holds up no other.
 *
 * @throws what concerns the whole API server and not one workload; what was woken by then is awake.
 */
export async function wakeAll(options: RestoreOptions, sleepers: readonly Sleeper[]): Promise<readonly Restored[]> {
  const { memories } = await readMemories(options.kubernetes, options.systemNamespace);
  return await inParallel(AT_ONCE, sleepers, async (sleeper) => {
    try {
      const context = restoring(sleeper.schedule, options.now, memories.get(sleeper.schedule)?.remembered);
      return { sleeper, failure: await wake(options.kubernetes, sleeper, context) };
    } catch (error) {
      const failure = itemFailure(error);
      if (failure === null) throw error;
      return { sleeper, failure };
    }
  });
}

async function wake(kubernetes: Kubernetes, sleeper: Sleeper, context: EvaluationContext): Promise<string | null> {
  let { item, writes } = sleeper;
  for (let round = sleeper.isWithoutOwner ? -1 : 0; ; round += 1) {
    try {
      if (round >= 0) {
        for (const change of writes) {
          await writeObject(kubernetes, item.workload.namespace, change, RESTORE_MANAGER);
        }
        return null;
      }
    } catch (error) {
      const code = statusCode(error);
      if (code !== 409 && code !== 404) throw error;
      if (round === ROUNDS) return `others wrote it at the same time, ${ROUNDS} times in a row`;
    }
    const found = await readItem(kubernetes, new OwnerKinds(kubernetes, []), item);
    if (found === null || scaledUid(found) !== sleeper.uid) return null;
    const again = sleeperOf(found, context);
    if (again === null) return null;
    ({ item, writes } = again);
  }
}

/** Takes what was woken out of the memory. @throws ApiException where whoever asks may not write it. */
export async function forgetWoken(
  { kubernetes, systemNamespace }: RestoreOptions,
  results: readonly Restored[],
): Promise<void> {
  const woken = results.filter(({ failure }) => failure === null).map(({ sleeper }) => sleeper);
  for (const [schedule, own] of Map.groupBy(woken, (sleeper) => sleeper.schedule)) {
    const memory = new ScalingMemory(kubernetes, { schedule, scheduleUid: '', systemNamespace });
    await memory.forget(own.map(({ uid }) => uid));
  }
}

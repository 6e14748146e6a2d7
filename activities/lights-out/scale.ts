import { pauseSentence } from '../../domain/kernel/pause.ts';
import { isAtLeast } from '../../domain/kernel/resource-version.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { isSameVersion, scheduleVersion } from '../../domain/lights-out/decide/schedule-version.ts';
import { unpackItems } from '../../domain/lights-out/decide/packed.ts';
import { IdleCount } from '../../domain/lights-out/decide/savings.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { OBJECT_RESOURCES } from '../../domain/lights-out/workload/kinds.ts';
import { recalled, rememberedOf } from '../../domain/lights-out/workload/remembered.ts';
import { scaledUid } from '../../domain/lights-out/workload/scaled-owner.ts';
import { isScaledDown, savedStateOf } from '../../domain/lights-out/workload/saved-state.ts';
import { KEDA_PAUSED_REPLICAS, MANAGED_BY } from '../../domain/lights-out/schedule/names.ts';
import type {
  Evaluation,
  EvaluationContext,
  ObjectChange,
  PlanItem,
} from '../../domain/lights-out/workload/evaluation.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import { type PauseOptions, readPause } from '../kernel/pause.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { statusCode } from '../kubernetes/failure.ts';
import type { Batch, BatchOutcome, ItemOutcome } from './interface.ts';
import { forgettable } from './forgettable.ts';
import { itemFailure } from './item-failure.ts';
import { type ScalingMetrics, scalingMetrics } from './metrics.ts';
import { type ContextSettings, othersThan, evaluationContext } from './evaluation-context.ts';
import { listCalendars, listNamespaces, listSchedules, readItem, readScheduleObject } from './read-cluster.ts';
import { type ScheduleNow, scheduleWith } from './read-schedule-object.ts';
import type { OwnerKinds } from './owners.ts';
import { ScalingMemory } from './scaling-memory.ts';
import { WriteBudget } from './write-budget.ts';
import { SetBack, skipMissedRuns, writeObject } from './write-object.ts';

export interface ScaleOptions extends ContextSettings {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly ownerKinds: OwnerKinds;
  readonly now: () => EpochMs;
}

/** Workloads of a batch in hand at a time, so that slow webhooks hold up few others. */
const AT_ONCE = 10;
/** One for all schedules. */
const budget = new WriteBudget();
/** The item is as planned. */
const PLANNED = 'planned';
/** How often a workload is evaluated again after a conflict. */
const ROUNDS = 5;

/**
 * Writes the items of a plan, each as it is to be by an evaluation at the moment of its write. A failed item is an
 * outcome; only when the whole API server is unavailable does the batch fail and is retried. The retry finds the items
 * that were already written.
 */
export async function ensureScaled(options: ScaleOptions, batch: Batch): Promise<BatchOutcome> {
  const metrics = scalingMetrics(batch.target.schedule);
  const memory = memoryOf(options, batch.target.schedule, batch.scheduleUid);
  const changed = { isSchedule: false };
  const surroundings = createSurroundings(options, batch, memory, changed);
  const items = unpackItems(batch.items);
  const versions = new WrittenVersions();
  // Before the batch: what is put to sleep by it is remembered again.
  await memory.forget(await forgettable(options, memory, batch.outdated ?? []));
  const awake: string[] = [];
  const idle = new IdleCount();
  const outcomes = await inParallel(AT_ONCE, items, async (item) => {
    try {
      const done = await budget.run(
        async () =>
          await ensureItem(options, {
            item,
            schedule: batch.target.schedule,
            metrics,
            surroundings,
            versions,
            memory,
            awake,
            idle,
          }),
      );
      // Items that were not started are left to the next pass.
      return done === null ? outcome(item, 'unstarted') : done === PLANNED ? null : done;
    } catch (error) {
      const detail = itemFailure(error);
      if (detail === null) throw error;
      metrics.error(item.workload);
      return outcome(item, 'failed', detail);
    }
  });
  for (const [index, result] of outcomes.entries()) {
    if (result?.kind === 'unstarted') continue;
    metrics.processed(items[index]?.direction ?? 'Up', result?.kind ?? 'success');
  }
  await memory.forget(awake);
  return {
    versions: versions.newest,
    outcomes: outcomes.filter((result) => result !== null),
    ...(idle.isEmpty ? {} : { idle: idle.byNamespace }),
    ...(changed.isSchedule ? { isScheduleChanged: true } : {}),
  };
}

interface ItemInput {
  readonly item: PlanItem;
  readonly schedule: string;
  readonly metrics: ScalingMetrics;
  readonly surroundings: Surroundings;
  readonly versions: WrittenVersions;
  readonly memory: ScalingMemory;
  /** Gets the UID of each workload that was woken. */
  readonly awake: string[];
  readonly idle: IdleCount;
}

/** The memory of a schedule in the cluster. */
export function memoryOf(
  { kubernetes, systemNamespace }: Pick<ScaleOptions, 'kubernetes' | 'systemNamespace'>,
  schedule: string,
  scheduleUid: string,
): ScalingMemory {
  return new ScalingMemory(kubernetes, { schedule, scheduleUid, systemNamespace });
}

/** The newest version that a batch wrote of each resource. */
class WrittenVersions {
  readonly newest: Record<string, string> = {};

  add({ kind, of }: Pick<ObjectChange, 'kind' | 'of'>, version: string): void {
    const resource = kind === 'ScaledOwner' ? (of?.definition ?? kind) : OBJECT_RESOURCES[kind];
    if (version !== '' && isAtLeast(version, this.newest[resource] ?? '0')) this.newest[resource] = version;
  }
}

async function ensureItem(
  options: ScaleOptions,
  { item, schedule, metrics, surroundings, versions, memory, awake, idle }: ItemInput,
): Promise<ItemOutcome | typeof PLANNED> {
  const { kubernetes } = options;
  const { namespace } = item.workload;
  for (let round = 0; ; round += 1) {
    // Checked before every write: a batch may take ten minutes, and conflicts may take several rounds.
    const pause = await readPause(options, { controller: 'lights-out', namespace, name: schedule });
    if (pause !== null) return outcome(item, 'skipped', pauseSentence(pause));
    const found = await readItem(kubernetes, options.ownerKinds, item);
    if (found === null) return outcome(item, 'skipped', 'gone');
    const surrounding = await surroundings(savedStateOf(found).managedBy);
    if (typeof surrounding === 'string') return outcome(item, 'skipped', surrounding);
    const workload = recalled(found, surrounding.context);
    const evaluated = beforePause(workload, item, surrounding.context.schedule);
    const evaluation = evaluate(evaluated, surrounding.namespaces.get(namespace) ?? null, surrounding.context);
    if (evaluation.kind === 'keep') return kept(item, workload, evaluation);
    if (evaluation.item.direction !== item.direction) return outcome(item, 'skipped', otherwise(evaluation.item));
    // What is gone cannot be put to sleep, only let go.
    if (workload.uid === '' && item.direction === 'Down') return outcome(item, 'skipped', 'gone');
    const entry = rememberedOf(scaledUid(workload), evaluation);
    if (entry !== null) await memory.remember([entry]);
    if (await write(options, evaluation, versions)) {
      if (item.direction === 'Up') awake.push(scaledUid(workload));
      // What had no marks was not counted as idle.
      if (item.direction === 'Down' || isScaledDown(savedStateOf(workload), workload.kind))
        idle.add(workload, (evaluation.item.from ?? 0) - (evaluation.item.to ?? 0));
      metrics.operation(item.workload, item.direction);
      return PLANNED;
    }
    if (round === ROUNDS) {
      metrics.error(item.workload);
      return outcome(item, 'failed', `others wrote it at the same time, ${ROUNDS} times in a row`);
    }
  }
}

/**
 * A workload as it was before its ScaledObject was paused for this item. KEDA removes the replicas at once, maybe
 * before the annotations are written, so the planned number is the one to restore.
 */
function beforePause(workload: Workload, { direction, from, to }: PlanItem, schedule: string): Workload {
  const { kind, replicas, autoscalers } = workload;
  if (direction !== 'Down' || from === null || replicas === null || replicas >= from || from === to) return workload;
  if (isScaledDown(savedStateOf(workload), kind)) return workload;
  const isPaused = autoscalers.some(
    ({ kind: scaler, annotations }) =>
      scaler === 'ScaledObject' &&
      annotations[MANAGED_BY] === schedule &&
      annotations[KEDA_PAUSED_REPLICAS] !== undefined,
  );
  return isPaused ? { ...workload, replicas: from, changed: null } : workload;
}

/** False when something changed since it was read or is gone, so that the item has to be evaluated again. */
async function write(
  { kubernetes, now }: Pick<ScaleOptions, 'kubernetes' | 'now'>,
  { item, writes, skipsMissedRuns }: Extract<Evaluation, { kind: 'change' }>,
  versions: WrittenVersions,
): Promise<boolean> {
  const { workload, direction } = item;
  // In sequence: an autoscaler that is not held yet would scale its workload up again.
  for (const change of writes) {
    try {
      const { namespace } = workload;
      const isCounted = skipsMissedRuns === true && change.kind === 'CronJob';
      const next = isCounted ? await skipMissedRuns(kubernetes, namespace, change, now()) : change;
      versions.add(next, await writeObject(kubernetes, namespace, next));
    } catch (error) {
      const code = statusCode(error);
      if (code === 409 || code === 404) return false;
      // It sleeps, and the memory has what it was; the next observation says that its marks are gone.
      if (direction === 'Down' && error instanceof SetBack && error.isOfMarks && change.kind === workload.kind)
        continue;
      throw error;
    }
  }
  return true;
}

/** The outcome for a workload that needs no write: an earlier attempt or somebody else may already have done it. */
function kept(
  item: PlanItem,
  workload: Workload,
  { reason, detail }: Extract<Evaluation, { kind: 'keep' }>,
): ItemOutcome | typeof PLANNED {
  const isHeld = isScaledDown(savedStateOf(workload), workload.kind);
  const isDown =
    reason === 'AsDesired' || reason === 'OwnerLags' ? isHeld : reason === 'AtRest' || reason === 'SuspendedByUser';
  const isAsWanted = item.direction === 'Down' ? isDown : reason === 'AsDesired' && !isHeld;
  return isAsWanted ? PLANNED : outcome(item, 'skipped', detail ?? reason);
}

function otherwise({ direction, reason }: PlanItem): string {
  return `the schedule ${direction === 'Up' ? 'wakes it' : 'puts it to sleep'} now (${reason})`;
}

function outcome({ workload }: PlanItem, kind: ItemOutcome['kind'], detail?: string): ItemOutcome {
  return { workload: workloadName(workload), kind, ...(detail === undefined ? {} : { detail }) };
}

/** The input for evaluating a workload; a sentence when nothing is to be done for the schedule any more. */
type Surroundings = (owner: string | null) => Promise<
  | {
      readonly context: EvaluationContext;
      readonly namespaces: ReadonlyMap<string, ScopedNamespace>;
    }
  | string
>;

/**
 * Reads the schedule, the others and the namespaces once, when the first workload needs them. They are read again for a
 * workload annotated by an unknown schedule: it may have been created since and must not be treated as gone.
 */
function createSurroundings(
  { kubernetes, systemNamespace, now, ...settings }: Omit<ScaleOptions, 'ownerKinds'>,
  batch: Batch,
  memory: ScalingMemory,
  changed: { isSchedule: boolean },
): Surroundings {
  const { target, scheduleUid, observeInput } = batch;
  const { protectedNamespaces, gitopsManagers } = settings;

  async function read() {
    const [object, schedules, namespaces, kept] = await Promise.all([
      readScheduleObject(kubernetes, target.schedule),
      listSchedules(kubernetes),
      listNamespaces(kubernetes),
      memory.all(),
    ]);
    const at = now();
    const own = await scheduleWith(object, at, async () => await listCalendars(kubernetes, systemNamespace));
    if (batch.schedule !== undefined && !isSameVersion(batch.schedule, scheduleVersion(own?.seen ?? null)))
      changed.isSchedule = true;
    if (own !== null && own.seen.uid !== scheduleUid) return 'the schedule was deleted and created again meanwhile';
    if (own !== null && own.seen.spec === null && !own.seen.isDeleting) return 'the schedule became invalid meanwhile';
    if (own !== null && !own.seen.isDeleting && isIdle(own))
      return 'the schedule became suspended or a dry run meanwhile';
    const others = othersThan(target.schedule, schedules);
    const settled = { now: at, protectedNamespaces, gitopsManagers, kept };
    const decided = evaluationContext(observeInput, own, others, settled);
    const context = own !== null && isToBeApproved(own, batch) ? { ...decided, approved: new Map() } : decided;
    return { context, namespaces: new Map(namespaces.map((namespace) => [namespace.name, namespace])) };
  }

  let reading: ReturnType<typeof read> | undefined;
  return async (owner) => {
    const existing = await (reading ??= read());
    if (typeof existing === 'string' || owner === null || owner === target.schedule) return existing;
    if (existing.context.others.some(({ name }) => name === owner)) return existing;
    reading = read();
    return await reading;
  };
}

/** Whether somebody has to approve what is put to sleep, and nobody has: the batch was planned before that was asked for. */
function isToBeApproved({ seen: { spec, status } }: ScheduleNow, { observeInput }: Batch): boolean {
  return spec?.requireApproval === true && !observeInput.isApproved && status.approved === undefined;
}

function isIdle({ seen: { spec } }: ScheduleNow): boolean {
  return spec?.suspend === true || spec?.dryRun === true;
}

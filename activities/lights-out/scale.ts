import { pauseSentence } from '../../domain/kernel/pause.ts';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { evaluate } from '../../domain/lights-out/workload/evaluate.ts';
import { isScaledDown, savedStateOf } from '../../domain/lights-out/workload/saved-state.ts';
import { KEDA_PAUSED_REPLICAS, MANAGED_BY } from '../../domain/lights-out/schedule/names.ts';
import type { Evaluation, EvaluationContext, PlanItem } from '../../domain/lights-out/workload/evaluation.ts';
import { type ScopedNamespace, type Workload, workloadName } from '../../domain/lights-out/workload/workload.ts';
import { inParallel } from '../kernel/in-parallel.ts';
import { isInterrupted } from '../kernel/cancellation.ts';
import { type PauseOptions, readPause } from '../kernel/pause.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import { statusCode } from '../kubernetes/failure.ts';
import type { Batch, BatchOutcome, ItemOutcome } from './interface.ts';
import { itemFailure } from './item-failure.ts';
import { type ScalingMetrics, scalingMetrics } from './metrics.ts';
import { type ContextSettings, othersThan, evaluationContext } from './evaluation-context.ts';
import { listNamespaces, listSchedules, readScheduleObject, readWorkload } from './read-cluster.ts';
import { scheduleNow, type ScheduleNow } from './read-schedule-object.ts';
import { writeObject } from './write-object.ts';

export interface ScaleOptions extends ContextSettings {
  readonly kubernetes: Kubernetes;
  readonly systemNamespace: string;
  readonly pauses?: PauseOptions['pauses'];
  readonly now: () => EpochMs;
}

/** Workloads written in parallel: enough for hundreds a minute behind slow webhooks without a burst. */
const AT_ONCE = 10;
/** How often a workload is evaluated again after a conflict. */
const ROUNDS = 5;

/**
 * Writes the items of a plan. A failed item is an outcome; only when the whole API server is unavailable does the batch
 * fail and is retried. The retry finds the items that were already written.
 */
export async function ensureScaled(options: ScaleOptions, batch: Batch): Promise<BatchOutcome> {
  const metrics = scalingMetrics(batch.target.schedule);
  const surroundings = createSurroundings(options, batch);
  const outcomes = await inParallel(AT_ONCE, batch.items, async (item) => {
    // Items that were not started are left to the next pass, which observes what was done.
    if (isInterrupted()) return null;
    try {
      return await ensureItem(options, { item, schedule: batch.target.schedule, metrics, surroundings });
    } catch (error) {
      const detail = itemFailure(error);
      if (detail === null) throw error;
      metrics.error(item.workload);
      return outcome(item, 'failed', detail);
    }
  });
  for (const [index, result] of outcomes.entries()) {
    if (result === null) continue;
    metrics.processed(batch.items[index]?.direction ?? 'Up', result.kind === 'done' ? 'success' : result.kind);
  }
  return { outcomes: outcomes.filter((result) => result !== null) };
}

interface ItemInput {
  readonly item: PlanItem;
  readonly schedule: string;
  readonly metrics: ScalingMetrics;
  readonly surroundings: Surroundings;
}

async function ensureItem(
  options: ScaleOptions,
  { item, schedule, metrics, surroundings }: ItemInput,
): Promise<ItemOutcome> {
  const { kubernetes } = options;
  const { namespace } = item.workload;
  let next = item;
  for (let round = 0; ; round += 1) {
    // Checked before every write: a batch may take ten minutes, and conflicts may take several rounds.
    const pause = await readPause(options, { controller: 'lights-out', namespace, name: schedule });
    if (pause !== null) return outcome(item, 'skipped', pauseSentence(pause));
    if (await write(kubernetes, next)) {
      metrics.operation(item.workload, item.direction);
      return outcome(item, 'done');
    }
    if (round === ROUNDS) {
      metrics.error(item.workload);
      return outcome(item, 'failed', `others wrote it at the same time, ${ROUNDS} times in a row`);
    }
    const workload = await readWorkload(kubernetes, item.workload);
    if (workload === null || workload.uid !== item.workload.uid) {
      const isMissing = item.workload.uid === '';
      return outcome(item, 'skipped', isMissing ? 'its autoscalers, or what they scale, changed meanwhile' : 'gone');
    }
    const surrounding = await surroundings(savedStateOf(workload).managedBy);
    if (typeof surrounding === 'string') return outcome(item, 'skipped', surrounding);
    const evaluated = beforePause(workload, item, next.from, surrounding.context.schedule);
    const evaluation = evaluate(evaluated, surrounding.namespaces.get(workload.namespace) ?? null, surrounding.context);
    if (evaluation.kind === 'keep') return kept(item, workload, evaluation);
    if (evaluation.item.direction !== item.direction) return outcome(item, 'skipped', otherwise(evaluation.item));
    next = evaluation.item;
  }
}

/**
 * A workload as it was before its ScaledObject was paused for this item. KEDA removes the replicas at once, maybe
 * before the annotations are written, so the earlier number is the one to restore.
 */
function beforePause(workload: Workload, { direction, writes }: PlanItem, from: number | null, schedule: string) {
  const { kind, replicas, autoscalers } = workload;
  if (direction !== 'Down' || from === null || replicas === null || replicas >= from) return workload;
  if (isScaledDown(savedStateOf(workload), kind) || !writes.some((other) => other.kind === kind)) return workload;
  const isPaused = autoscalers.some(
    ({ uid, annotations }) =>
      writes.some((other) => other.kind === 'ScaledObject' && other.uid === uid) &&
      annotations[MANAGED_BY] === schedule &&
      annotations[KEDA_PAUSED_REPLICAS] !== undefined,
  );
  return isPaused ? { ...workload, replicas: from, changed: null } : workload;
}

/** False when something changed since the observation or is gone, so that the item has to be evaluated again. */
async function write(kubernetes: Kubernetes, { workload, writes }: PlanItem): Promise<boolean> {
  // In sequence: an autoscaler that is not held yet would scale its workload up again.
  for (const change of writes) {
    try {
      await writeObject(kubernetes, workload.namespace, change);
    } catch (error) {
      const code = statusCode(error);
      if (code === 409 || code === 404) return false;
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
): ItemOutcome {
  const isHeld = isScaledDown(savedStateOf(workload), workload.kind);
  const isDown = reason === 'AsDesired' ? isHeld : reason === 'AtRest' || reason === 'SuspendedByUser';
  const isAsWanted = item.direction === 'Down' ? isDown : reason === 'AsDesired' && !isHeld;
  if (isAsWanted) return outcome(item, 'done');
  return outcome(item, 'skipped', detail ?? reason);
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
function createSurroundings({ kubernetes, now, ...settings }: ScaleOptions, batch: Batch): Surroundings {
  const { target, scheduleUid, observeInput } = batch;
  const { protectedNamespaces, gitopsManagers } = settings;

  async function read() {
    const [object, schedules, namespaces] = await Promise.all([
      readScheduleObject(kubernetes, target.schedule),
      listSchedules(kubernetes),
      listNamespaces(kubernetes),
    ]);
    const at = now();
    const own = object === null ? null : scheduleNow(object, at);
    if (own !== null && own.seen.uid !== scheduleUid) return 'the schedule was deleted and created again meanwhile';
    if (own !== null && own.seen.spec === null && !own.seen.isDeleting) return 'the schedule became invalid meanwhile';
    if (own !== null && !own.seen.isDeleting && isIdle(own))
      return 'the schedule became suspended or a dry run meanwhile';
    const others = othersThan(target.schedule, schedules);
    const context = evaluationContext(observeInput, own, others, { now: at, protectedNamespaces, gitopsManagers });
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

function isIdle({ seen: { spec } }: ScheduleNow): boolean {
  return spec?.suspend === true || spec?.dryRun === true;
}

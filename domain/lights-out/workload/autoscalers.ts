/**
 * Autoscalers of a sleeping workload. KEDA is paused before the workload is scaled down and until it is up again. A
 * HorizontalPodAutoscaler ignores a workload without replicas; its bounds are lowered only if replicas are kept or if
 * it may scale from zero. If replicas are kept, that happens after the workload is down and lasts until it is woken.
 * The state of each autoscaler is in its own annotations, so that an interrupted plan can be continued.
 *
 * - free: without annotations of a schedule;
 * - held: with the owner's annotations and its earlier state, or paused;
 * - resumed: with the owner's annotations alone. A person wants the workload up during the night, so the autoscaler
 * works again, and what it does must not be reverted as a machine's change. A held autoscaler that a person changed
 * since counts as resumed: it is left alone until the morning.
 */
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import { readMoment } from './annotations.ts';
import { wholeSecond } from './desired.ts';
import { managerClass } from './manager.ts';
import { isEmptyPatch, labelValue, MAX_REPLICAS, type MetadataPatch, ownerMetadata, without } from './saved-state.ts';
import { DOWN_SINCE, KEDA_PAUSED_REPLICAS, MANAGED_BY, ORIGINAL_BOUNDS } from '../schedule/names.ts';
import type { ObjectChange } from './evaluation.ts';
import type { Autoscaler, Workload } from './workload.ts';

/** Whose annotations count: those of the owner, and those of a schedule that does not exist. */
export interface AutoscalerContext {
  readonly schedule: string;
  readonly others: readonly { readonly name: string }[];
  readonly gitopsManagers: readonly string[];
  readonly now: EpochMs;
}

/** The replicas at which autoscalers hold a sleeping workload, and since when. */
export interface Held {
  readonly level: number;
  /** Null when unknown. */
  readonly since: EpochMs | null;
}

interface Bounds {
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

/** Null for what no autoscaler can have: somebody has changed the mark, and the API server would refuse it. */
function boundsOf(text: string | undefined): Bounds | null {
  const [, min, max] = /^(\d{1,10})-(\d{1,10})$/.exec(text ?? '') ?? [];
  const bounds = { minReplicas: Number(min), maxReplicas: Number(max) };
  const isPossible = bounds.maxReplicas >= Math.max(1, bounds.minReplicas) && bounds.maxReplicas <= MAX_REPLICAS;
  return isPossible ? bounds : null;
}

type Scaling = Extract<Autoscaler, { readonly kind: 'HorizontalPodAutoscaler' }>;

/** The bounds that keep a workload at the given number of replicas. */
function boundsAt({ minReplicas, maxReplicas }: Bounds, level: number): Bounds {
  return level === 0
    ? { minReplicas: Math.max(minReplicas, 1), maxReplicas }
    : { minReplicas: Math.min(minReplicas, level), maxReplicas: Math.min(maxReplicas, level) };
}

function isSame(a: Bounds, b: Bounds): boolean {
  return a.minReplicas === b.minReplicas && a.maxReplicas === b.maxReplicas;
}

/** Whether it has annotations that the schedule may remove. */
function isAnnotated({ annotations }: Autoscaler, { schedule, others }: AutoscalerContext): boolean {
  const owner = annotations[MANAGED_BY];
  return owner !== undefined && (owner === schedule || !others.some(({ name }) => name === owner));
}

function isHeld(autoscaler: Autoscaler): boolean {
  const key = autoscaler.kind === 'ScaledObject' ? KEDA_PAUSED_REPLICAS : ORIGINAL_BOUNDS;
  return autoscaler.annotations[key] !== undefined;
}

function change(autoscaler: Autoscaler, savedState: MetadataPatch, spec?: Partial<Bounds>): ObjectChange[] {
  if (isEmptyPatch(savedState) && spec === undefined) return [];
  const { kind, name, uid, resourceVersion } = autoscaler;
  const patch = { metadata: savedState, ...(spec === undefined ? {} : { spec }) };
  return [{ kind, name, uid, resourceVersion, patch }];
}

/** The autoscalers that the schedule may hold: not a HorizontalPodAutoscaler of KEDA, nor one that people paused. */
function ownOf({ autoscalers }: Pick<Workload, 'autoscalers'>, context: AutoscalerContext): readonly Autoscaler[] {
  const hasKeda = autoscalers.some(({ kind }) => kind === 'ScaledObject');
  return autoscalers.filter((autoscaler) => {
    if (isAnnotated(autoscaler, context)) return true;
    const isAnothers = autoscaler.annotations[MANAGED_BY] !== undefined;
    return autoscaler.kind === 'ScaledObject' ? !isAnothers && !isHeld(autoscaler) : !isAnothers && !hasKeda;
  });
}

/** Whether one of them was resumed for a person, or changed by one, in the period that began at `since`. */
export function isResumed(workload: Pick<Workload, 'autoscalers'>, held: Held, context: AutoscalerContext): boolean {
  return workload.autoscalers.some((autoscaler) => {
    if (!isAnnotated(autoscaler, context)) return false;
    return isHeld(autoscaler) ? personOf(autoscaler, held, context) !== null : isOfNow(autoscaler, held);
  });
}

/** The person who changed a held autoscaler; null when nobody did. */
export function changedByPerson(
  { autoscalers }: Pick<Workload, 'autoscalers'>,
  held: Held,
  context: AutoscalerContext,
): string | null {
  return (
    autoscalers.map((autoscaler) => personOf(autoscaler, held, context)).find((manager) => manager !== null) ?? null
  );
}

/** Whether it was annotated in the current period. */
function isOfNow({ annotations }: Autoscaler, { since }: Held): boolean {
  const marked = readMoment(annotations[DOWN_SINCE] ?? '');
  return since === null || marked === null || marked >= wholeSecond(since);
}

function personOf(autoscaler: Autoscaler, held: Held, context: AutoscalerContext): string | null {
  const marked = readMoment(autoscaler.annotations[DOWN_SINCE] ?? '');
  if (!isHeld(autoscaler) || !isAnnotated(autoscaler, context) || marked === null || !isOfNow(autoscaler, held))
    return null;
  const changes = changedFields(autoscaler, held.level).map((field) => autoscaler.setBy?.[field]);
  // A change before it was held does not count: a bound that was already right is not written.
  const person = changes.find(
    (by) => by !== undefined && by.at > marked && managerClass(by.manager, context.gitopsManagers) === 'person',
  );
  return person?.manager ?? null;
}

/** The fields of a held autoscaler that differ from what this number of replicas requires. */
function changedFields(autoscaler: Autoscaler, level: number): readonly ('minReplicas' | 'maxReplicas' | 'paused')[] {
  if (autoscaler.kind === 'ScaledObject')
    return autoscaler.annotations[KEDA_PAUSED_REPLICAS] === `${level}` ? [] : ['paused'];
  const original = boundsOf(autoscaler.annotations[ORIGINAL_BOUNDS]);
  if (original === null) return [];
  const wanted = boundsAt(original, level);
  return (['minReplicas', 'maxReplicas'] as const).filter((field) => autoscaler[field] !== wanted[field]);
}

/** The writes that hold a workload's autoscalers at a number of replicas; none if they are held already. */
export function holdAutoscalers(
  workload: Pick<Workload, 'autoscalers'>,
  level: number,
  context: AutoscalerContext,
): readonly ObjectChange[] {
  return ownOf(workload, context).flatMap((autoscaler) => {
    const isOurs = isHeld(autoscaler) && autoscaler.annotations[MANAGED_BY] === context.schedule;
    const savedState = isOurs ? {} : holdMetadata(context);
    if (autoscaler.kind === 'ScaledObject') {
      const paused = `${level}`;
      if (isOurs && autoscaler.annotations[KEDA_PAUSED_REPLICAS] === paused) return [];
      return change(autoscaler, withAnnotation(savedState, KEDA_PAUSED_REPLICAS, paused));
    }
    const original = ownBounds(autoscaler) ?? autoscaler;
    const wanted = boundsAt(original, level);
    if (isSame(wanted, autoscaler)) return isOurs || !isHeld(autoscaler) ? [] : change(autoscaler, savedState);
    // The mark takes over a minimum that is overwritten; of any other it says what it was before the night.
    const minimum = wanted.minReplicas === autoscaler.minReplicas ? markedMinimum(autoscaler) : original.minReplicas;
    const bounds = `${minimum}-${original.maxReplicas}`;
    return change(autoscaler, withAnnotation(savedState, ORIGINAL_BOUNDS, bounds), wanted);
  });
}

/**
 * Whether Headroom itself lets an autoscaler have this number of replicas: that the autoscaler wrote it is not against the
 * schedule, which may keep fewer by now.
 */
export function isHeldAt({ autoscalers }: Pick<Workload, 'autoscalers'>, replicas: number): boolean {
  return autoscalers.some((autoscaler) => {
    const isOurs = (field: 'maxReplicas' | 'paused'): boolean =>
      managerClass(autoscaler.setBy?.[field]?.manager ?? null, []) === 'ours';
    if (!isHeld(autoscaler)) return false;
    return autoscaler.kind === 'ScaledObject'
      ? isOurs('paused') && autoscaler.annotations[KEDA_PAUSED_REPLICAS] === `${replicas}`
      : isOurs('maxReplicas') && replicas <= autoscaler.maxReplicas;
  });
}

/** Whether somebody restored the bounds of a held autoscaler, as GitOps does when Git contains them. */
export function areReset(workload: Pick<Workload, 'autoscalers'>, level: number, context: AutoscalerContext): boolean {
  return ownOf(workload, context).some((autoscaler) => {
    if (autoscaler.kind === 'ScaledObject') return false;
    const original = boundsOf(autoscaler.annotations[ORIGINAL_BOUNDS]);
    return original !== null && isSame(original, autoscaler) && !isSame(boundsAt(original, level), autoscaler);
  });
}

function holdMetadata({ schedule, now }: AutoscalerContext): MetadataPatch {
  const { annotations, labels } = ownerMetadata(schedule);
  return { annotations: { ...annotations, [DOWN_SINCE]: formatInstant(now) }, labels };
}

function withAnnotation(savedState: MetadataPatch, key: string, value: string): MetadataPatch {
  return { ...savedState, annotations: { [key]: value, ...savedState.annotations } };
}

/**
 * The bounds that a held autoscaler has without the schedule: those of its mark, but for a minimum that somebody else set
 * since, and a greater maximum. Null where it is not held.
 */
function ownBounds(autoscaler: Scaling): Bounds | null {
  const original = boundsOf(autoscaler.annotations[ORIGINAL_BOUNDS]);
  if (original === null) return null;
  // What Headroom wrote is Headroom's alone until somebody else writes it.
  const setter = autoscaler.setBy?.minReplicas?.manager;
  const isOthers = setter !== undefined && managerClass(setter, []) !== 'ours';
  return {
    minReplicas: isOthers ? autoscaler.minReplicas : original.minReplicas,
    maxReplicas: Math.max(original.maxReplicas, autoscaler.maxReplicas),
  };
}

function markedMinimum({ annotations, minReplicas }: Scaling): number {
  return boundsOf(annotations[ORIGINAL_BOUNDS])?.minReplicas ?? minReplicas;
}

/** The bounds of an autoscaler without the schedule, if its present ones differ. */
function boundsBefore(autoscaler: Autoscaler): Bounds | undefined {
  if (autoscaler.kind === 'ScaledObject') return undefined;
  const bounds = ownBounds(autoscaler);
  return bounds === null || isSame(bounds, autoscaler) ? undefined : bounds;
}

/**
 * How many replicas a workload at 0 needs for its released autoscalers to work; null where they do. One that could scale
 * from zero leaves it to metrics to wake it; where somebody has given it a minimum since, Kubernetes takes 0 replicas for
 * autoscaling that is turned off.
 */
export function replicasToScaleFrom(
  workload: Pick<Workload, 'autoscalers'>,
  context: AutoscalerContext,
  isOwner: boolean,
): number | null {
  const minimums = releasable(workload, context, isOwner).flatMap((autoscaler) => {
    if (autoscaler.kind === 'ScaledObject') return [];
    const minimum = ownBounds(autoscaler)?.minReplicas ?? 0;
    return markedMinimum(autoscaler) === 0 && minimum > 0 ? [minimum] : [];
  });
  return minimums.length === 0 ? null : Math.max(...minimums);
}

/** The writes that let autoscalers work again after a person scaled up a workload that the schedule still owns. */
export function resumeAutoscalers(
  workload: Pick<Workload, 'autoscalers'>,
  held: Held,
  context: AutoscalerContext,
): readonly ObjectChange[] {
  return ownOf(workload, context).flatMap((autoscaler) => {
    if (isResumed({ autoscalers: [autoscaler] }, held, context)) return [];
    const key = autoscaler.kind === 'ScaledObject' ? KEDA_PAUSED_REPLICAS : ORIGINAL_BOUNDS;
    const { annotations, labels } = holdMetadata(context);
    const cleared = isHeld(autoscaler) ? { [key]: null } : {};
    return change(
      autoscaler,
      { annotations: { ...annotations, ...cleared }, ...(labels && { labels }) },
      boundsBefore(autoscaler),
    );
  });
}

/** The writes that remove all annotations of the schedule from the autoscalers and restore their earlier state. */
export function releaseAutoscalers(
  workload: Pick<Workload, 'autoscalers'>,
  context: AutoscalerContext,
  isOwner: boolean,
): readonly ObjectChange[] {
  return releasable(workload, context, isOwner).flatMap((autoscaler) => {
    const key = autoscaler.kind === 'ScaledObject' ? KEDA_PAUSED_REPLICAS : ORIGINAL_BOUNDS;
    const hasLabel = autoscaler.labels[MANAGED_BY] === labelValue(autoscaler.annotations[MANAGED_BY] ?? '');
    const labelled = hasLabel ? autoscaler : { ...autoscaler, labels: {} };
    return change(autoscaler, without(labelled, [key, MANAGED_BY, DOWN_SINCE]), boundsBefore(autoscaler));
  });
}

function releasable(
  { autoscalers }: Pick<Workload, 'autoscalers'>,
  context: AutoscalerContext,
  isOwner: boolean,
): readonly Autoscaler[] {
  return autoscalers.filter((autoscaler) =>
    isOwner ? isAnnotated(autoscaler, context) : autoscaler.annotations[MANAGED_BY] === context.schedule,
  );
}

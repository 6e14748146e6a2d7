/**
 * Decides what happens to one workload now. People's changes take precedence over the schedule. What the schedule
 * changed is restored exactly once: the annotations on a workload say whether there is anything to restore.
 */
import { truncate } from '../../kernel/sentence.ts';
import { parseDuration } from '../../kernel/duration.ts';
import { type EpochMs, formatInstant } from '../../kernel/time.ts';
import {
  areReset,
  changedByPerson,
  type Held,
  holdAutoscalers,
  isResumed,
  releaseAutoscalers,
  resumeAutoscalers,
} from './autoscalers.ts';
import { change, keep } from './step.ts';
import { excludeAdvice } from './advice.ts';
import { type Desired, desiredOf, wholeSecond } from './desired.ts';
import { type ManagerClass, managerClass } from './manager.ts';
import {
  scaledDownMetadata,
  isEmptyPatch,
  isScaledDown,
  labelValue,
  type MetadataPatch,
  type SavedState,
  savedStateOf,
  originalReplicas,
  ownerMetadata,
  SUSPENDED_BY_US,
  withoutSavedState,
} from './saved-state.ts';
import { annotatedOwner, ownerOf } from './ownership.ts';
import type { ChangeReason, Evaluation, EvaluationContext } from './evaluation.ts';
import { isInScope } from '../schedule/scope.ts';
import { type ScopedNamespace, type Workload, workloadName } from './workload.ts';

const NAME_LENGTH = 60;
/**
 * The field managers of the HorizontalPodAutoscaler: normally a part of kube-controller-manager, sometimes run
 * separately.
 */
const SCALERS: ReadonlySet<string> = new Set(['kube-controller-manager', 'horizontal-pod-autoscaler']);

/**
 * What to do to a workload, or why it is left alone. `namespace` is the workload's namespace; null when it is not
 * listed, for example because it is gone: then a sleeping workload is only restored.
 */
export function evaluate(
  workload: Workload,
  namespace: ScopedNamespace | null,
  context: EvaluationContext,
): Evaluation {
  // An object that is deleted with its namespace never runs again.
  if (workload.isDeleting || namespace?.isDeleting === true) return keep('Deleting');
  const isOurs = annotatedOwner(workload, context) === context.schedule;
  if (context.isRestoringAll) return restored(workload, context, 'ScheduleDeleted', isOurs, false);
  if (context.spec.suspend) return keep('AsDesired');
  if (namespace === null || !isInScope(workload, namespace, context.spec, context.protectedNamespaces)) {
    return restored(workload, context, 'LeftScope', isOurs, false);
  }
  const owner = ownerOf(workload, namespace, context);
  if (owner !== context.schedule) {
    const why =
      annotatedOwner(workload, context) === owner ? 'put it to sleep and wakes it' : 'is older and selects it too';
    const left = keep('OwnedByOther', `it belongs to the schedule ${owner}, which ${why}`);
    return restored(workload, context, 'Released', false, false, left);
  }
  const desired = desiredOf(workload, namespace, context);
  if (desired.state === 'Up') return restored(workload, context, 'Up', true, true);
  // A workload whose write failed is still up because of that, and not because somebody scaled it up.
  const isCompleted = desired.isCompleted && !isFailing(workload, context);
  return scaleDown({ workload, context, desired: { ...desired, isCompleted }, savedState: savedStateOf(workload) });
}

function isFailing(workload: Workload, { failing }: EvaluationContext): boolean {
  return failing.includes(workloadName(workload));
}

/**
 * Restores a workload that should be up as far as this schedule is concerned. `isOurs`: its annotations may be removed.
 * `isOwner`: on its autoscalers, annotations of a schedule that does not exist may be removed too.
 */
function restored(
  workload: Workload,
  context: EvaluationContext,
  reason: ChangeReason,
  isOurs: boolean,
  isOwner: boolean,
  otherwise: Evaluation = keep('AsDesired'),
): Evaluation {
  const savedState = isOurs ? withoutSavedState(workload) : {};
  const autoscalers = releaseAutoscalers(workload, context, isOwner);
  if (isEmptyPatch(savedState)) {
    return autoscalers.length === 0 ? otherwise : change(workload, context, { direction: 'Up', reason, autoscalers });
  }
  const woken = wakes(workload);
  const isUp = woken === null;
  return change(workload, context, {
    direction: 'Up',
    reason: isUp && reason === 'Up' ? 'Released' : reason,
    savedState,
    autoscalers,
    ...(isUp ? {} : { spec: woken, ...(woken.replicas === undefined ? {} : { to: woken.replicas }) }),
  });
}

/** The spec that wakes an annotated workload; null when it stays unchanged. Waking never reduces replicas. */
function wakes(workload: Workload): { readonly replicas?: number; readonly suspend?: boolean } | null {
  const savedState = savedStateOf(workload);
  if (!isScaledDown(savedState, workload.kind)) return null;
  if (workload.replicas === null) {
    return workload.isSuspended && !isSuspendedAgain(workload, savedState) ? { suspend: false } : null;
  }
  const replicas = Math.max(originalReplicas(savedState), workload.replicas);
  return replicas === workload.replicas ? null : { replicas };
}

/** Whether somebody suspended a CronJob after the schedule had done so: it then stays suspended. */
function isSuspendedAgain({ changed }: Workload, { since }: SavedState): boolean {
  if (changed === null || changed.at === null || since === null) return false;
  return managerClass(changed.manager, []) !== 'ours' && changed.at > since;
}

/** A workload that the schedule owns and that should be asleep. */
interface Situation {
  readonly workload: Workload;
  readonly context: EvaluationContext;
  readonly desired: Desired;
  readonly savedState: SavedState;
}

function scaleDown(situation: Situation): Evaluation {
  const { workload, savedState } = situation;
  const isAnnotated = isScaledDown(savedState, workload.kind);
  if (workload.replicas === null) {
    if (workload.isSuspended) return isAnnotated ? atLevel(situation, 0) : keep('SuspendedByUser');
    return isAnnotated ? scaledUpAgain(situation) : scaledUp(situation);
  }
  if (!isAnnotated)
    return workload.replicas <= situation.context.spec.downscaleReplicas ? atRest(situation) : scaledUp(situation);
  const level = levelOf(situation);
  const wasOurs = classOfChange(situation) === 'ours';
  if (workload.replicas > level) return wasOurs ? downAs(situation, 'DownTo') : scaledUpAgain(situation);
  return workload.replicas < level && wasOurs ? downAs(situation, 'DownTo') : atLevel(situation, level);
}

/** How many replicas a workload keeps while asleep. */
function levelOf({ workload, context, savedState }: Situation): number {
  const original = savedState.original === null ? (workload.replicas ?? 0) : originalReplicas(savedState);
  return Math.min(original, context.spec.downscaleReplicas);
}

/** At which number of replicas its autoscalers hold it, and since when. */
function heldOf(situation: Situation): Held {
  return { level: levelOf(situation), since: situation.desired.since };
}

function classOfChange({ workload, context }: Situation): ManagerClass {
  return managerClass(workload.changed?.manager ?? null, context.gitopsManagers);
}

/**
 * Whether the HorizontalPodAutoscaler changed the replicas after somebody else had scaled up from zero: it ignores a
 * workload without replicas. The managed fields do not show any more who that was.
 */
function isAnswered(situation: Situation): boolean {
  const { autoscalers, changed } = situation.workload;
  if (!SCALERS.has(changed?.manager ?? '') || levelOf(situation) > 0) return false;
  const isPlain = autoscalers.every(({ kind }) => kind === 'HorizontalPodAutoscaler');
  return isPlain && autoscalers.some((each) => each.kind === 'HorizontalPodAutoscaler' && each.minReplicas > 0);
}

/** Not annotated, with no more replicas than the schedule keeps: only its autoscalers must not scale it up. */
function atRest(situation: Situation): Evaluation {
  const { workload, context, desired } = situation;
  const left = keep('AtRest');
  const level = workload.replicas ?? 0;
  const isLeft = isResumed(workload, { level, since: desired.since }, context);
  if (isPersons(situation) || graceUntil(situation) !== null || isLeft) return left;
  const autoscalers = holdAutoscalers(workload, level, context);
  return autoscalers.length === 0
    ? left
    : change(workload, context, { direction: 'Down', reason: 'Down', autoscalers });
}

/** Annotated and at its sleeping level: completes the annotations and holds the autoscalers. */
function atLevel(situation: Situation, level: number): Evaluation {
  const { workload, context, desired } = situation;
  const savedState = missingOwnerMetadata(situation);
  const held = { level, since: desired.since };
  const isLeft = isResumed(workload, held, context);
  const autoscalers = isLeft ? [] : holdAutoscalers(workload, level, context);
  if (isEmptyPatch(savedState) && autoscalers.length === 0) {
    const person = changedByPerson(workload, held, context);
    if (person === null) return keep('AsDesired');
    const what = 'changed its autoscaler, while it was to sleep. That is left until the schedule wakes it';
    return keep('ChangedByPerson', `${truncate(person, NAME_LENGTH)} ${what}`);
  }
  if (!isLeft && areReset(workload, level, context)) {
    const contested = contestedBy(situation, 'somebody', 'restored the bounds of its autoscaler');
    return contested ?? change(workload, context, { direction: 'Down', reason: 'DownAgain', savedState, autoscalers });
  }
  return change(workload, context, { direction: 'Down', reason: 'Down', savedState, autoscalers });
}

/**
 * The owner annotations that are missing or name another schedule; without them the workload would not be found again.
 */
function missingOwnerMetadata({ context: { schedule }, savedState }: Situation): MetadataPatch {
  return savedState.managedBy === schedule && savedState.label === labelValue(schedule) ? {} : ownerMetadata(schedule);
}

/** Annotated, but up: somebody scaled it up while it should be asleep. */
function scaledUpAgain(situation: Situation): Evaluation {
  const { workload, context, desired } = situation;
  const { changed } = workload;
  const by = isAnswered(situation) ? 'person' : classOfChange(situation);
  if (by === 'person') {
    // A change from an earlier night whose morning was missed: the replicas set then are those to restore.
    const at = changed?.at ?? changed?.latest ?? null;
    const isOld = at !== null && desired.since !== null && at < wholeSecond(desired.since);
    // If something keeps it up, a later status does not tell when it was scaled.
    const isKeptUp = changed?.at == null && isFailing(workload, context);
    return isOld || isKeptUp ? downAnew(situation, 'Down') : kept(situation, true);
  }
  if (by === 'machine' && isResumed(workload, heldOf(situation), context)) return kept(situation, true);
  if (by === 'ours') return downAs(situation, 'DownTo');
  return contestedBy(situation, changed?.manager ?? 'somebody', 'scaled it up') ?? downAs(situation, 'DownAgain');
}

/** Not annotated, and up. */
function scaledUp(situation: Situation): Evaluation {
  const { workload, context, desired } = situation;
  const { changed } = workload;
  if (isPersons(situation)) return kept(situation, !isCreatedByPerson(situation));
  const grace = graceUntil(situation);
  if (grace !== null) {
    return keep('Grace', `it is new, and is put to sleep at ${formatInstant(grace)}`, grace);
  }
  const by = classOfChange(situation);
  const isNew = isCreatedSince(situation);
  const isChanged = changed !== null && changed.at !== null && desired.since !== null && changed.at > desired.since;
  if (by === 'machine' && isChanged && isResumed(workload, heldOf(situation), context)) return kept(situation, true);
  if (!desired.isCompleted || isNew || !isChanged || (by !== 'gitops' && by !== 'machine'))
    return downAnew(situation, 'Down');
  return contestedBy(situation, changed.manager, 'scaled it up') ?? downAnew(situation, 'DownAgain');
}

/**
 * Whether it was created while it should already be asleep. Creation times are whole seconds, so the second of the
 * transition counts as before.
 */
function isCreatedSince({ workload, desired }: Situation): boolean {
  return desired.since !== null && workload.createdAt > desired.since;
}

function isCreatedByPerson(situation: Situation): boolean {
  const { workload, context } = situation;
  if (!isCreatedSince(situation)) return false;
  return managerClass(workload.createdBy, context.gitopsManagers) === 'person';
}

/** Whether a person set the present replicas of a workload without annotations while it should already be asleep. */
function isPersons(situation: Situation): boolean {
  const { workload, desired } = situation;
  const { changed } = workload;
  if (isCreatedByPerson(situation)) return true;
  if (desired.since === null || changed === null || classOfChange(situation) !== 'person') return false;
  if (changed.at !== null) return changed.at > desired.since && (desired.isCompleted || changed.isOnlyIt);
  // The change has no time. If everything was asleep once in this period, the change came later, unless the workload
  // entered the scope in this state.
  return desired.isCompleted && (changed.latest === undefined || changed.latest > desired.since);
}

/** Until when a new workload is left alone; null when the grace period does not apply. */
function graceUntil(situation: Situation): EpochMs | null {
  const { workload, context } = situation;
  const until = workload.createdAt + parseDuration(context.spec.newWorkloadGrace);
  return isCreatedSince(situation) && until > context.now ? until : null;
}

/** A workload that a person scaled up is left alone, with its autoscalers, until the schedule wakes it. */
function kept(situation: Situation, isChange: boolean): Evaluation {
  const { workload, context } = situation;
  const autoscalers = isChange ? resumeAutoscalers(workload, heldOf(situation), context) : [];
  if (autoscalers.length > 0) return change(workload, context, { direction: 'Up', reason: 'Released', autoscalers });
  const by = isChange ? workload.changed : null;
  const who = (isChange ? by?.manager : workload.createdBy) ?? 'somebody unknown';
  const whoElse = isChange && isAnswered(situation) ? 'somebody scaled it up, then ' : '';
  const at = isChange ? (by?.at ?? null) : workload.createdAt;
  const what = !isChange
    ? 'created it'
    : workload.replicas === null
      ? 'resumed it'
      : `gave it ${replicasOf(workload.replicas)}`;
  const when = at === null ? '' : ` at ${formatInstant(at)}`;
  return keep(
    'ChangedByPerson',
    `${whoElse}${truncate(who, NAME_LENGTH)} ${what}${when}, while it was to sleep. It is left until the schedule wakes it`,
  );
}

function replicasOf(count: number): string {
  return count === 1 ? '1 replica' : `${count} replicas`;
}

/** The evaluation of a contested workload before it may be put to sleep again; null for any other. */
function contestedBy({ workload, context }: Situation, manager: string, what: string): Evaluation | null {
  const name = workloadName(workload);
  const until = Object.hasOwn(context.contested, name) ? context.contested[name] : undefined;
  if (until === undefined || until <= context.now) return null;
  const detail = `${truncate(manager, NAME_LENGTH)} ${what} again. It is put to sleep at ${formatInstant(until)}. ${excludeAdvice(manager)}`;
  return keep('Contested', detail, until);
}

/** Puts it to sleep again with its present annotations. */
function downAs(situation: Situation, reason: ChangeReason): Evaluation {
  return down(situation, reason, levelOf(situation), missingOwnerMetadata(situation));
}

/** Puts it to sleep with new annotations: its present state is the one to restore. */
function downAnew(situation: Situation, reason: ChangeReason): Evaluation {
  const { workload, context, savedState } = situation;
  const { schedule, now } = context;
  if (workload.replicas === null)
    return down(situation, reason, 0, scaledDownMetadata(workload.kind, SUSPENDED_BY_US, schedule, now));
  const before = savedState.original === null ? 0 : originalReplicas(savedState);
  const original = Math.max(before, workload.replicas);
  const level = Math.min(original, context.spec.downscaleReplicas);
  return down(situation, reason, level, scaledDownMetadata(workload.kind, `${original}`, schedule, now));
}

function down(situation: Situation, reason: ChangeReason, level: number, savedState: MetadataPatch): Evaluation {
  const { workload, context } = situation;
  const manager = reason === 'DownAgain' ? workload.changed?.manager : undefined;
  return change(workload, context, {
    direction: 'Down',
    reason,
    savedState,
    ...(workload.replicas === null ? { spec: { suspend: true } } : { to: level, spec: { replicas: level } }),
    autoscalers: holdAutoscalers(workload, level, context),
    ...(manager === undefined ? {} : { manager }),
  });
}

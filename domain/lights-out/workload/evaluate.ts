/**
 * Decides what happens to one workload now. People's changes take precedence over the schedule. What the schedule
 * changed is restored exactly once: the annotations on a workload say whether there is anything to restore.
 */
import { parseDuration } from '../../kernel/duration.ts';
import type { EpochMs } from '../../kernel/time.ts';
import {
  areReset,
  changedByPerson,
  type Held,
  holdAutoscalers,
  isHeldAt,
  isResumed,
  releaseAutoscalers,
  replicasToScaleFrom,
  resumeAutoscalers,
} from './autoscalers.ts';
import { change, keep } from './step.ts';
import { fitting, withoutRoom } from './annotation-room.ts';
import {
  contestedSentence,
  fullSentence,
  graceSentence,
  personsAutoscalerSentence,
  personsSentence,
} from './sentences.ts';
import { type Desired, wholeSecond } from './desired.ts';
import { isOursSinceMark, laggingOwner, ownerMarkText } from './scaled-owner.ts';
import { type Act, type FoundAtNight, judge } from './act-table.ts';
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
import { type Wanted, wantedOf } from './wanted.ts';
import type { ChangeReason, Evaluation, EvaluationContext } from './evaluation.ts';
import { replicasAt } from '../schedule/level.ts';
import { SCALED_OWNER } from '../schedule/names.ts';
import { type ScopedNamespace, type Workload, workloadName } from './workload.ts';

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
  return evaluateWanted(workload, wantedOf(workload, namespace, context), context);
}

/** The same where it is known what is wanted of it. */
export function evaluateWanted(workload: Workload, wanted: Wanted, context: EvaluationContext): Evaluation {
  const night: Desired = wanted.state === 'Down' ? wanted.night : AWAKE;
  // A workload whose write failed is still up because of that, and not because somebody scaled it up.
  const isCompleted = night.isCompleted && !isFailing(workload, context);
  const savedState = savedStateOf(workload);
  const situation: Situation = { workload, context, wanted, savedState, desired: { ...night, isCompleted } };
  if (wanted.state !== 'Down') return ACTS[judge({ wanted: wanted.state })](situation);
  const act = judge(foundOf(situation));
  const evaluation = ACTS[act](situation);
  const full = withoutRoom(workload, evaluation);
  if (full === null) return evaluation;
  const otherwise = keep('AnnotationsFull', fullSentence(full.kind === workload.kind ? null : full));
  // The replicas are the person's. Only the mark of the autoscaler is left out.
  if (act === 'leaveToPerson') return fitting(workload, evaluation) ?? otherwise;
  // With whatever was put to sleep before it was full: a part of the marks is as good as none.
  return restored({ ...situation, wanted: { state: 'Up', reason: 'Up', isOurs: true, isOwner: true, otherwise } });
}

const AWAKE: Desired = { state: 'Up', since: null, isCompleted: false, level: {} };

const ACTS: Readonly<Record<Act, (situation: Situation) => Evaluation>> = {
  leave: left,
  wake: restored,
  leaveToPerson: kept,
  wait: waiting,
  holdAutoscalers: atRest,
  complete: atLevel,
  putToLevel: (situation) => downAs(situation, 'DownTo'),
  putToLevelAgain: (situation) => contestedUp(situation) ?? downAs(situation, 'DownAgain'),
  putToSleep: (situation) => downAnew(situation, 'Down'),
  putToSleepAgain: (situation) => contestedUp(situation) ?? downAnew(situation, 'DownAgain'),
};

/** The row of the table. */
function foundOf(situation: Situation): FoundAtNight {
  const { workload, savedState } = situation;
  const isMarked = isScaledDown(savedState, workload.kind);
  const difference = valueOf(workload) - keptOf(situation);
  const level = difference > 0 ? 'above' : difference < 0 && isMarked ? 'below' : 'at';
  if (!isMarked) return { wanted: 'Down', mark: 'unmarked', level, ...changedBy(situation) };
  if (isOursSinceMark(workload)) return { wanted: 'Down', mark: 'marked', level, ...HELD };
  // An autoscaler that Headroom itself lets have this number.
  const isHeld = level === 'above' && isHeldAt(workload, valueOf(workload));
  return { wanted: 'Down', mark: 'marked', level, ...(isHeld ? HELD : wokenBy(situation)) };
}

const HELD = { who: 'ours', when: 'since' } as const;

/** Replicas; of a CronJob 1 while it runs and 0 while it is suspended. */
function valueOf({ replicas, isSuspended }: Workload): number {
  return replicas ?? (isSuspended ? 0 : 1);
}

/** Who changed the replicas of a marked workload, and whether that was in an earlier night whose morning was missed. */
function wokenBy(situation: Situation): Pick<FoundAtNight, 'who' | 'when'> {
  const { workload, context, desired } = situation;
  const { changed } = workload;
  const who = isAnswered(situation) ? 'person' : classOfChange(situation);
  if (who === 'machine' && isResumed(workload, heldOf(situation), context)) return { who: 'person', when: 'since' };
  // The replicas that a person set in an earlier night are those to restore.
  const at = changed?.at ?? changed?.latest ?? null;
  const isOld = at !== null && desired.since !== null && at < wholeSecond(desired.since);
  // If something keeps it up, a later status does not tell when it was scaled.
  const isKeptUp = changed?.at == null && isFailing(workload, context);
  return { who, when: isOld || isKeptUp ? 'before' : 'since' };
}

/** Who made or changed an unmarked workload, and whether that was surely in this night. */
function changedBy(situation: Situation): Pick<FoundAtNight, 'who' | 'when'> {
  const { workload, context, desired } = situation;
  const { changed } = workload;
  if (isPersons(situation)) return { who: 'person', when: 'since' };
  const who = classOfChange(situation);
  if (graceUntil(situation) !== null) return { who, when: 'new' };
  const isChanged = changed !== null && changed.at !== null && desired.since !== null && changed.at > desired.since;
  if (who === 'machine' && isChanged && isResumed(workload, heldOf(situation), context)) {
    return { who: 'person', when: 'since' };
  }
  const isAgain = who !== 'person' && isChanged && desired.isCompleted && !isCreatedSince(situation);
  return { who, when: isAgain ? 'since' : 'before' };
}

function isFailing(workload: Workload, { failing }: EvaluationContext): boolean {
  return failing.includes(workloadName(workload));
}

/** Nothing is written. */
function left({ wanted, workload: { replicas } }: Situation): Evaluation {
  return wanted.state === 'Down' ? keep(replicas === null ? 'SuspendedByUser' : 'AtRest') : wanted.otherwise;
}

/** Restores a workload that should be up as far as this schedule is concerned. */
function restored({ workload, context, wanted }: Situation): Evaluation {
  if (wanted.state !== 'Up') return keep('AsDesired');
  const { reason, isOurs, isOwner, otherwise } = wanted;
  const savedState = isOurs ? withoutSavedState(workload) : {};
  const autoscalers = releaseAutoscalers(workload, context, isOwner);
  const woken = (isOurs ? wakes(workload) : null) ?? raised(workload, context, isOwner);
  const isUp = woken === null;
  if (isEmptyPatch(savedState) && isUp) {
    return autoscalers.length === 0 ? otherwise : change(workload, context, { direction: 'Up', reason, autoscalers });
  }
  return change(workload, context, {
    direction: 'Up',
    reason: isUp && reason === 'Up' ? 'Released' : reason,
    savedState,
    autoscalers,
    ...woken,
  });
}

/** The spec that wakes a workload, and the replicas that it then has. */
type Woken = Pick<Parameters<typeof change>[2], 'spec' | 'to'>;

/** How an annotated workload is woken; null when it stays unchanged. Waking never reduces replicas. */
function wakes(workload: Workload): Woken | null {
  const savedState = savedStateOf(workload);
  if (!isScaledDown(savedState, workload.kind)) return null;
  if (workload.replicas === null) {
    return workload.isSuspended && !isSuspendedAgain(workload, savedState) ? { spec: { suspend: false } } : null;
  }
  const to = Math.max(originalReplicas(savedState), workload.replicas);
  // On a Rollout Headroom alone writes an empty mark. A number that somebody else has written since is theirs.
  const wasUnwritten = workload.kind === 'Rollout' && savedState.original === '' && to === 1;
  if (wasUnwritten && managerClass(workload.changed?.manager ?? null, []) === 'ours')
    return { spec: { replicas: null }, to };
  return to === workload.replicas ? null : { spec: { replicas: to }, to };
}

/** What lets the autoscalers of a workload without replicas work; null where nothing keeps them from it. */
function raised(workload: Workload, context: EvaluationContext, isOwner: boolean): Woken | null {
  // The target of an autoscaler that does not exist has no UID.
  if (workload.replicas !== 0 || workload.uid === '') return null;
  const replicas = replicasToScaleFrom(workload, context, isOwner);
  return replicas === null ? null : { spec: { replicas }, to: replicas };
}

/** Whether somebody suspended a CronJob after the schedule had done so: it then stays suspended. */
function isSuspendedAgain({ changed }: Workload, { since }: SavedState): boolean {
  if (changed === null || changed.at === null || since === null) return false;
  return managerClass(changed.manager, []) !== 'ours' && changed.at > since;
}

interface Situation {
  readonly workload: Workload;
  readonly context: EvaluationContext;
  readonly wanted: Wanted;
  /** Since when it is to be asleep, for a workload that is. */
  readonly desired: Desired;
  readonly savedState: SavedState;
}

/** How many replicas a workload keeps while asleep. */
function levelOf({ workload, desired, savedState }: Situation): number {
  const original = savedState.original === null ? (workload.replicas ?? 0) : originalReplicas(savedState);
  return replicasAt(desired.level, original);
}

/** The same of any workload; a CronJob keeps nothing. */
function keptOf(situation: Situation): number {
  return situation.workload.replicas === null ? 0 : levelOf(situation);
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
  const level = workload.replicas ?? 0;
  const isLeft = isResumed(workload, { level, since: desired.since }, context);
  const autoscalers = isLeft ? [] : holdAutoscalers(workload, level, context);
  return autoscalers.length === 0
    ? left(situation)
    : change(workload, context, { direction: 'Down', reason: 'Down', autoscalers });
}

/** Annotated and at its sleeping level: completes the annotations and holds the autoscalers. */
function atLevel(situation: Situation): Evaluation {
  const { workload, context, desired } = situation;
  const level = keptOf(situation);
  const savedState = missingOwnerMetadata(situation);
  const held = { level, since: desired.since };
  const isLeft = isResumed(workload, held, context);
  const autoscalers = isLeft ? [] : holdAutoscalers(workload, level, context);
  if (isEmptyPatch(savedState) && autoscalers.length === 0) {
    const person = changedByPerson(workload, held, context);
    const lag = laggingOwner(workload);
    if (person === null) return lag === null ? keep('AsDesired') : keep('OwnerLags', lag);
    return keep('ChangedByPerson', personsAutoscalerSentence(person));
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

/** Not put to sleep again yet, where that was done so often that it rests; null where it does not. */
function contestedUp(situation: Situation): Evaluation | null {
  return contestedBy(situation, situation.workload.changed?.manager ?? 'somebody', 'scaled it up');
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
  if (desired.since === null || classOfChange(situation) !== 'person') return false;
  // The number of an owner may have no author, and no time.
  if (changed === null) return workload.owner !== undefined && desired.isCompleted;
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

function waiting(situation: Situation): Evaluation {
  const grace = graceUntil(situation) ?? situation.context.now;
  return keep('Grace', graceSentence(grace), grace);
}

/** A workload that a person scaled up is left alone, with its autoscalers, until the schedule wakes it. */
function kept(situation: Situation): Evaluation {
  const { workload, context, savedState } = situation;
  const isChange = isScaledDown(savedState, workload.kind) || !isCreatedByPerson(situation);
  const autoscalers = isChange ? resumeAutoscalers(workload, heldOf(situation), context) : [];
  if (autoscalers.length > 0) return change(workload, context, { direction: 'Up', reason: 'Released', autoscalers });
  const deed = isChange
    ? { who: workload.changed?.manager ?? null, at: workload.changed?.at ?? null, isAnswered: isAnswered(situation) }
    : { who: workload.createdBy, at: workload.createdAt, isAnswered: false };
  const { replicas } = workload;
  return keep('ChangedByPerson', personsSentence({ ...deed, isCreation: !isChange, replicas }));
}

/** The evaluation of a contested workload before it may be put to sleep again; null for any other. */
function contestedBy({ workload, context }: Situation, manager: string, what: string): Evaluation | null {
  const name = workloadName(workload);
  const until = Object.hasOwn(context.contested, name) ? context.contested[name] : undefined;
  if (until === undefined || until <= context.now) return null;
  return keep('Contested', contestedSentence(manager, what, until), until);
}

/** Puts it to sleep again with its present annotations. */
function downAs(situation: Situation, reason: ChangeReason): Evaluation {
  const missing = missingOwnerMetadata(situation);
  const { owner } = situation.workload;
  const savedState =
    owner === undefined
      ? missing
      : { ...missing, annotations: { ...missing.annotations, [SCALED_OWNER]: ownerMarkText(owner) } };
  return down(situation, reason, levelOf(situation), savedState);
}

/** Puts it to sleep with new annotations: its present state is the one to restore. */
function downAnew(situation: Situation, reason: ChangeReason): Evaluation {
  const { workload, context, desired, savedState } = situation;
  const { schedule, now } = context;
  if (workload.replicas === null)
    return down(situation, reason, 0, scaledDownMetadata(workload.kind, SUSPENDED_BY_US, schedule, now));
  const before = savedState.original === null ? 0 : originalReplicas(savedState);
  const original = Math.max(before, workload.replicas);
  const level = replicasAt(desired.level, original);
  const mark = workload.isUnwritten === true && savedState.original === null ? '' : `${original}`;
  const owner = workload.owner === undefined ? undefined : ownerMarkText(workload.owner);
  return down(situation, reason, level, scaledDownMetadata(workload.kind, mark, schedule, now, owner));
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

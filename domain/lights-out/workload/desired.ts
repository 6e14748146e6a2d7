/** Whether a workload should be up or down: annotations and overrides take precedence over the crons. */
import type { EpochMs } from '../../kernel/time.ts';
import { type AnnotatedOverrides, overridesOf } from './annotations.ts';
import { wasExcludedUntil } from './excluded.ts';
import type { ScheduleState } from '../schedule/names.ts';
import type { Level } from '../schedule/level.ts';
import type { Override } from '../schedule/override.ts';
import type { EvaluationContext } from './evaluation.ts';
import { type OwnWishes, wishesOf } from './own-wishes.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

export interface Desired {
  readonly state: ScheduleState;
  /**
   * When this state began for the workload; null when unknown, because an annotation causes it and nothing says when it
   * was written. What people did since then is respected.
   */
  readonly since: EpochMs | null;
  /** Whether everything was asleep at some moment since then, and since the present level began. */
  readonly isCompleted: boolean;
  /** What is kept while down. */
  readonly level: Level;
}

/** The moment truncated to seconds, as Kubernetes writes moments. */
export function wholeSecond(at: EpochMs): EpochMs {
  return Math.floor(at / 1000) * 1000;
}

/**
 * The overrides of one level: the workload, its namespace, or the schedule. Only the most specific level with overrides
 * counts.
 */
interface Overriding {
  readonly isAwake: boolean;
  /** The beginnings of its sleep overrides; null when unknown. */
  readonly asleepSince: readonly (EpochMs | null)[];
  /** Whether one of them comes from an annotation, whose time the API server stores in seconds only. */
  readonly isRounded: boolean;
  /** The ends of earlier wake overrides and exclusions. */
  readonly wokeUntil: readonly EpochMs[];
}

/** The annotations of an object, and when its sleep annotation was written. */
interface Annotated {
  readonly annotations: Readonly<Record<string, string>>;
  readonly sleepingSince?: EpochMs;
}

function overridingOf(object: Annotated | null, overrides: readonly Override[], now: EpochMs): Overriding {
  const annotated: AnnotatedOverrides | null = object === null ? null : overridesOf(object.annotations, now);
  const isAsleep = annotated !== null && annotated.sleepUntil !== null;
  // The clocks may differ: an override that is already written has begun.
  const asleepSince = object?.sleepingSince === undefined ? null : Math.min(object.sleepingSince, now);
  const held = overrides.filter(({ until }) => until > now);
  const excluded = object === null ? null : wasExcludedUntil(object, now);
  const over = overrides.filter(({ kind, until }) => kind === 'wake' && until <= now).map(({ until }) => until);
  return {
    isAwake: (annotated !== null && annotated.wakeUntil !== null) || held.some(({ kind }) => kind === 'wake'),
    asleepSince: [
      ...(isAsleep ? [asleepSince] : []),
      ...held.filter(({ kind }) => kind === 'sleep').map(({ since }) => since),
    ],
    isRounded: isAsleep || held.some(({ kind, by }) => kind === 'sleep' && by === 'annotation'),
    wokeUntil: [...over, annotated?.wokeUntil ?? null, excluded].filter((at) => at !== null),
  };
}

/** The latest of several moments; null when one of them is unknown. */
function latest(moments: readonly (EpochMs | null)[]): EpochMs | null {
  return moments.includes(null) ? null : Math.max(...moments.map(Number));
}

type DesiredContext = Pick<
  EvaluationContext,
  'overrides' | 'period' | 'completedAt' | 'now' | 'spec' | 'createdAt' | 'actsFrom' | 'ownTimes'
>;

/**
 * The desired state of a workload: by its own annotations, then those of its namespace and overrides for it, then
 * overrides for the whole schedule, then crons and exceptions. On one level, awake takes precedence over asleep.
 */
export function desiredOf(
  workload: Pick<Workload, 'annotations' | 'sleepingSince' | 'timesSince'>,
  namespace: ScopedNamespace,
  context: DesiredContext,
): Desired {
  const { overrides, completedAt, now, spec } = context;
  const wishes = wishesOf(workload, namespace, context);
  const own: Level = wishes.level ?? { replicas: spec.downscaleReplicas };
  const levels = [
    overridingOf(workload, [], now),
    overridingOf(
      namespace,
      overrides.filter(({ namespace: only }) => only === namespace.name),
      now,
    ),
    overridingOf(
      null,
      overrides.filter(({ namespace: only }) => only === null),
      now,
    ),
  ];
  const isCompleted = (since: EpochMs | null, isRounded: boolean): boolean =>
    completedAt !== null && since !== null && completedAt >= since + (isRounded ? 1000 : 0);
  // Something that was awake until a moment went to sleep again then, later than the schedule's own period began.
  const woke: EpochMs[] = [];
  for (const { isAwake, asleepSince, isRounded, wokeUntil } of levels) {
    woke.push(...wokeUntil);
    if (isAwake) return { state: 'Up', since: null, isCompleted: false, level: own };
    if (asleepSince.length > 0) {
      const begun = latest(asleepSince);
      const since = begun === null ? null : Math.max(begun, ...woke);
      return { state: 'Down', since, isCompleted: isCompleted(since, isRounded), level: own };
    }
  }
  const period = periodOf(wishes, context);
  const since = period.since === null ? null : Math.max(period.since, ...woke);
  const { since: levelSince, ...level } = period.level ?? { ...own, since: null };
  const began = levelSince === null || since === null ? since : Math.max(since, levelSince);
  return {
    state: period.state,
    since,
    isCompleted: isCompleted(began, false),
    // A window keeps what it keeps of everybody.
    level: level.ofWindow === true ? level : (wishes.level ?? level),
  };
}

/** The schedule's, or that of the workload's own times. */
function periodOf(
  { period: own, since: writtenAt }: OwnWishes,
  { period, createdAt, actsFrom = createdAt }: Pick<EvaluationContext, 'period' | 'createdAt' | 'actsFrom'>,
): EvaluationContext['period'] {
  if (own === null) return period;
  const { state, since, level } = own;
  const isBefore = writtenAt !== undefined && (since === null || writtenAt > since);
  // Until its times were written, the schedule's held.
  const held = period.state === state ? period.since : (writtenAt ?? null);
  const from = isBefore ? held : since;
  return {
    state,
    since: from === null ? null : Math.max(from, createdAt, actsFrom),
    ...(level === undefined ? {} : { level }),
  };
}

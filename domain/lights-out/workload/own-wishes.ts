/** What people want of one workload, or of those of a namespace, in place of what its schedule says: times, and a count at night. */
import { truncate } from '../../kernel/sentence.ts';
import type { EpochMs } from '../../kernel/time.ts';
import type { Level } from '../schedule/level.ts';
import { OWN_REPLICAS, OWN_TIMES } from '../schedule/names.ts';
import type { OwnPeriod } from '../schedule/own-times.ts';
import type { EvaluationContext } from './evaluation.ts';
import type { Exclusion } from './excluded.ts';
import { hasReplicas } from './kinds.ts';
import type { ScopedNamespace, Workload } from './workload.ts';

type Wishing = Pick<Workload | ScopedNamespace, 'annotations' | 'timesSince'>;
type WishingWorkload = Wishing & Partial<Pick<Workload, 'kind'>>;
type WishingNamespace = Wishing & Pick<ScopedNamespace, 'name'>;
type Context = Pick<EvaluationContext, 'spec' | 'ownTimes' | 'now'>;

/** The greatest count that a schedule can have. */
const MOST_REPLICAS = 10_000;
const SHOWN_LENGTH = 60;
const COUNT_FORM = `expected a number of replicas up to ${MOST_REPLICAS}, such as 2, or a share, such as 50%`;

/** The count of an annotation; null where it cannot be read. */
function readLevel(text: string): Level | null {
  const [, digits = '', percent] = /^(\d{1,5})(%)?$/.exec(text.trim()) ?? [];
  const value = digits === '' ? Number.NaN : Number(digits);
  if (percent === '%') return value <= 100 ? { percent: value } : null;
  return value <= MOST_REPLICAS ? { replicas: value } : null;
}

/** The period of an object's annotation, or what is wrong with that; undefined where it has none that counts. */
function timesOf(
  { annotations }: Wishing,
  { name: namespace }: WishingNamespace,
  { spec, ownTimes, now }: Context,
): OwnPeriod | string | undefined {
  const text = annotations[OWN_TIMES];
  return text === undefined || spec.ownTimes === 'ignore' ? undefined : ownTimes?.(text, { now, namespace });
}

/** What is wrong with an object's times, in a sentence; null when nothing is. */
function timesProblem(object: Wishing, namespace: WishingNamespace, context: Context): string | null {
  const period = timesOf(object, namespace, context);
  return typeof period === 'string' ? `the annotation ${OWN_TIMES} is wrong: ${period}` : null;
}

/** What is wrong with an object's count, in a sentence; null when nothing is. */
function countProblem({ annotations }: Wishing, kind?: Workload['kind']): string | null {
  const { [OWN_REPLICAS]: count } = annotations;
  if (count === undefined) return null;
  const is = `the annotation ${OWN_REPLICAS} is ${JSON.stringify(truncate(count, SHOWN_LENGTH))}`;
  if (kind !== undefined && !hasReplicas(kind)) return `${is}, but a ${kind} has no replicas: take it away`;
  return readLevel(count) === null ? `${is}: ${COUNT_FORM}` : null;
}

function isScaled({ kind }: WishingWorkload): boolean {
  return kind === undefined || hasReplicas(kind);
}

/** Why a workload is left alone because of annotations that cannot be followed; null where they can. */
export function wrongWishes(
  workload: WishingWorkload,
  namespace: WishingNamespace,
  context: Context,
): Exclusion | null {
  const own = timesProblem(workload, namespace, context) ?? countProblem(workload, workload.kind);
  if (own !== null) return { isBad: true, detail: `${own}. It is left alone until then` };
  const has = (key: string): boolean => workload.annotations[key] !== undefined;
  // What is of no account for a workload does it no harm.
  const its =
    (has(OWN_TIMES) ? null : timesProblem(namespace, namespace, context)) ??
    (has(OWN_REPLICAS) || !isScaled(workload) ? null : countProblem(namespace));
  return its === null ? null : { isBad: false, detail: 'it is left alone: an annotation of its namespace is wrong' };
}

/** Sentences about the annotations of a namespace: what is wrong, and what the schedule does not allow. */
export function namespaceWishes(namespace: WishingNamespace, context: Context): readonly string[] {
  const problems = [timesProblem(namespace, namespace, context), countProblem(namespace)];
  return [
    ...problems.flatMap((problem) =>
      problem === null ? [] : [`${problem}. Workloads without one of their own are left alone until then`],
    ),
    ...ignored(namespace, context),
  ];
}

/** A sentence where the schedule goes by no times of others. */
export function ignored({ annotations }: Wishing, { spec }: Pick<Context, 'spec'>): readonly string[] {
  const times = annotations[OWN_TIMES];
  if (times === undefined || spec.ownTimes !== 'ignore') return [];
  const shown = JSON.stringify(truncate(times, SHOWN_LENGTH));
  return [`the annotation ${OWN_TIMES} is ${shown}, and is ignored: spec.ownTimes of the schedule allows none`];
}

export interface OwnWishes {
  /** Null: the schedule's. */
  readonly period: OwnPeriod | null;
  /** When whoever wrote the times did so; absent: unknown. */
  readonly since?: EpochMs;
  /** Null: what the schedule keeps. */
  readonly level: Level | null;
}

/** Those of the workload go before those of its namespace; what cannot be followed counts as absent. */
export function wishesOf(workload: WishingWorkload, namespace: WishingNamespace, context: Context): OwnWishes {
  const holder = [workload, namespace].find(({ annotations }) => annotations[OWN_TIMES] !== undefined);
  const period = holder === undefined ? undefined : timesOf(holder, namespace, context);
  const count = workload.annotations[OWN_REPLICAS] ?? namespace.annotations[OWN_REPLICAS];
  const isFollowed = period !== undefined && typeof period !== 'string';
  return {
    period: isFollowed ? period : null,
    ...(isFollowed && holder?.timesSince !== undefined ? { since: holder.timesSince } : {}),
    level: count === undefined ? null : readLevel(count),
  };
}

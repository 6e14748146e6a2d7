import { z } from 'zod';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { overridesOf } from '../../domain/lights-out/workload/annotations.ts';
import { annotationWrittenAt } from '../../domain/lights-out/workload/field-owner.ts';
import { FINALIZER, SLEEP_UNTIL, TAKES_OVER, WAKE_UNTIL } from '../../domain/lights-out/schedule/names.ts';
import type { SeenSchedule } from '../../domain/lights-out/decide/observation.ts';
import { NAMED_NAMESPACES } from '../../domain/lights-out/decide/status.ts';
import type { Override } from '../../domain/lights-out/schedule/override.ts';
import { type Calendars, calendarDays, NO_CALENDARS, timingWith } from '../../domain/lights-out/schedule/calendar.ts';
import { type OwnTimesReader, ownTimesReader } from '../../domain/lights-out/schedule/own-times.ts';
import { type Period, periodAt } from '../../domain/lights-out/schedule/period.ts';
import type { OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import { type ScheduleSpec, scheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';

/** Replaces a spec that is invalid or gone: it selects nothing. */
export const NO_SPEC: ScheduleSpec = scheduleSpec.parse({ upscale: '0 0 * * *', downscale: '0 0 * * *' });

/** One schedule as read, with values computed for one moment. */
export interface ScheduleNow {
  readonly seen: SeenSchedule;
  /** The period by crons and exceptions; null when the schedule is invalid. */
  readonly period: Period | null;
  /** Reads annotations with times of their own; null when the schedule is invalid. */
  readonly ownTimes: OwnTimesReader | null;
  /** Invalid annotations, which are ignored; the schedule itself stays valid. */
  readonly annotationProblems: readonly string[];
  /** The namespaces in scope at the last observation, as its status has them; null when it has none, or only some. */
  readonly namespaces: readonly string[] | null;
  /** Overrides of its annotations wake-until and sleep-until that are over. */
  readonly pastOverrides: readonly Override[];
}

/** The metadata of an API object that a schedule needs. */
const objectMetadata = z.object({
  metadata: z.object({
    name: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: z.int().default(0),
    creationTimestamp: z.string(),
    deletionTimestamp: z.string().optional(),
    finalizers: z.array(z.string()).default([]),
    annotations: z.record(z.string(), z.string()).default({}),
    managedFields: z.unknown().optional(),
  }),
});
type Metadata = z.output<typeof objectMetadata>['metadata'];

/** Metadata of a schedule as the API server returns it. @throws ZodError for an object that is not from the API. */
export function scheduleMetadata(object: unknown): Metadata {
  return objectMetadata.parse(object).metadata;
}

/** @param calendars those of the cluster. */
export function scheduleNow(
  object: unknown,
  now: EpochMs,
  calendars: Calendars,
  { spec, problems, status: written } = readSchedule(object),
): ScheduleNow {
  const metadata = scheduleMetadata(object);
  // The observation is stored in the history, and the plan contains the present namespaces.
  const { namespaces = null, ...status } = written;
  const shared = spec === null ? null : calendarDays(spec, calendars);
  const timing = spec === null ? null : timingWith(spec, shared);
  const period = timing === null ? null : periodAt(timing, now);
  const { overrides, problems: annotationProblems } = annotated(metadata, period, now);
  return {
    seen: {
      uid: metadata.uid,
      generation: metadata.generation,
      resourceVersion: metadata.resourceVersion,
      createdAt: Date.parse(metadata.creationTimestamp),
      isDeleting: metadata.deletionTimestamp !== undefined,
      hasFinalizer: metadata.finalizers.includes(FINALIZER),
      spec,
      problems,
      overrides: overrides.filter(({ until }) => until > now),
      status,
      ...(shared === null ? {} : { calendars: { digest: shared.digest, problems: shared.problems } }),
    },
    period,
    ownTimes: spec === null || timing === null ? null : ownTimesReader(timing, spec.ownTimes),
    annotationProblems,
    namespaces: namespaces !== null && namespaces.length < NAMED_NAMESPACES ? namespaces : null,
    pastOverrides: overrides.filter(({ until }) => until <= now),
  };
}

/** The schedule with its calendars, which are only read where it names some; null when it is gone. */
export async function scheduleWith(
  object: unknown,
  now: EpochMs,
  calendars: () => Promise<Calendars>,
): Promise<ScheduleNow | null> {
  if (object === null) return null;
  const read = readSchedule(object);
  const isNamingAny = (read.spec?.calendars ?? []).length > 0;
  return scheduleNow(object, now, isNamingAny ? await calendars() : NO_CALENDARS, read);
}

/**
 * Another schedule, as a possible owner of workloads. It keeps the workloads that it annotated even while it is
 * invalid.
 */
export function otherSchedule(object: unknown): OtherSchedule {
  const { name, creationTimestamp, deletionTimestamp, annotations } = scheduleMetadata(object);
  const { spec, status } = readSchedule(object);
  const isAllowed = spec !== null && (!spec.requireApproval || status.approved !== undefined);
  return {
    name,
    createdAt: Date.parse(creationTimestamp),
    spec: spec ?? NO_SPEC,
    isIdle: !isAllowed || spec.suspend || spec.dryRun || deletionTimestamp !== undefined,
    ...(annotations[TAKES_OVER] === undefined ? {} : { takesOver: annotations[TAKES_OVER] }),
  };
}

/** The overrides of the annotations wake-until and sleep-until, including past ones. */
function annotated(
  metadata: Metadata,
  period: Period | null,
  now: EpochMs,
): { readonly overrides: readonly Override[]; readonly problems: readonly string[] } {
  // The time 0 makes none of them count as past.
  const { wakeUntil, sleepUntil, problems } = overridesOf(metadata.annotations, 0);
  const override = (kind: Override['kind'], key: string, until: EpochMs | null): readonly Override[] => {
    if (until === null) return [];
    // The clocks may differ: an override that is already written has begun.
    const since = Math.min(annotationWrittenAt(metadata.managedFields, key) ?? period?.since ?? now, now);
    return [{ kind, namespace: null, since, until, by: 'annotation', reason: '' }];
  };
  return {
    overrides: [...override('wake', WAKE_UNTIL, wakeUntil), ...override('sleep', SLEEP_UNTIL, sleepUntil)],
    problems,
  };
}

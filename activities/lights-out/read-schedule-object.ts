import { z } from 'zod';
import type { EpochMs } from '../../domain/kernel/time.ts';
import { overridesOf } from '../../domain/lights-out/workload/annotations.ts';
import { annotationWrittenAt } from '../../domain/lights-out/workload/field-owner.ts';
import { FINALIZER, SLEEP_UNTIL, WAKE_UNTIL } from '../../domain/lights-out/schedule/names.ts';
import type { SeenSchedule } from '../../domain/lights-out/decide/observation.ts';
import type { Override } from '../../domain/lights-out/schedule/override.ts';
import { type Period, periodAt } from '../../domain/lights-out/schedule/period.ts';
import type { OtherSchedule } from '../../domain/lights-out/workload/evaluation.ts';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import { type ScheduleSpec, scheduleSpec } from '../../domain/lights-out/schedule/schedule.ts';

/** In the place of a spec that cannot be read, or is gone: it selects nothing. */
export const NO_SPEC: ScheduleSpec = scheduleSpec.parse({ upscale: '0 0 * * *', downscale: '0 0 * * *' });

/** One schedule as it was read, with what follows from it at a moment. */
export interface ScheduleNow {
  readonly seen: SeenSchedule;
  /** What its crons and exceptions say; null where it is invalid. */
  readonly period: Period | null;
  /** What is wrong with its annotations: that they do not hold, not that the schedule is invalid. */
  readonly annotationProblems: readonly string[];
  /** Of its annotations wake-until and sleep-until, those that are over. */
  readonly pastOverrides: readonly Override[];
}

/** What every object of the API has, as far as a schedule needs it. */
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

/** Metadata of a schedule as the API server answers it. @throws ZodError for what is no object of the API. */
export function scheduleMetadata(object: unknown): Metadata {
  return objectMetadata.parse(object).metadata;
}

export function scheduleNow(object: unknown, now: EpochMs): ScheduleNow {
  const metadata = scheduleMetadata(object);
  const { spec, problems, status: written } = readSchedule(object);
  // An observation stays in the history, and the plan names the namespaces as they are now.
  const { namespaces: _named, ...status } = written;
  const period = spec === null ? null : periodAt(spec, now);
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
    },
    period,
    annotationProblems,
    pastOverrides: overrides.filter(({ until }) => until <= now),
  };
}

/** Another schedule, as far as it can own a workload. What it annotated is its own also while it is invalid. */
export function otherSchedule(object: unknown): OtherSchedule {
  const { name, creationTimestamp, deletionTimestamp } = scheduleMetadata(object);
  const { spec, status } = readSchedule(object);
  const isAllowed = spec !== null && (!spec.requireApproval || status.approved !== undefined);
  return {
    name,
    createdAt: Date.parse(creationTimestamp),
    spec: spec ?? NO_SPEC,
    isIdle: !isAllowed || spec.suspend || spec.dryRun || deletionTimestamp !== undefined,
  };
}

/** The annotations wake-until and sleep-until, also those that are over. */
function annotated(
  metadata: Metadata,
  period: Period | null,
  now: EpochMs,
): { readonly overrides: readonly Override[]; readonly problems: readonly string[] } {
  // At the beginning of time none was over yet.
  const { wakeUntil, sleepUntil, problems } = overridesOf(metadata.annotations, 0);
  const one = (kind: Override['kind'], key: string, until: EpochMs | null): readonly Override[] => {
    if (until === null) return [];
    // Clocks differ: what is written already has begun.
    const since = Math.min(annotationWrittenAt(metadata.managedFields, key) ?? period?.since ?? now, now);
    return [{ kind, namespace: null, since, until, by: 'annotation', reason: '' }];
  };
  return { overrides: [...one('wake', WAKE_UNTIL, wakeUntil), ...one('sleep', SLEEP_UNTIL, sleepUntil)], problems };
}

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { isRecord } from '../../domain/kernel/record.ts';
import { visibleText } from '../../domain/kernel/sentence.ts';
import { type EpochMs, formatInstant } from '../../domain/kernel/time.ts';
import type { Condition } from '../../domain/kernel/condition.ts';
import { scheduleStatus } from '../../domain/lights-out/schedule/schedule.ts';
import type { Kubernetes } from '../kubernetes/kubernetes.ts';
import type { ScheduleStatusWrite } from './interface.ts';
import { writeSchedule } from './write-schedule.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The status on the API server, which may contain fields of an earlier release or another tool. */
const writtenStatus = z.object({ status: z.record(z.string(), z.unknown()).default({}) });

/** Writes the status of the schedule if it differs; a schedule that is gone or has another UID is left alone. */
export async function ensureScheduleStatus(
  kubernetes: Kubernetes,
  write: ScheduleStatusWrite,
  now: () => EpochMs,
): Promise<void> {
  await writeSchedule(kubernetes, write, 'status', (object) => {
    const status = statusPatch(writtenStatus.parse(object).status, write, now());
    return status === null ? null : { status };
  });
}

/** The merge patch for the status; null when nothing changes. Unknown fields and conditions of other types are kept. */
function statusPatch(
  present: Fields,
  { status, ready, observedGeneration }: Pick<ScheduleStatusWrite, 'status' | 'ready' | 'observedGeneration'>,
  now: EpochMs,
): Fields | null {
  const conditions = conditionsWith(present['conditions'], { type: 'Ready', ...ready, observedGeneration }, now);
  const wanted: Fields = { ...status, observedGeneration, conditions };
  const existing = Object.keys(scheduleStatus.shape).filter((key) => present[key] !== undefined);
  const before = Object.fromEntries(existing.map((key) => [key, present[key]]));
  return mergePatch(before, wanted);
}

/** The conditions with this one replaced; its lastTransitionTime is kept while its status is the same. */
function conditionsWith(
  present: unknown,
  condition: Omit<Condition, 'lastTransitionTime'>,
  now: EpochMs,
): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(present) ? present : [];
  const same = (item: unknown): item is Fields => isRecord(item) && item['type'] === condition.type;
  const before = list.find(same);
  const since = before?.['status'] === condition.status ? before['lastTransitionTime'] : undefined;
  const lastTransitionTime = typeof since === 'string' ? since : formatInstant(now);
  const next = { ...condition, message: visibleText(condition.message), lastTransitionTime };
  return before === undefined ? [...list, next] : list.map((item) => (item === before ? next : item));
}

/** The merge patch (RFC 7386) from one to the other; null when they are equal. */
function mergePatch(before: Fields, after: Fields): Fields | null {
  const patch: Record<string, unknown> = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [from, to] = [before[key], after[key]];
    if (to === undefined) {
      if (from !== undefined) patch[key] = null;
    } else if (isRecord(from) && isRecord(to)) {
      const inner = mergePatch(from, to);
      if (inner !== null) patch[key] = inner;
    } else if (!isDeepStrictEqual(from, to)) patch[key] = to;
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

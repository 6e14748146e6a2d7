/** A schedule with the namespace and the workloads that it is about, as they are drawn. */
import * as fc from 'fast-check';
import { readSchedule } from '../../domain/lights-out/schedule/read-schedule.ts';
import { anyNamespace } from './any-metadata.ts';
import { anySchedule } from './any-schedule.ts';
import { anyWorkload } from './any-workload.ts';

export const anyNights = fc.record({
  schedule: anySchedule,
  namespace: anyNamespace,
  workloads: fc.array(anyWorkload, { minLength: 2, maxLength: 5 }),
});

/** Whether the webhook takes the schedule. */
export function isReadable({ schedule: { name, spec } }: typeof anyNights extends fc.Arbitrary<infer T> ? T : never) {
  return readSchedule({ metadata: { name }, spec }).spec !== null;
}

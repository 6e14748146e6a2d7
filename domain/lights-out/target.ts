/** A LightsOutSchedule of a named cluster. */
export interface ScheduleTarget {
  readonly cluster: string;
  readonly schedule: string;
}

/** Workflow id of a LightsOutSchedule, for as long as it exists. */
export function lightsOutId(target: ScheduleTarget): string {
  return `lights-out/${target.cluster}/${target.schedule}`;
}

/** A LightsOutSchedule of a named cluster. */
export interface ScheduleTarget {
  readonly cluster: string;
  readonly schedule: string;
}

/** The workflow id of a LightsOutSchedule, for as long as the object exists. */
export function lightsOutId(target: ScheduleTarget): string {
  return `lights-out/${target.cluster}/${target.schedule}`;
}

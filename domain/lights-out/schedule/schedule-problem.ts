/** A problem of a schedule: its place, and what would be right. */
export interface ScheduleProblem {
  /** `spec.upscale`, `spec.exceptions[2].to`. */
  readonly field: string;
  readonly message: string;
}

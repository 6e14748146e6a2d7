/** Work on a clock: a Schedule of a cluster, which starts a workflow with `{ cluster }`. */
export interface ClusterSchedule {
  readonly cluster: string;
  /** The id of the Schedule, and of the workflows that it starts up to the moment that Temporal appends. */
  readonly id: string;
  readonly workflowType: string;
  /** Milliseconds. */
  readonly everyMs: number;
}

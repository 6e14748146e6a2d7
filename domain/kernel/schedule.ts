/** Periodic work: a Temporal Schedule of a cluster, which starts a workflow with `{ cluster }`. */
export interface ClusterSchedule {
  readonly cluster: string;
  /** The id of the Schedule, and the prefix of its workflows' ids, to which Temporal appends the time. */
  readonly id: string;
  readonly workflowType: string;
  /** Milliseconds. */
  readonly everyMs: number;
}

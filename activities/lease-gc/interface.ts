/** What one round of Lease garbage collection did, each by Lease name. */
export interface LeaseGcResult {
  readonly kept: number;
  /** The target namespace or quota is gone. */
  readonly deleted: readonly string[];
  /** Held by a decision of Headroom whose workflow no longer runs. */
  readonly unlocked: readonly string[];
}

export interface LeaseGcActivities {
  /**
   * Deletes the Leases of namespaces that are gone, and unlocks those whose holder is a Headroom decision that no running
   * workflow has. Safe to call twice.
   */
  ensureOldLeasesCollected(input: { cluster: string }): Promise<LeaseGcResult>;
}

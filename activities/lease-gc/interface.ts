/** The result of one garbage collection of Leases, by Lease name. */
export interface LeaseGcResult {
  readonly kept: number;
  /** Leases whose namespace or quota is gone. */
  readonly deleted: readonly string[];
  /** Leases held by a decision of Headroom whose workflow no longer runs. */
  readonly unlocked: readonly string[];
}

export interface LeaseGcActivities {
  /**
   * Deletes the Leases of namespaces that are gone, and unlocks those that a Headroom decision without a running
   * workflow holds. Idempotent.
   */
  ensureOldLeasesCollected(input: { cluster: string }): Promise<LeaseGcResult>;
}

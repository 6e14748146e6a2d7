/** Id of the Schedule (and of the workflows it starts) that collects old Leases of a cluster. */
export function leaseGcId(cluster: string): string {
  return `lease-gc/${cluster}`;
}

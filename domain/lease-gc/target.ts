/** The id of the Schedule (and the prefix of its workflows' ids) that collects a cluster's old Leases. */
export function leaseGcId(cluster: string): string {
  return `lease-gc/${cluster}`;
}

/** `status.desiredNodes` of a group, after Headroom itself changed its size. */

/** After machines were created: it is never below what is there. */
export function raisedDesired(desired: number | null, staying: number): number {
  return Math.max(desired ?? 0, staying);
}

/**
 * Just before a machine is deleted for good: one less, but not below what stays, the minimum, or what a person has lowered it to.
 * Asked again for the same machine it says the same, wherever nobody wanted more nodes than there are.
 *
 * @param staying machines that are there or come, without those that leave.
 */
export function loweredDesired(desired: number | null, staying: number, minNodes: number): number {
  return desired === null ? Math.max(minNodes, staying) : Math.min(desired, Math.max(minNodes, staying, desired - 1));
}

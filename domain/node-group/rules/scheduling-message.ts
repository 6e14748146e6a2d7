/** Events of kube-scheduler as the VPSie autoscaler reads them. Headroom decides by the pods themselves. */

export type Constraint =
  | 'pods'
  | 'cpu'
  | 'memory'
  | 'taint'
  | 'anti_affinity'
  | 'affinity'
  | 'node_selector'
  | 'unknown';

/** The first that matches counts. Every message of kube-scheduler has the words of the last one. */
const CONSTRAINTS: readonly (readonly [Constraint, RegExp])[] = [
  ['pods', /too many pods|maximum number of pods/i],
  ['cpu', /insufficient.*cpu/i],
  ['memory', /insufficient.*memory/i],
  ['taint', /untolerated taint|had taint|taints that the pod didn't tolerate/i],
  ['anti_affinity', /anti-affinity/i],
  ['affinity', /pod affinity/i],
  ['node_selector', /node selector|didn't match pod requirements|no nodes available|nodes are available/i],
];

/** What a message of the event FailedScheduling is about. */
export function constraintOf(message: string): Constraint {
  return CONSTRAINTS.find(([, words]) => words.test(message))?.[0] ?? 'unknown';
}

/** Events that are younger than the window. */
export function recentEvents<E extends { readonly ageMs: number }>(
  events: readonly E[],
  windowMs: number,
): readonly E[] {
  return events.filter(({ ageMs }) => ageMs < windowMs);
}

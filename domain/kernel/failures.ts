/**
 * Every failure an activity may throw, by who must move next. Workflows see them as `ApplicationFailure.type`.
 *
 * - waiting: nothing is wrong, the world is not there yet; retried after the time that the thrower names.
 * - transient: an error of the network or of a server; retried by the activity's retry policy.
 * - stalled: a person must act; not retried, the workflow shows it and holds.
 */
export const failureTypes = {
  NotYet: 'waiting',
  /** The ConfigMap `headroom-pause` exists. */
  GloballyPaused: 'stalled',
  /** The target, its namespace or the controller is paused. */
  Paused: 'stalled',
  /** The policy forbids now what it allowed when it was decided; the workflow looks afresh at once. */
  PolicyChanged: 'stalled',
  ForgeRateLimited: 'waiting',
  WriteBudgetSpent: 'waiting',
  ForgeUnauthorized: 'waiting',
  ForgeUnavailable: 'transient',
  ForgeRejected: 'stalled',
  KubernetesUnavailable: 'transient',
  KubernetesForbidden: 'waiting',
  InvalidInput: 'stalled',
} as const satisfies Record<string, 'waiting' | 'transient' | 'stalled'>;

export type FailureType = keyof typeof failureTypes;

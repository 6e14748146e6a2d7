/**
 * The failures of activities, by who has to act. Workflows see them as `ApplicationFailure.type`.
 *
 * - waiting: not an error, something is not there yet; retried after the time in the failure.
 * - transient: an error of the network or of a server; retried by the activity's retry policy.
 * - stalled: a person has to act; not retried, the workflow reports it and waits.
 */
export const failureTypes = {
  NotYet: 'waiting',
  /** The ConfigMap `headroom-pause` exists. */
  GloballyPaused: 'stalled',
  /** The target, its namespace or the controller is paused. */
  Paused: 'stalled',
  /** The policy no longer allows what was decided; the workflow observes again at once. */
  PolicyChanged: 'stalled',
  ForgeRateLimited: 'waiting',
  WriteBudgetSpent: 'waiting',
  ForgeUnauthorized: 'waiting',
  ForgeUnavailable: 'transient',
  ForgeRejected: 'stalled',
  KubernetesUnavailable: 'transient',
  KubernetesForbidden: 'waiting',
  /** Who makes the machines of a cluster cannot be reached, or does not accept the credentials. */
  ProviderUnavailable: 'transient',
  InvalidInput: 'stalled',
} as const satisfies Record<string, 'waiting' | 'transient' | 'stalled'>;

export type FailureType = keyof typeof failureTypes;

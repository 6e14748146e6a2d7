/**
 * Temporal's priority keys of what Headroom starts; of two tasks that wait, the one with the smaller key goes first. A workflow
 * execution keeps its key, and an activity may have another one.
 */
export const priorities = {
  /** A person started it and waits for it. */
  person: 1,
  /** A quota that admission cannot judge yet. */
  urgent: 2,
  /** Everything else, such as an episode. */
  routine: 3,
  /** What a resync found, which nobody has noticed so far. */
  resync: 4,
} as const;

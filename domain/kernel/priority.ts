/**
 * Temporal's priority keys for workflows and activities; a smaller key is served first. A workflow execution keeps its
 * key; an activity may have another one.
 */
export const priorities = {
  /** A person started it and waits for it. */
  person: 1,
  /** A quota whose usage admission does not know yet. */
  urgent: 2,
  /** Everything else, such as an episode. */
  routine: 3,
  /** Found by a resync, so nobody has noticed it yet. */
  resync: 4,
} as const;

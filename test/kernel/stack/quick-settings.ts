/**
 * Settings that make an episode take seconds: what production waits for out of politeness or to see more, a test has no
 * reason to wait for. Nothing here changes what is decided.
 */
export const quickSettings = {
  HEADROOM_DEMAND_SETTLE: '500ms',
  HEADROOM_CHECKS_POLL_MIN: '200ms',
  HEADROOM_SYNC_POLL: '200ms',
} as const;

/** A Headroom that opens pull requests and merges them by itself, quickly. */
export const quickAutoMerge = { ...quickSettings, HEADROOM_MODE: 'propose', ENABLE_AUTO_MERGE: 'true' } as const;

/**
 * Settings that make an episode take seconds: what production waits for out of politeness or to see more, a test has no
 * reason to wait for. Nothing here changes what is decided.
 */
export const quickSettings = {
  'timings.demandSettle': '500ms',
  'timings.checksPollMin': '200ms',
  'timings.syncPoll': '200ms',
} as const;

/** A Headroom that opens pull requests and merges them by itself, quickly. */
export const quickAutoMerge = { ...quickSettings, HEADROOM_MODE: 'propose', ENABLE_AUTO_MERGE: 'true' } as const;

/** What the worker of the tests and the tests agree on. */
export const DRAIN_CLUSTER = 'drains';
/** Where the ConfigMaps of the pauses are. */
export const SYSTEM_NAMESPACE = 'headroom-drains';

/** What the worker of the tests and the tests agree on. */
export const DRAIN_CLUSTER = 'drains';
/** Where the ConfigMaps of the pauses are. */
export const SYSTEM_NAMESPACE = 'headroom-drains';
/** A machine that is never deleted: as the provider of these tests has it, it has become another node. */
export const KEPT_MACHINE = 'of-another-node';

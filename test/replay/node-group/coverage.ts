/** Nothing is recorded: no worker runs its workflows yet. */
export const coverage = {};

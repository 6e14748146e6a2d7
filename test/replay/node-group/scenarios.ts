import type { Stage } from '../stages.ts';

/** Nothing is recorded: no worker runs its workflows yet. */
export const stages: readonly Stage[] = [];

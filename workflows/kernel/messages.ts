import { defineSignal } from '@temporalio/workflow';

/** A pause that concerns the workflow was written outside of it, or taken away. It carries nothing: the ConfigMaps say what holds. */
export const pauseChanged = defineSignal('pauseChanged');

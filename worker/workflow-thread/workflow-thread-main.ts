/** The thread in which Temporal's SDK runs workflows, in place of the SDK's own file of this name. */
import '@temporalio/worker/lib/workflow/workflow-worker-thread.js';
import { collectAtRest } from '../../platform/process/memory.ts';
import { writePromiseStacksWhenAsked } from './promise-stacks.ts';
import { limitEachActivationOnce } from './time-limit.ts';

// The SDK makes the first of what these change with the first message, which comes later.
writePromiseStacksWhenAsked();
limitEachActivationOnce();
collectAtRest();

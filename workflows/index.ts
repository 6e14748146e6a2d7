/** Every workflow type that a worker of Headroom runs; the bundler starts here. */
export { leaseGc } from './lease-gc/workflow.ts';
export { quotaResize } from './quota-resize/workflow.ts';

/** Every workflow type that a worker of Headroom runs; the bundler starts here. */
export { githubBudget } from './github-budget/workflow.ts';
export { leaseGc } from './lease-gc/workflow.ts';
export { lightsOut } from './lights-out/workflow.ts';
export { memcached } from './memcached/workflow.ts';
export { nodeDrain } from './node-group/drain.ts';
export { nodeGroup } from './node-group/workflow.ts';
export { orphanSearch } from './quota-resize/orphan-search.ts';
export { quotaResize } from './quota-resize/workflow.ts';
export { quotaUsageRollUp } from './quota-usage/roll-up.ts';
export { quotaUsage } from './quota-usage/workflow.ts';

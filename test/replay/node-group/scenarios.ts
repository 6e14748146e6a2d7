/** Node groups and drains, to be recorded: they need a cluster whose pods are scheduled, and no forge. */
import { type Stage, stage } from '../stages.ts';
import { drainScenarios } from './drain-scenarios.ts';
import { withNodeGroups } from './given.ts';
import { groupScenarios } from './group-scenarios.ts';
import { loneScenarios } from './lone-scenarios.ts';

export const stages: readonly Stage[] = [
  stage(withNodeGroups, { together: { ...groupScenarios, ...drainScenarios }, alone: loneScenarios }),
];

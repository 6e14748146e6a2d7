import type { Room } from '../room.ts';

/** Its workflow has no activities: it only answers those who ask. */
export const githubBudgetRoom: Room = {
  workflowTypes: ['githubBudget'],
  createActivities: () => ({}),
};

import type { Room } from '../kernel/room.ts';

/** Its workflow has no activities: it only answers those who ask. */
export const githubBudgetRoom: Room = {
  workflowTypes: ['githubBudget'],
  createActivities: () => ({}),
};

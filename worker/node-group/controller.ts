import type { WorkerController } from '../controller.ts';

export const nodeGroupController: WorkerController = {
  workflowTypes: [],
  access: [],
  isEnabled: ({ nodeGroups }) => nodeGroups.enabled,
  createActivities: () => ({}),
};

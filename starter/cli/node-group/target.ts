/** NodeGroups as arguments. */
import { nodeGroupId } from '../../../domain/node-group/target.ts';
import type { TargetForm } from '../controller.ts';

// The Kubernetes client takes long to load, so commands that do not need it do not load it.
const groups = async () => await import('./groups.ts');

export const nodeGroupTarget: TargetForm = {
  argument: 'group',
  description: 'the NodeGroup',
  // Whether the name exists is checked in the cluster.
  isTarget: (text) => text !== '' && !/[\s/]/.test(text),
  expected: 'the name of a NodeGroup, such as pool-1',
  workflowId: (cluster, group) => nodeGroupId({ cluster, group }),
  whyNothingRuns: async (loaded, group) => await (await groups()).whyNobodyAnswers(loaded, group),
  assertExists: async (loaded, group) => {
    const { chosen, readGroups } = await groups();
    chosen(await readGroups(loaded), group, loaded.config.kubernetes.clusterName);
  },
};

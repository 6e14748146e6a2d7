/** `headroom node-groups …`: what NodeGroups do, what an operator may tell them, and what would be done now. */
import type { Command } from 'commander';
import { commandUpdates, status } from '../../../workflows/node-group/messages.ts';
import type { CommandLineController, CommandTools } from '../controller.ts';
import { addWhoAndWhy, targetArgument, type WhoAndWhy, withExamples } from '../operator-commands.ts';
import { userName } from '../shared.ts';
import { type ExplainArgument, explainArgument, nodeArgument } from './arguments.ts';
import { statusText } from './status-text.ts';
import { nodeGroupTarget } from './target.ts';

export const nodeGroupCommands: CommandLineController = {
  group: 'nodes that come and go with the pods: the NodeGroups of the cluster',
  groupName: 'node-groups',
  target: nodeGroupTarget,
  status: {
    description: 'what a NodeGroup does and waits for, which nodes stay and why, and pods that get no new node',
    examples: ['status pool-1', 'status pool-1 --output json'],
    ask: async (workflow) => {
      const answer = await workflow.query(status);
      return { json: answer, text: statusText(answer, Date.now()) };
    },
  },
  operatorCommands: [
    {
      name: 'approve',
      update: commandUpdates.approve.name,
      description: 'let nodes go whose removal waits for an approval',
      examples: ['approve pool-1 --reason "checked the preview"'],
    },
    {
      name: 'reject',
      update: commandUpdates.reject.name,
      description: 'keep nodes whose removal waits for an approval; it is not proposed again for eight hours',
      examples: ['reject pool-1 --reason "a release is under way"'],
    },
    {
      name: 'reconcile-now',
      update: commandUpdates.reconcileNow.name,
      description: 'look again at once, and try again what failed',
      examples: ['reconcile-now pool-1'],
    },
  ],
  addCommands: (group, tools) => {
    addListCommand(group, tools);
    addPreviewCommand(group, tools);
    addExplainCommand(group, tools);
    addDrainCommands(group, tools);
  },
};

function addListCommand(group: Command, tools: CommandTools): void {
  group
    .command('list')
    .description('the NodeGroups of the cluster: how many nodes each has and may have, and what is wrong')
    .action(
      async () =>
        await tools.run(async (loaded) => {
          const { listNodeGroups } = await import('./list.ts');
          await listNodeGroups(loaded, tools);
        }),
    );
}

function addPreviewCommand(group: Command, tools: CommandTools): void {
  withExamples(group, group.command('preview'), ['preview', 'preview pool-1', 'preview --output json'])
    .description('plan for the cluster as it is now: nodes that would come and go, and why others stay; it only reads')
    .argument('[group]', 'one NodeGroup; without it all of them', targetArgument(nodeGroupTarget))
    .action(
      async (name: string | undefined) =>
        await tools.run(async (loaded) => {
          const { previewNodeGroups } = await import('./preview.ts');
          await previewNodeGroups(loaded, name ?? null, tools);
        }),
    );
}

function addExplainCommand(group: Command, tools: CommandTools): void {
  withExamples(group, group.command('explain'), ['explain team-a/web-0', 'explain pool-1-3f9a'])
    .description('which node a pod gets, or why it gets none; why a node stays, or may go; it only reads')
    .argument('<pod|node>', 'a pod, as <namespace>/<name>, or the name of a node', explainArgument)
    .action(
      async (argument: ExplainArgument) =>
        await tools.run(async (loaded) => {
          const { explainNodeGroups } = await import('./explain.ts');
          await explainNodeGroups(loaded, argument, tools);
        }),
    );
}

function addDrainCommands(group: Command, tools: CommandTools): void {
  const add = (name: 'drain' | 'stop-drain', description: string, example: string): void => {
    const command = withExamples(group, group.command(name), [example])
      .description(description)
      .argument('<node>', 'the node; its NodeGroup is found by its label', nodeArgument);
    addWhoAndWhy(command).action(
      async (node: string, { by = userName(tools.io.env), reason = '' }: WhoAndWhy) =>
        await tools.run(async (loaded) => {
          const { drainNode, stopDrain } = await import('./drain.ts');
          await (name === 'drain' ? drainNode : stopDrain)(loaded, { node, by, reason }, tools);
        }),
    );
  };
  add('drain', 'drain a node of a NodeGroup, and give its machine back', 'drain pool-1-3f9a --reason "its disk fails"');
  add('stop-drain', 'end the drain of a node: evict nothing more, and uncordon it', 'stop-drain pool-1-3f9a');
}

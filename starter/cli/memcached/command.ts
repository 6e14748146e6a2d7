/** `headroom memcached …`: caches and what is made of them. */
import type { Command } from 'commander';
import { commandUpdates, status } from '../../../workflows/memcached/messages.ts';
import type { CommandLineController, CommandTools } from '../controller.ts';
import { withExamples } from '../operator-commands.ts';
import { type MemcachedArgument, memcachedArgument } from './argument.ts';
import { statusText } from './status-text.ts';
import { memcachedTarget } from './target.ts';

export const memcachedCommands: CommandLineController = {
  group: 'caches that scale: the Memcacheds of the cluster',
  target: memcachedTarget,
  status: {
    description: 'what an episode does for a Memcached, what it waits for, and why it cannot go on',
    examples: ['status team-a/sessions', 'status team-a/sessions --output json'],
    ask: async (workflow) => {
      const answer = await workflow.query(status);
      return { json: answer, text: statusText(answer, Date.now()) };
    },
  },
  operatorCommands: [
    {
      name: 'reconcile-now',
      update: commandUpdates.reconcileNow.name,
      description: 'compare again at once, and try again what failed',
      examples: ['reconcile-now team-a/sessions'],
    },
  ],
  addCommands: (group, tools) => {
    addListCommand(group, tools);
    addExplainCommand(group, tools);
  },
};

function addListCommand(group: Command, tools: CommandTools): void {
  group
    .command('list')
    .description('the Memcacheds of the cluster: how many pods are ready, where clients connect, what is wrong')
    .action(
      async () =>
        await tools.run(async (loaded) => {
          const { listMemcacheds } = await import('./list.ts');
          await listMemcacheds(loaded, tools);
        }),
    );
}

function addExplainCommand(group: Command, tools: CommandTools): void {
  withExamples(group, group.command('explain'), ['explain team-a/sessions'])
    .description('compare a Memcached with its objects now, and say what an episode would do; it only reads')
    .argument('<namespace/name>', 'the Memcached', memcachedArgument)
    .action(
      async (argument: MemcachedArgument) =>
        await tools.run(async (loaded) => {
          const { explainMemcached } = await import('./explain.ts');
          await explainMemcached(loaded, argument, tools);
        }),
    );
}

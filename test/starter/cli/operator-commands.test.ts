/** Whatever people may tell a workflow, they can say on the command line: a new command of a workflow has to be in it too. */
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { type ControllerName, controllerNames } from '../../../domain/kernel/controllers.ts';
import { createCommandLine } from '../../../starter/cli/command-line.ts';
import { controllers } from '../../../starter/cli/registry.ts';
import { budgetCommands } from '../../../workflows/github-budget/messages.ts';
import { commandUpdates as lightsOut } from '../../../workflows/lights-out/messages.ts';
import { commandUpdates as memcached } from '../../../workflows/memcached/messages.ts';
import { drainUpdates } from '../../../workflows/node-group/drain-messages.ts';
import { commandUpdates as nodeGroup } from '../../../workflows/node-group/messages.ts';
import { commandUpdates as quotaResize } from '../../../workflows/quota-resize/messages.ts';
import { commandUpdates as quotaUsage } from '../../../workflows/quota-usage/messages.ts';

/** The names of what each controller's workflows take. */
const commandNames: Readonly<Record<ControllerName, readonly string[]>> = {
  'quota-resize': Object.keys(quotaResize),
  // Counting goes on by itself; who wants a workflow of it to look at once signals that in the UI of Temporal.
  'quota-usage': Object.keys(quotaUsage).filter((name) => name !== 'reconcileNow'),
  'lights-out': Object.keys(lightsOut),
  memcached: Object.keys(memcached),
  'node-group': [...Object.keys(nodeGroup), ...Object.keys(drainUpdates)],
  'lease-gc': [],
  // Its pause is a signal in the UI of Temporal: it holds for the clusters of all who share a credential.
  'github-budget': Object.keys(budgetCommands.updates).filter((name) => !['pause', 'resume'].includes(name)),
};

const { program } = createCommandLine({ env: {}, stdout: process.stdout, stderr: process.stderr, readStdin: () => '' });

function namesIn({ commands }: Command): readonly string[] {
  return commands.map((command) => command.name());
}

it.each(controllerNames)('the command line has every command of %s', (name) => {
  const { group, groupName = name } = controllers[name];
  const own = group === undefined ? program : program.commands.find((command) => command.name() === groupName);
  const wanted = commandNames[name].map((update) =>
    update.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
  );
  expect(wanted.filter((command) => own === undefined || !namesIn(own).includes(command))).toEqual([]);
});

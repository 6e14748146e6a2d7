import { Command, InvalidArgumentError, Option } from 'commander';
import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import type { ConfigSources } from '../../platform/config/config.ts';
import { ConfigError } from '../../platform/config/config-problem.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { loadConfig } from '../config.ts';
import { TemporalUnreachable } from './connection.ts';
import type { CommandLineController, CommandTools } from './controller.ts';
import { addListCommand } from './list.ts';
import { UnknownName } from './names.ts';
import { addOperatorCommand, addStatusCommand } from './operator-commands.ts';
import { addPauseCommands, addTargetPauseCommands } from './pause.ts';
import { controllers } from './registry.ts';
import { CommandFailed, fail, innermost, isTemporalAnswer, type SharedOptions } from './shared.ts';

/** The `headroom` command line: what holds for every controller, and what each of them brings. */
export function createCommandLine(): Command {
  const program = new Command('headroom')
    .description('Operate Headroom, with the same configuration as the worker and the starter.')
    .option('--cluster-name <name>', 'the cluster (default: CLUSTER_NAME)')
    .option('--config <path>', 'a YAML configuration file')
    .option('--kubeconfig <path>', 'the kubeconfig (default: KUBECONFIG)')
    .option('--context <name>', "the kubeconfig's context, instead of its current one")
    .addOption(
      new Option('--output <form>', 'how to print; table is the same as text')
        .choices(['text', 'json', 'table'])
        .default('text')
        .argParser(outputForm),
    )
    .configureOutput({ outputError: (message, write) => write(withoutRepetition(message)) })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.stopped : exitCodes.configuration));
  const tools = createTools(program);
  addListCommand(program, tools);
  addPauseCommands(program, tools);
  const explain = program
    .command('explain')
    .description('what would happen now, and why, with the layer of every number');
  for (const name of controllerNames) {
    const controller = controllers[name];
    addCommands(
      controller,
      controller.group === undefined ? program : addGroup(program, name, controller, tools),
      tools,
    );
    if (controller.explain === undefined) continue;
    // Without a controller's name, explain is about the first controller.
    controller.explain(explain.command(name, { isDefault: name === controllerNames[0] }), tools);
  }
  pointToHelp(program, 'headroom');
  return program;
}

/** Commander repeats the invalid value in front of a message that already names it. */
function withoutRepetition(message: string): string {
  return message
    .replace(/^error: command-argument value '.*' is invalid for argument '[^']*'\. /s, 'error: ')
    .replace(/^error: option '(\S+)[^']*' argument '.*' is invalid\. /s, 'error: $1: ');
}

/** A wrong usage prints the help of its command. */
function pointToHelp(command: Command, path: string): void {
  command.showHelpAfterError(
    command.commands.length > 0 ? `(${path} --help lists the commands)` : `(${path} --help says what it takes)`,
  );
  for (const child of command.commands) pointToHelp(child, `${path} ${child.name()}`);
}

/** `headroom <controller>`, with the pauses of one of its targets. */
function addGroup(
  program: Command,
  name: ControllerName,
  { group, target }: CommandLineController,
  tools: CommandTools,
): Command {
  const parent = program.command(name).description(group ?? '');
  if (target !== undefined) addTargetPauseCommands(parent, name, target, tools);
  return parent;
}

function addCommands(
  { target, status, operatorCommands = [], addCommands: addOwn }: CommandLineController,
  parent: Command,
  tools: CommandTools,
): void {
  if (target !== undefined) {
    if (status !== undefined) addStatusCommand(parent, target, status, tools);
    for (const command of operatorCommands) addOperatorCommand(parent, target, command, tools);
  }
  addOwn?.(parent, tools);
}

/** A table is the text of a command that lists something. */
function outputForm(form: string): SharedOptions['output'] {
  if (form !== 'text' && form !== 'json' && form !== 'table') {
    throw new InvalidArgumentError('Allowed choices are text, json, table.');
  }
  return form === 'json' ? 'json' : 'text';
}

function createTools(program: Command): CommandTools {
  const shared = (): SharedOptions => program.opts<SharedOptions>();
  return {
    shared,
    runAlone: sayingFailures,
    run: async (command, argv = []) =>
      await sayingFailures(async () => {
        const sources = configSources(shared(), argv);
        await command(loadConfig(sources), sources);
      }),
  };
}

function configSources(
  { clusterName, config, kubeconfig, context }: SharedOptions,
  argv: readonly string[],
): ConfigSources {
  const flags = Object.entries({ '--config': config, '--kubeconfig': kubeconfig, '--context': context });
  return {
    env: { ...process.env, ...(clusterName === undefined ? {} : { CLUSTER_NAME: clusterName }) },
    program: 'command line',
    argv: [...flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])), ...argv],
  };
}

/** An error that the user can fix is printed as one sentence on standard error, without a stack. */
async function sayingFailures(command: () => void | Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (error instanceof ConfigError || error instanceof UnknownName) fail(error.message, exitCodes.configuration);
    else if (error instanceof TemporalUnreachable || error instanceof CommandFailed) {
      fail(sentence(error.message), exitCodes.failed);
    } else if (isTemporalAnswer(error)) {
      fail(`Temporal answered with an error: ${innermost(error)}`, exitCodes.failed);
    } else throw error;
  }
}

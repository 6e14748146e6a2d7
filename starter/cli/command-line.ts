import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { type ControllerName, controllerNames } from '../../domain/kernel/controllers.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import type { ConfigSources } from '../../platform/config/config.ts';
import { ConfigError } from '../../platform/config/config-problem.ts';
import { useNetwork } from '../../platform/network/network.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { useGrpcLog } from '../../platform/temporal/grpc-log.ts';
import { release } from '../../platform/process/release.ts';
import { loadConfig } from '../config.ts';
import { addAllInOneCommand } from './all-in-one.ts';
import { addCompletionCommands } from './completion.ts';
import { TemporalUnreachable } from './connection.ts';
import type { CommandLineController, CommandTools } from './controller.ts';
import { addDoctorCommand } from './doctor/command.ts';
import { addListCommand } from './list.ts';
import { UnknownName } from './names.ts';
import { type CommandIo, Output } from './output.ts';
import { addOperatorCommand, addStatusCommand } from './operator-commands.ts';
import { addPauseCommands, addTargetPauseCommands } from './pause.ts';
import { controllers } from './registry.ts';
import { CommandFailed, innermost, isTemporalAnswer, type SharedOptions } from './shared.ts';

/**
 * Runs `headroom` with these arguments, to the end of the command and of its connections.
 *
 * @returns the exit code.
 * @throws whatever is neither the user's nor the servers' mistake.
 */
export async function runCommandLine(argv: readonly string[], io: CommandIo): Promise<number> {
  const { program, output } = createCommandLine(io);
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? exitCodes.stopped : exitCodes.configuration;
  }
  return output.exitCode;
}

/** The `headroom` command line: what holds for every controller, and what each of them brings. */
export function createCommandLine(io: CommandIo): { readonly program: Command; readonly output: Output } {
  const output = new Output(io);
  const program = new Command(io.name ?? 'headroom')
    .description('Operate Headroom, with the same configuration as the worker and the starter.')
    .version(release, '--version', 'print the release of this program')
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
    .configureOutput({
      writeOut: (text) => output.text(text),
      writeErr: (text) => output.beside(text),
      outputError: (message, write) => write(withoutRepetition(message)),
      getOutHelpWidth: () => widthOf(io.stdout),
      getErrHelpWidth: () => widthOf(io.stderr),
    })
    // What ends a command early is thrown: without this, Commander ends the process.
    .exitOverride();
  const tools = createTools(program, io, output);
  addListCommand(program, tools);
  addPauseCommands(program, tools);
  addDoctorCommand(program, tools);
  addAllInOneCommand(program, output, (flags) => configSources(tools.shared(), io, flags));
  const explain = program
    .command('explain')
    .description('what would happen now, and why, with the layer that each number comes from');
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
  pointToExplain(program, explain);
  addCompletionCommands(program, tools);
  pointToHelp(program, program.name());
  return { program, output };
}

/** Columns of help where no terminal says how many it has, as Commander's own. */
const HELP_WIDTH = 80;

function widthOf({ isTTY, columns }: CommandIo['stdout']): number {
  return isTTY === true ? (columns ?? HELP_WIDTH) : HELP_WIDTH;
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

/** `explain` is about quotas; what else is explained has a command in its own group, which is said to whoever looks here. */
function pointToExplain(program: Command, explain: Command): void {
  for (const group of program.commands) {
    if (!group.commands.some((command) => command.name() === 'explain')) continue;
    const instead = `${program.name()} ${group.name()} explain`;
    explain
      .command(group.name(), { hidden: true })
      .argument('[words...]')
      .action(() => explain.error(`error: ask ${instead}`, { exitCode: exitCodes.configuration }));
    explain.addHelpText('after', `\nSee also: ${instead}`);
  }
}

/** `headroom <controller>`, with the pauses of one of its targets. */
function addGroup(
  program: Command,
  name: ControllerName,
  { group, groupName = name, target }: CommandLineController,
  tools: CommandTools,
): Command {
  const parent = program.command(groupName).description(group ?? '');
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

function createTools(program: Command, io: CommandIo, output: Output): CommandTools {
  const shared = (): SharedOptions => program.opts<SharedOptions>();
  return {
    io,
    output,
    shared,
    runAlone: async (command) => await sayingFailures(output, command),
    run: async (command, argv = []) =>
      await sayingFailures(output, async () => {
        const sources = configSources(shared(), io, argv);
        const config = loadConfig(sources);
        useNetwork(config.network);
        useGrpcLog();
        await command({ config, sources });
      }),
  };
}

function configSources(
  { clusterName, config, kubeconfig, context }: SharedOptions,
  { env: own, defaultKubeconfig }: CommandIo,
  argv: readonly string[],
): ConfigSources {
  const named = own['KUBECONFIG'] === undefined || own['KUBECONFIG'] === '' ? defaultKubeconfig : undefined;
  const env = named === undefined ? own : { ...own, KUBECONFIG: named };
  const flags = Object.entries({ '--config': config, '--kubeconfig': kubeconfig, '--context': context });
  return {
    env: { ...env, ...(clusterName === undefined ? {} : { CLUSTER_NAME: clusterName }) },
    program: 'command line',
    argv: [...flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value])), ...argv],
  };
}

/** An error that the user can fix is printed as one sentence on standard error, without a stack. */
async function sayingFailures(output: Output, command: () => void | Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (error instanceof ConfigError || error instanceof UnknownName) {
      output.fail(error.message, exitCodes.configuration);
    } else if (error instanceof TemporalUnreachable || error instanceof CommandFailed) {
      output.fail(sentence(error.message), exitCodes.failed);
    } else if (isTemporalAnswer(error)) {
      output.fail(`Temporal answered with an error: ${innermost(error)}`, exitCodes.failed);
    } else throw error;
  }
}

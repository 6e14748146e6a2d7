import { Command, InvalidArgumentError, Option } from 'commander';
import type { Client } from '@temporalio/client';
import type { CommandInput } from '../../domain/kernel/command-input.ts';
import { sentence } from '../../domain/kernel/sentence.ts';
import { quotaResizeId } from '../../domain/kernel/target.ts';
import { withRelativeTimes } from '../../domain/kernel/time.ts';
import type { EpisodeCommand } from '../../domain/quota-resize/decide/commands.ts';
import { type Config, loadConfig } from '../config.ts';
import type { ConfigSources } from '../../platform/config/config.ts';
import { ConfigError } from '../../platform/config/config-problem.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import { commandDescriptions, type ResizeStatus, status } from '../../workflows/quota-resize/messages.ts';
import { TemporalUnreachable, withClient } from './connection.ts';
import { addExplainCommand } from './quota-resize/explain/command.ts';
import { addGcCommand } from './lease-gc/command.ts';
import { addLightsOutCommand } from './lights-out/command.ts';
import { list } from './list.ts';
import { addPauseCommands } from './pause.ts';
import { addPlanCommand } from './quota-resize/plan.ts';
import {
  answered,
  CommandFailed,
  fail,
  innermost,
  isTemporalAnswer,
  print,
  type QuotaArgument,
  quotaArgument,
  type SharedOptions,
  userName,
} from './shared.ts';
import { settingsInForce, workersOf } from './settings-in-force.ts';
import { statusText } from './quota-resize/status.ts';
import { addSourcesCommand } from './quota-resize/sources.ts';
import { addUsageCommand } from './quota-usage/command.ts';

const commandNames: Readonly<Record<EpisodeCommand, string>> = {
  approve: 'approve',
  reject: 'reject',
  reconcileNow: 'reconcile-now',
  skipCooldown: 'skip-cooldown',
};

/** The `headroom` command line: garbage collection, and what an operator may ask of or tell an episode. */
export function createCommandLine(): Command {
  const program = new Command('headroom')
    .description('Operate Headroom, with the same configuration as the worker and the starter.')
    .option('--cluster-name <name>', 'the cluster (default: CLUSTER_NAME)')
    .option('--config <path>', 'a YAML configuration file')
    .addOption(
      new Option('--output <form>', 'how to print; table is the same as text')
        .choices(['text', 'json', 'table'])
        .default('text')
        .argParser(outputForm),
    )
    .configureOutput({ outputError: (message, write) => write(message) })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? exitCodes.stopped : exitCodes.configuration))
    .showHelpAfterError('(headroom --help lists the commands)');

  addGcCommand(
    program,
    async (command) => await run(program, command),
    () => shared(program),
  );

  program
    .command('list')
    .description('list what runs now, of every controller')
    .action(async () => await run(program, async (client, config) => await list(client, config, shared(program))));

  program
    .command('status')
    .description('show what Headroom is doing about a quota')
    .argument('<namespace/quota>', 'the ResourceQuota', quotaArgument)
    .action(
      async (quota: QuotaArgument) =>
        await run(
          program,
          async (client, config, sources) => await printStatus(client, config, sources, quota, shared(program)),
        ),
    );

  addExplainCommand(
    program,
    async (argv, command) => await runWithConfig(program, argv, command),
    () => shared(program),
  );
  addUsageCommand(
    program,
    async (command) => await runWithConfig(program, [], command),
    () => shared(program),
  );
  addLightsOutCommand(
    program,
    async (command) => await runWithConfig(program, [], command),
    () => shared(program),
  );
  addPauseCommands(
    program,
    async (command) => await runWithConfig(program, [], command),
    () => shared(program),
  );
  addSourcesCommand(program, () => shared(program));
  addPlanCommand(program, () => shared(program));

  for (const [command, name] of Object.entries(commandNames) as [EpisodeCommand, string][]) {
    const one = program
      .command(name)
      .description(commandDescriptions[command])
      .argument('<namespace/quota>', 'the ResourceQuota', quotaArgument)
      .option('--by <name>', 'who gives the command (default: your user name)')
      .option('--reason <text>', 'why you give the command; the history keeps it');
    if (command === 'approve') {
      one.option('--head <sha>', 'approve only this head commit of the pull request, the one that you reviewed');
    }
    one.action(
      async (quota: QuotaArgument, said: CommandInput) =>
        await run(program, async (client, config) => await tell(client, config, quota, command, said, shared(program))),
    );
  }
  return program;
}

/** A table is the text of a command that lists something. */
function outputForm(form: string): SharedOptions['output'] {
  if (form !== 'text' && form !== 'json' && form !== 'table') {
    throw new InvalidArgumentError('Allowed choices are text, json, table.');
  }
  return form === 'json' ? 'json' : 'text';
}

function shared(program: Command): SharedOptions {
  return program.opts<SharedOptions>();
}

/** Runs a command that talks to Temporal. */
async function run(
  program: Command,
  command: (client: Client, config: Config, sources: ConfigSources) => Promise<void>,
): Promise<void> {
  await runWithConfig(
    program,
    [],
    async (config, sources) => await withClient(config, async (client) => await command(client, config, sources)),
  );
}

/**
 * Runs a command with the configuration; what a person can mend is one sentence on standard error, not a stack.
 *
 * @param argv settings as flags, besides those that all commands have.
 */
async function runWithConfig(
  program: Command,
  argv: readonly string[],
  command: (config: Config, sources: ConfigSources) => Promise<void>,
): Promise<void> {
  const { clusterName, config: file } = shared(program);
  try {
    const sources: ConfigSources = {
      env: { ...process.env, ...(clusterName === undefined ? {} : { CLUSTER_NAME: clusterName }) },
      program: 'command line',
      argv: [...(file === undefined ? [] : ['--config', file]), ...argv],
    };
    await command(loadConfig(sources), sources);
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message, exitCodes.configuration);
    else if (error instanceof TemporalUnreachable || error instanceof CommandFailed) {
      fail(sentence(error.message), exitCodes.failed);
    } else if (isTemporalAnswer(error)) {
      fail(`Temporal answered with an error: ${innermost(error)}`, exitCodes.failed);
    } else throw error;
  }
}

async function printStatus(
  client: Client,
  config: Config,
  sources: ConfigSources,
  quota: QuotaArgument,
  { output }: SharedOptions,
): Promise<void> {
  const workers = await workersOf(client, config);
  const seen: ResizeStatus = await askEpisode(
    client,
    quota,
    config,
    async (id) => await client.workflow.getHandle(id).query(status),
  );
  const inForce = settingsInForce(config, sources, workers);
  if (output === 'json') return print({ ...seen, settings: inForce.settings });
  console.log(statusText(seen, inForce, Date.now()));
}

async function tell(
  client: Client,
  config: Config,
  quota: QuotaArgument,
  command: EpisodeCommand,
  said: CommandInput,
  { output }: SharedOptions,
): Promise<void> {
  const { by = userName(), reason = '', head } = said;
  const input: CommandInput = { by, reason, ...(head === undefined ? {} : { head }) };
  const answer = await askEpisode(
    client,
    quota,
    config,
    async (id) => await client.workflow.getHandle(id).executeUpdate<string, [CommandInput]>(command, { args: [input] }),
  );
  if (output === 'json') return print({ command, answer });
  console.log(withRelativeTimes(sentence(answer), Date.now()));
}

/** Asks the episode of a quota; that none runs, that it refuses, or that no worker answers is a sentence. */
async function askEpisode<T>(
  client: Client,
  quota: QuotaArgument,
  config: Config,
  ask: (workflowId: string) => Promise<T>,
): Promise<T> {
  const target = { cluster: config.kubernetes.clusterName, ...quota };
  const noneRuns = () =>
    new CommandFailed(
      `Nothing runs for ${quota.namespace}/${quota.quota} in ${target.cluster}. Either the quota needs nothing, or the names are wrong: headroom list shows what runs.`,
    );
  return await answered(client, target.cluster, noneRuns, async () => await ask(quotaResizeId(target)));
}

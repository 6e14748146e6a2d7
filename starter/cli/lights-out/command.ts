/** `headroom lights-out …`: what schedules do, what an operator may tell them, and what they would do. */
import { type Command, Option } from 'commander';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import type { Config } from '../../config.ts';
import type { ConfigSources } from '../../../platform/config/config.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import type { LightsOutCommand } from '../../../workflows/lights-out/messages.ts';
import { fail, type SharedOptions, userName } from '../shared.ts';
import { UnknownName } from '../names.ts';
import { momentArgument, namespaceArgument, previewSpanArgument, scheduleArgument, spanArgument } from './arguments.ts';

/** Runs a command with the configuration; what a person can mend is one sentence. */
type RunWithConfig = (command: (config: Config, sources: ConfigSources) => Promise<void>) => Promise<void>;

interface CommandOptions {
  readonly by?: string;
  readonly reason?: string;
  readonly for?: string;
  readonly until?: EpochMs;
  readonly namespace?: string;
}

interface CommandWords {
  readonly name: string;
  readonly description: string;
  /** It is for a while, and ends by itself. */
  readonly isTimed?: boolean;
  /** It can be meant for one namespace only. */
  readonly hasNamespace?: boolean;
  readonly examples: readonly string[];
}

const words: Readonly<Record<LightsOutCommand, CommandWords>> = {
  wake: {
    name: 'wake',
    description: 'wake everything, or one namespace, for a while; then the schedule holds again',
    isTimed: true,
    hasNamespace: true,
    examples: [
      'wake dev-nights --for 3h',
      'wake dev-nights --until 2026-12-24T22:00:00+01:00 --namespace team-a --reason "release night"',
    ],
  },
  sleep: {
    name: 'sleep',
    description: 'put everything, or one namespace, to sleep for a while; then the schedule holds again',
    isTimed: true,
    hasNamespace: true,
    examples: ['sleep dev-nights --for 2d --reason "nobody is here"'],
  },
  cancel: {
    name: 'cancel',
    description: 'end what wake or sleep began',
    hasNamespace: true,
    examples: ['cancel dev-nights', 'cancel dev-nights --namespace team-a'],
  },
  approve: {
    name: 'approve',
    description: 'let the first run put workloads to sleep, where the schedule asks for an approval',
    examples: ['approve dev-nights --reason "looked at the dry run"'],
  },
  pause: {
    name: 'pause',
    description: 'stop writing for the schedule until resume',
    examples: ['pause dev-nights --reason "cluster upgrade"'],
  },
  resume: { name: 'resume', description: 'go on after a pause', examples: ['resume dev-nights'] },
  reconcileNow: {
    name: 'reconcile-now',
    description: 'check again at once, and try again what failed',
    examples: ['reconcile-now dev-nights'],
  },
};

/**
 * Adds the commands to `headroom`.
 *
 * @param shared the options that all commands have.
 */
export function addLightsOutCommand(program: Command, run: RunWithConfig, shared: () => SharedOptions): void {
  const group = program
    .command('lights-out')
    .description('workloads that sleep at night: the LightsOutSchedules of the cluster');

  group
    .command('list')
    .description('the schedules of the cluster: where each stands, and what it does next')
    .action(
      async () =>
        await named(run, async (config) => {
          const { listSchedules } = await import('./list.ts');
          await listSchedules(config, shared());
        }),
    );

  withExamples(group.command('status'), ['status dev-nights', 'status dev-nights --output json'])
    .description('where a schedule stands: what is down, what is left alone and why, what fails')
    .argument('<schedule>', 'the LightsOutSchedule', scheduleArgument)
    .action(
      async (schedule: string) =>
        await named(run, async (config) => {
          const { printStatus } = await import('./status.ts');
          await printStatus(config, schedule, shared());
        }),
    );

  for (const command of Object.keys(words) as LightsOutCommand[]) addOperatorCommand(group, command, run, shared);
  addPreviewCommand(group, run, shared);
}

function addOperatorCommand(
  group: Command,
  command: LightsOutCommand,
  run: RunWithConfig,
  shared: () => SharedOptions,
): void {
  const { name, description, isTimed, hasNamespace, examples } = words[command];
  const one = withExamples(group.command(name), examples)
    .description(description)
    .argument('<schedule>', 'the LightsOutSchedule', scheduleArgument)
    .option('--by <name>', 'who says so (default: your user name)')
    .option('--reason <text>', 'why; shown in the status and kept in the history');
  if (isTimed === true) {
    one
      .option('--for <duration>', 'how long, such as 3h, 90m or 2d', spanArgument)
      .option('--until <moment>', 'until when, with its zone, such as 2026-12-24T18:00:00+01:00', momentArgument);
  }
  if (hasNamespace === true) one.option('--namespace <name>', 'only this namespace', namespaceArgument);
  one.action(async (schedule: string, given: CommandOptions) => {
    const { by = userName(), reason = '', for: span, until, namespace } = given;
    if (isTimed === true && (span === undefined) === (until === undefined)) {
      const wrong =
        span === undefined
          ? 'say for how long: --for 3h, or --until 2026-12-24T18:00:00+01:00'
          : '--for and --until both say when it ends: leave one out';
      one.error(`error: ${wrong}`, { exitCode: exitCodes.configuration });
    }
    const input = {
      by,
      reason,
      ...(span === undefined ? {} : { for: span }),
      ...(until === undefined ? {} : { until: formatInstant(until) }),
      ...(namespace === undefined ? {} : { namespace }),
    };
    await named(run, async (config) => {
      const { sendCommand } = await import('./send-command.ts');
      await sendCommand(config, schedule, command, input, shared());
    });
  });
}

interface PreviewFlags {
  readonly file?: string;
  readonly next: number;
  readonly from?: EpochMs;
}

function addPreviewCommand(group: Command, run: RunWithConfig, shared: () => SharedOptions): void {
  const preview = withExamples(group.command('preview'), [
    'preview --next 14d',
    'preview dev-nights --next 7d --from 2026-12-20T00:00:00+01:00',
    'preview --file schedule.yaml --next 30d',
    'helm template . | headroom lights-out preview --file -',
  ])
    .description('the next transitions of the schedules of the cluster, or of a file; ends with 1 where one is invalid')
    .argument('[schedule]', 'one schedule; without it all of them', scheduleArgument)
    .option('--file <path>', 'a YAML file that need not be applied yet, or - for standard input; no cluster is asked')
    .addOption(
      new Option('--next <duration>', 'how far to look, such as 14d or 36h')
        .argParser(previewSpanArgument)
        .default(previewSpanArgument('14d'), '14d'),
    )
    .option('--from <moment>', 'from when on, with its zone (default: now)', momentArgument);
  preview.action(async (schedule: string | undefined, { file, next, from = Date.now() }: PreviewFlags) => {
    const span = { from, until: from + next };
    const asked = { schedule: schedule ?? null, span, output: shared().output };
    if (file !== undefined) {
      const { previewFile } = await import('./preview.ts');
      await whereNamesExist(() => previewFile(file, asked));
      return;
    }
    await named(run, async (config, sources) => {
      const { previewCluster } = await import('./preview.ts');
      await previewCluster(config, sources, asked);
    });
  });
}

/** Runs a command; a name that does not exist is a sentence, too. */
async function named(
  run: RunWithConfig,
  command: (config: Config, sources: ConfigSources) => Promise<void>,
): Promise<void> {
  await run(async (config, sources) => await whereNamesExist(async () => await command(config, sources)));
}

async function whereNamesExist(command: () => void | Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof UnknownName)) throw error;
    fail(error.message, exitCodes.configuration);
  }
}

function withExamples(command: Command, examples: readonly string[]): Command {
  const lines = examples.map((example) => (example.includes('headroom') ? example : `headroom lights-out ${example}`));
  return command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:\n  ${lines.join('\n  ')}`);
}

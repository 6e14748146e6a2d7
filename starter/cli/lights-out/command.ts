/** `headroom lights-out …`: what schedules do, what an operator may tell them, and what they would do. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import { commandUpdates, status } from '../../../workflows/lights-out/messages.ts';
import type { CommandLineController, CommandTools, OperatorCommand } from '../controller.ts';
import { namespaceArgument } from '../names.ts';
import { targetArgument, withExamples } from '../operator-commands.ts';
import { momentArgument, previewSpanArgument, spanArgument } from './arguments.ts';
import { statusText } from './status-text.ts';
import { scheduleTarget } from './target.ts';

interface Span {
  readonly for?: string;
  readonly until?: EpochMs;
}

function addNamespace(command: Command): void {
  command.option('--namespace <name>', 'only this namespace', namespaceArgument);
}

/** For what is for a while, and ends by itself. */
function addSpan(command: Command): void {
  command
    .option('--for <duration>', 'how long, such as 3h, 90m or 2d', spanArgument)
    .option('--until <moment>', 'until when, with its zone, such as 2026-12-24T18:00:00+01:00', momentArgument);
  addNamespace(command);
}

function namespaceInput({ namespace }: { readonly namespace?: string }): object {
  return namespace === undefined ? {} : { namespace };
}

function spanInput(options: Span & { readonly namespace?: string }): object {
  const { for: span, until } = options;
  if (span === undefined && until === undefined) {
    throw new InvalidArgumentError('say for how long: --for 3h, or --until 2026-12-24T18:00:00+01:00');
  }
  if (span !== undefined && until !== undefined) {
    throw new InvalidArgumentError('--for and --until both say when it ends: leave one out');
  }
  return {
    ...namespaceInput(options),
    ...(span === undefined ? {} : { for: span }),
    ...(until === undefined ? {} : { until: formatInstant(until) }),
  };
}

const timed = { addOptions: addSpan, input: spanInput } as const;

const operatorCommands: readonly OperatorCommand[] = [
  {
    name: 'wake',
    update: commandUpdates.wake.name,
    description: 'wake everything, or one namespace, for a while; then the schedule holds again',
    ...timed,
    examples: [
      'wake dev-nights --for 3h',
      'wake dev-nights --until 2026-12-24T22:00:00+01:00 --namespace team-a --reason "release night"',
    ],
  },
  {
    name: 'sleep',
    update: commandUpdates.sleep.name,
    description: 'put everything, or one namespace, to sleep for a while; then the schedule holds again',
    ...timed,
    examples: ['sleep dev-nights --for 2d --reason "nobody is here"'],
  },
  {
    name: 'cancel',
    update: commandUpdates.cancel.name,
    description: 'end what wake or sleep began',
    addOptions: addNamespace,
    input: namespaceInput,
    examples: ['cancel dev-nights', 'cancel dev-nights --namespace team-a'],
  },
  {
    name: 'approve',
    update: commandUpdates.approve.name,
    description: 'let the first run put workloads to sleep, where the schedule asks for an approval',
    examples: ['approve dev-nights --reason "checked the dry run"'],
  },
  {
    name: 'reconcile-now',
    update: commandUpdates.reconcileNow.name,
    description: 'check again at once, and try again what failed',
    examples: ['reconcile-now dev-nights'],
  },
];

export const lightsOutCommands: CommandLineController = {
  group: 'workloads that sleep at night: the LightsOutSchedules of the cluster',
  target: scheduleTarget,
  status: {
    description: 'where a schedule stands: what is down, what is left alone and why, what fails',
    examples: ['status dev-nights', 'status dev-nights --output json'],
    ask: async (workflow) => {
      const answer = await workflow.query(status);
      return { json: answer, text: statusText(answer, Date.now()) };
    },
  },
  operatorCommands,
  addCommands: (group, tools) => {
    addListCommand(group, tools);
    addPreviewCommand(group, tools);
  },
};

function addListCommand(group: Command, tools: CommandTools): void {
  group
    .command('list')
    .description('the schedules of the cluster: where each stands, and what it does next')
    .action(
      async () =>
        await tools.run(async (loaded) => {
          const { listSchedules } = await import('./list.ts');
          await listSchedules(loaded, tools);
        }),
    );
}

interface PreviewFlags {
  readonly file?: string;
  readonly next: number;
  readonly from?: EpochMs;
}

function addPreviewCommand(group: Command, tools: CommandTools): void {
  const preview = withExamples(group, group.command('preview'), [
    'preview --next 14d',
    'preview dev-nights --next 7d --from 2026-12-20T00:00:00+01:00',
    'preview --file schedule.yaml --next 30d',
    'helm template . | headroom lights-out preview --file -',
  ])
    .description('the next transitions of the schedules of the cluster, or of a file; ends with 1 where one is invalid')
    .argument('[schedule]', 'one schedule; without it all of them', targetArgument(scheduleTarget))
    .option('--file <path>', 'a YAML file that need not be applied yet, or - for standard input; no cluster is asked')
    .addOption(
      new Option('--next <duration>', 'how far to look, such as 14d or 36h')
        .argParser(previewSpanArgument)
        .default(previewSpanArgument('14d'), '14d'),
    )
    .option('--from <moment>', 'from when on, with its zone (default: now)', momentArgument);
  preview.action(async (schedule: string | undefined, { file, next, from = Date.now() }: PreviewFlags) => {
    const span = { from, until: from + next };
    const asked = { schedule: schedule ?? null, span };
    if (file !== undefined) {
      const { previewFile } = await import('./preview.ts');
      await tools.runAlone(() => previewFile(file, asked, tools));
      return;
    }
    await tools.run(async (loaded) => {
      const { previewCluster } = await import('./preview.ts');
      await previewCluster(loaded, asked, tools);
    });
  });
}

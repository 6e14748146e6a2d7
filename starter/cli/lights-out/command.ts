/** `headroom lights-out …`: what schedules do, what an operator may tell them, and what they would do. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type EpochMs, formatInstant } from '../../../domain/kernel/time.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { commandUpdates, status } from '../../../workflows/lights-out/messages.ts';
import type { CommandLineController, CommandTools, OperatorCommand } from '../controller.ts';
import { namespaceArgument, UnknownName } from '../names.ts';
import { targetArgument, withExamples } from '../operator-commands.ts';
import { digestArgument, momentArgument, pageArgument, previewSpanArgument, spanArgument } from './arguments.ts';
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

function addDigest(command: Command): void {
  command.option(
    '--digest <digest>',
    'approve only if the workloads have this digest, which preview --workloads shows',
    digestArgument,
  );
}

function digestInput({ digest }: { readonly digest?: string }): object {
  return digest === undefined ? {} : { digest };
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
    description: 'let it put to sleep what is in its scope now, where the schedule asks for an approval',
    addOptions: addDigest,
    input: digestInput,
    examples: [
      'approve dev-nights --reason "checked the dry run"',
      'approve dev-nights --digest 0123456789abcdef --reason "looked at preview --workloads"',
    ],
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
    addReportCommand(group, tools);
    addRestoreCommand(group, tools);
  },
};

function addListCommand(group: Command, tools: CommandTools): void {
  group
    .command('list')
    .description('the schedules of the cluster: the state of each, and what it does next')
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
  readonly calendar?: true;
  readonly workloads?: true;
  readonly csv?: true;
  readonly page: number;
}

function addPreviewCommand(group: Command, tools: CommandTools): void {
  const preview = withExamples(group, group.command('preview'), [
    'preview --next 14d',
    'preview dev-nights --next 7d --from 2026-12-20T00:00:00+01:00',
    'preview --file schedule.yaml --next 30d',
    'preview dev-nights --calendar',
    'helm template . | headroom lights-out preview --file -',
    'preview dev-nights --workloads',
    'preview dev-nights --workloads --csv --file schedule.yaml',
  ])
    .description('the next transitions of the schedules of the cluster, or of a file; ends with 1 where one is invalid')
    .argument('[schedule]', 'one schedule; without it all of them', targetArgument(scheduleTarget))
    .option('--file <path>', 'a YAML file, applied or not, or - for standard input; it asks no cluster then')
    .addOption(
      new Option('--next <duration>', 'how far ahead, such as 14d or 36h')
        .argParser(previewSpanArgument)
        .default(previewSpanArgument('14d'), '14d'),
    )
    .option('--from <moment>', 'from when on, with its zone (default: now)', momentArgument)
    .option('--calendar', 'only the days of its exceptions and calendars, and what each changes; a year without --next')
    .option('--workloads', 'which workloads of the cluster its night would change, which it leaves alone, and why')
    .option('--csv', 'with --workloads: every workload as a line of CSV')
    .addOption(new Option('--page <number>', 'with --workloads: which page').argParser(pageArgument).default(1));
  preview.action(async (schedule: string | undefined, flags: PreviewFlags) => {
    const { file, from = Date.now(), calendar, workloads, csv, page } = flags;
    const isCalendar = calendar === true;
    const isSpanGiven = preview.getOptionValueSource('next') === 'cli';
    const next = isCalendar && !isSpanGiven ? previewSpanArgument('365d') : flags.next;
    if (workloads === true) {
      if (schedule === undefined)
        return preview.error('error: --workloads is about one schedule: name it', {
          exitCode: exitCodes.configuration,
        });
      const question = { schedule, file: file ?? null, isCsv: csv === true, page };
      await tools.run(async (loaded) => {
        const { surveyCluster } = await import('./survey.ts');
        await surveyCluster(loaded, question, tools);
      });
      return;
    }
    if (csv === true) {
      return preview.error('error: --csv is a form of --workloads: add it', { exitCode: exitCodes.configuration });
    }
    const span = { from, until: from + next };
    const asked = { schedule: schedule ?? null, span, isCalendar };
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

function addReportCommand(group: Command, tools: CommandTools): void {
  withExamples(group, group.command('report'), ['report', 'report dev-nights --output json', 'report --csv'])
    .description('what the schedules saved, in CPU-hours and memory-hours, by schedule, month and namespace')
    .argument('[schedule]', 'one schedule; without it all of them', targetArgument(scheduleTarget))
    .option('--csv', 'every namespace as a line of CSV')
    .action(async (schedule: string | undefined, { csv }: { readonly csv?: true }) => {
      await tools.run(async (loaded) => {
        const { report } = await import('./report.ts');
        await report(loaded, { schedule: schedule ?? null, isCsv: csv === true }, tools);
      });
    });
}

interface RestoreFlags {
  readonly schedule?: string;
  readonly all?: true;
  readonly yes?: true;
}

/** Without Temporal the name of the cluster is only in sentences, so nobody needs to set one. */
const UNNAMED_CLUSTER = 'this-cluster';

function addRestoreCommand(group: Command, tools: CommandTools): void {
  withExamples(group, group.command('restore'), [
    'restore --all',
    'restore --schedule dev-nights --yes',
    'restore --all --yes --kubeconfig admin.conf',
  ])
    .description('wake what sleeps; it needs a kubeconfig, but neither Temporal nor a worker')
    .option(
      '--schedule <name>',
      'what this schedule put to sleep, even if the schedule is gone',
      targetArgument(scheduleTarget),
    )
    .option('--all', 'what any schedule put to sleep')
    .option('--yes', 'do it; without this, it only says what would be woken')
    .action(async ({ schedule, all, yes }: RestoreFlags) => {
      const isNamed = tools.shared().clusterName !== undefined || tools.io.env['CLUSTER_NAME'] !== undefined;
      await tools.run(
        async (loaded) => {
          if ((schedule === undefined) === (all === undefined)) {
            throw new UnknownName('say what to wake: either --schedule dev-nights or --all');
          }
          const { restore } = await import('./restore.ts');
          await restore(loaded, { schedule: schedule ?? null, isConfirmed: yes === true }, tools);
        },
        isNamed ? [] : ['--cluster-name', UNNAMED_CLUSTER],
      );
    });
}

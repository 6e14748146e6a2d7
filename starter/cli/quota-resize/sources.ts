/** `headroom sources`: where the quotas of a checkout live, with no cluster and no configuration. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { GitPathError, parsePathTemplate } from '../../../domain/quota-resize/git/locate/candidate/path-template.ts';
import type { TreeAnswer } from '../../../domain/quota-resize/git/locate/question/question.ts';
import type { Scan, ScanOptions } from '../../../domain/quota-resize/git/locate/scan/scan.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { answered, type Checkout, CheckoutError, readCheckout, startedIn } from './checkout.ts';
import { columns } from '../columns.ts';
import type { CommandTools } from '../controller.ts';

interface SourceOptions {
  readonly repo: string;
  readonly cluster?: string;
  readonly template?: string;
}

export function addSourcesCommand(program: Command, tools: CommandTools): void {
  const { output, shared } = tools;
  withSourceOptions(program.command('sources'))
    .description('the quotas in a local checkout: the file and line of each value, and what cannot be placed')
    .action((options: SourceOptions) =>
      withCheckout(options, tools, async (_checkout, sources) => {
        const scan = await sources.scan();
        if (shared().output === 'json') {
          output.json(sourcesJson(scan));
        } else {
          output.line(sourcesTable(scan));
        }
      }),
    );
}

/** The options that say where to look; `sources` and `plan` have them. */
export function withSourceOptions(command: Command): Command {
  return command
    .requiredOption('--repo <folder>', 'a checkout of the GitOps repository')
    .option('--cluster <name>', 'only the quotas of this cluster')
    .option(
      '--template <path>',
      'where namespaces are, as in GIT_PATH_TEMPLATE: namespaces/{{ .Cluster }}/{{ .Namespace }}',
    );
}

/** The two questions that commands have about a checkout. */
export interface CheckoutSources {
  /** Every quota. */
  scan(): Promise<Scan>;
  /** One of them, for the limits that are to be raised. */
  locate(wanted: {
    namespace: string;
    name: string;
    resources: readonly string[];
  }): Promise<TreeAnswer<'locateInTree'>>;
}

/** Runs a command on a checkout; what a person can mend is one sentence on standard error. */
export async function withCheckout(
  { repo, cluster, template }: SourceOptions,
  { io, output, shared }: CommandTools,
  command: (checkout: Checkout, sources: CheckoutSources) => Promise<void>,
  namespaces: readonly string[] = [],
): Promise<void> {
  const name = cluster ?? shared().clusterName;
  const options: ScanOptions = {
    ...(name === undefined ? {} : { cluster: name }),
    ...(template === undefined ? {} : { template }),
    namespaces,
  };
  try {
    if (template !== undefined) parsePathTemplate(template);
    const checkout = readCheckout(resolve(startedIn(io.env), repo));
    await command(checkout, {
      scan: () => answered(checkout, { kind: 'scan', options }),
      locate: (wanted) => answered(checkout, { kind: 'locateInTree', wanted, options }),
    });
  } catch (error) {
    if (!(error instanceof CheckoutError) && !(error instanceof GitPathError)) {
      throw error;
    }
    output.fail(error.message, exitCodes.configuration);
  }
}

/** The documented form of the result, see docs/sources.md. */
function sourcesJson({ quotas, unlocated }: Scan): object {
  return {
    quotas: quotas.map(({ namespace, name, path, line, layout, values, how, notProved }) => ({
      namespace,
      name,
      file: path,
      line,
      layout,
      values: Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, { value: value.text, file: value.path, line: value.line }]),
      ),
      how,
      ...(notProved === undefined ? {} : { notProved }),
    })),
    unplaced: unlocated.map(({ namespace, name, path, line, reason, message, candidates }) => ({
      namespace,
      name,
      file: path,
      line,
      reason,
      message,
      candidates: candidates.map((candidate) => ({
        namespace: candidate.namespace,
        name: candidate.name,
        file: candidate.path,
        line: candidate.line,
      })),
    })),
  };
}

function sourcesTable({ quotas, unlocated }: Scan): string {
  const rows = quotas.flatMap(({ namespace, name, layout, values }) =>
    Object.entries(values).map(([key, { text, path, line }]) => [
      `${namespace}/${name}`,
      key,
      text,
      `${path}:${line}`,
      layout,
    ]),
  );
  const table = columns([['QUOTA', 'RESOURCE', 'VALUE', 'PLACE', 'LAYOUT'], ...rows]);
  const problems = unlocated.map(
    ({ namespace, name, path, line, reason, message }) =>
      `${path}:${line}: ${namespace ?? '?'}/${name ?? '?'}: ${reason}: ${message}`,
  );
  const doubts = quotas.flatMap(({ namespace, name, path, line, notProved }) =>
    notProved === undefined ? [] : [`${path}:${line}: ${namespace}/${name}: ${notProved}`],
  );
  const doubtful = doubts.length === 0 ? [] : ['', `${doubts.length} not proved, which a person merges:`, ...doubts];
  return [
    ...table,
    ...doubtful,
    ...(problems.length === 0 ? [] : ['', `${problems.length} not placed:`, ...problems]),
  ].join('\n');
}

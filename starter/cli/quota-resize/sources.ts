/** `headroom sources`: where the quotas of a checkout live, with no cluster and no configuration. */
import type { Command } from 'commander';
import { GitPathError } from '../../../domain/quota-resize/git/locate/candidate/path-template.ts';
import {
  locateInTree,
  type Scan,
  scanQuotas,
  type ScanOptions,
} from '../../../domain/quota-resize/git/locate/scan/scan.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { answered, type Checkout, CheckoutError, readCheckout } from './checkout.ts';
import { columns } from '../columns.ts';
import { fail, print, type SharedOptions } from '../shared.ts';

interface SourceOptions {
  readonly repo: string;
  readonly cluster?: string;
  readonly template?: string;
}

/** @param shared the options of the whole command line; `--output json` prints the whole result. */
export function addSourcesCommand(program: Command, shared: () => SharedOptions): void {
  withSourceOptions(program.command('sources'))
    .description('the quotas in a local checkout: the file and line of each value, and what cannot be placed')
    .action((options: SourceOptions) =>
      withCheckout(options, shared(), (_checkout, sources) => {
        if (shared().output === 'json') {
          print(sourcesJson(sources.scan()));
        } else {
          console.log(sourcesTable(sources.scan()));
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
  scan(): Scan;
  /** One of them, for the limits that are to be raised. */
  locate(quota: { namespace: string; name: string; resources: readonly string[] }): ReturnType<typeof answerTo>;
}

/** Runs a command on a checkout; what a person can mend is one sentence on standard error. */
export function withCheckout(
  { repo, cluster, template }: SourceOptions,
  { clusterName }: SharedOptions,
  command: (checkout: Checkout, sources: CheckoutSources) => void,
  namespaces: readonly string[] = [],
): void {
  const name = cluster ?? clusterName;
  const options: ScanOptions = {
    ...(name === undefined ? {} : { cluster: name }),
    ...(template === undefined ? {} : { template }),
    namespaces,
  };
  try {
    const checkout = readCheckout(repo);
    const existing: Parameters<typeof scanQuotas>[2] = new Map();
    command(checkout, {
      scan: () => answered(checkout, (tree) => scanQuotas(tree, options, existing)),
      locate: (quota) => answerTo(checkout, quota, options),
    });
  } catch (error) {
    if (!(error instanceof CheckoutError) && !(error instanceof GitPathError)) {
      throw error;
    }
    fail(error.message, exitCodes.configuration);
  }
}

function answerTo(checkout: Checkout, quota: Parameters<CheckoutSources['locate']>[0], options: ScanOptions) {
  return answered(checkout, (tree) => locateInTree(tree, quota, options));
}

/** The documented form of the result, see docs/sources.md. */
function sourcesJson({ quotas, unlocated }: Scan): object {
  return {
    quotas: quotas.map(({ namespace, name, path, line, layout, values, how }) => ({
      namespace,
      name,
      file: path,
      line,
      layout,
      values: Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, { value: value.text, file: value.path, line: value.line }]),
      ),
      how,
    })),
    unlocated: unlocated.map(({ namespace, name, path, line, reason, message, candidates }) => ({
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
  return [...table, ...(problems.length === 0 ? [] : ['', `${problems.length} not placed:`, ...problems])].join('\n');
}

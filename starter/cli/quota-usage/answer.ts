/** Reads the cluster and prints what `headroom usage` was asked for. */
import type { Config } from '../../config.ts';
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import { CommandFailed, fail, print, type SharedOptions } from '../shared.ts';
import type { UsageArgument } from './argument.ts';
import { readingFailure } from '../cluster.ts';
import { connectCounting } from './cluster.ts';
import { type Comparison, compareQuotas } from './compare.ts';
import { comparisonText } from './comparison-text.ts';
import { namespaceText } from './namespace-text.ts';
import { overviewText } from './overview-text.ts';
import { namespaceUsageOf, overviewOf } from './report.ts';
import { terminalOf } from '../terminal.ts';

const RIGHTS = 'headroom usage reads with your own rights, listed in docs/quota-usage.md';

/** How the question is put. */
interface UsageQuestion {
  readonly allResources?: boolean;
  readonly diff?: boolean;
  readonly output: SharedOptions['output'];
}

/**
 * Prints what was asked for. What the command line got wrong is a sentence, and so is what the cluster does not let one see.
 *
 * @param argument null for the whole cluster.
 */
export async function answerUsage(
  config: Config,
  argument: UsageArgument | null,
  { allResources = false, diff = false, output }: UsageQuestion,
): Promise<void> {
  const terminal = terminalOf(process.stdout, process.env);
  const show = <T>(value: T, text: (value: T) => string): void => {
    if (output === 'json') print(value);
    else process.stdout.write(text(value));
  };
  try {
    const cluster = connectCounting(config);
    if (diff) {
      const comparison = await compareQuotas(cluster, argument);
      show(comparison, (value) => comparisonText(value, terminal));
      process.exitCode = comparisonCode(comparison);
    } else if (argument === null) {
      show(await overviewOf(cluster), (value) => overviewText(value, allResources, terminal));
    } else {
      show(await namespaceUsageOf(cluster, argument), (value) => namespaceText(value, terminal));
    }
  } catch (error) {
    const failure = readingFailure(error, RIGHTS);
    // As diff(1): 1 is a difference, and 2 that nothing could be compared.
    if (diff && failure instanceof CommandFailed) fail(failure.message, exitCodes.configuration);
    else throw failure;
  }
}

/** 1 where a status is wrong, 2 where nothing is and something could not be counted, else 0. */
function comparisonCode({ wrong, unmeasured }: Comparison): number {
  if (wrong.length > 0) return exitCodes.failed;
  return unmeasured.length > 0 ? exitCodes.configuration : exitCodes.stopped;
}

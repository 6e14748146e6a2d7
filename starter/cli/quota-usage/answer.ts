/** Reads the cluster and prints what `headroom usage` was asked for. */
import { exitCodes } from '../../../platform/process/exit-codes.ts';
import type { CommandTools, LoadedConfig } from '../controller.ts';
import { CommandFailed } from '../shared.ts';
import type { UsageArgument } from './argument.ts';
import { readingFailure, withCluster } from '../cluster.ts';
import { counting } from './cluster.ts';
import { type Comparison, compareQuotas } from './compare.ts';
import { comparisonText } from './comparison-text.ts';
import { namespaceText } from './namespace-text.ts';
import { overviewText } from './overview-text.ts';
import { namespaceUsageOf, overviewOf } from './report.ts';

const RIGHTS = 'headroom usage reads with your own rights, listed in docs/quota-usage.md';

/** How the question is put. */
interface UsageQuestion {
  readonly allResources?: boolean;
  readonly diff?: boolean;
}

/**
 * Prints what was asked for. What the command line got wrong is a sentence, and so is what the cluster does not let one see.
 *
 * @param argument null for the whole cluster.
 */
export async function answerUsage(
  loaded: LoadedConfig,
  argument: UsageArgument | null,
  { allResources = false, diff = false }: UsageQuestion,
  { output, shared }: CommandTools,
): Promise<void> {
  const { terminal } = output;
  const show = <T>(value: T, text: (value: T) => string): void => {
    if (shared().output === 'json') output.json(value);
    else output.text(text(value));
  };
  try {
    await withCluster(loaded, async (connected) => {
      const cluster = counting(connected);
      if (diff) {
        const comparison = await compareQuotas(cluster, argument);
        show(comparison, (value) => comparisonText(value, terminal));
        output.endWith(comparisonCode(comparison));
      } else if (argument === null) {
        show(await overviewOf(cluster), (value) => overviewText(value, allResources, terminal));
      } else {
        show(await namespaceUsageOf(cluster, argument), (value) => namespaceText(value, terminal));
      }
    });
  } catch (error) {
    const failure = readingFailure(error, RIGHTS);
    // As diff(1): 1 is a difference, and 2 that nothing could be compared.
    if (diff && failure instanceof CommandFailed) output.fail(failure.message, exitCodes.configuration);
    else throw failure;
  }
}

/** 1 where a status is wrong, 2 where nothing is and something could not be counted, else 0. */
function comparisonCode({ wrong, unmeasured }: Comparison): number {
  if (wrong.length > 0) return exitCodes.failed;
  return unmeasured.length > 0 ? exitCodes.configuration : exitCodes.stopped;
}

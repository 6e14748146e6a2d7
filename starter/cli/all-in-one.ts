import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { ConfigSources } from '../../platform/config/config.ts';
import { exitCodes } from '../../platform/process/exit-codes.ts';
import type { Output } from './output.ts';

/** It brings Temporal's native library, which no other command needs. */
const NOT_ALONE =
  'This file does not contain all-in-one. Run headroom from the folder dist that npm run build writes, or from the image.';

/** The name of the command. */
export const ALL_IN_ONE = 'all-in-one';

/**
 * `headroom all-in-one`: worker and starter in this process, until it is stopped.
 *
 * @param sourcesWith the sources of the configuration with further flags.
 */
export function addAllInOneCommand(
  program: Command,
  output: Output,
  sourcesWith: (flags: readonly string[]) => ConfigSources,
): void {
  program
    .command(ALL_IN_ONE)
    .description('run worker and starter in one process, to try Headroom on a small cluster')
    .argument('[flags...]', 'settings, as the worker and the starter take them; --help lists them')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (flags: readonly string[]) => {
      const file = new URL('all-in-one.js', import.meta.url);
      if (!existsSync(file)) return output.fail(NOT_ALONE, exitCodes.failed);
      const { env, argv } = sourcesWith(flags);
      Object.assign(process.env, env);
      process.argv.splice(2, Infinity, ...argv);
      // A program beside this one: no other command is to load a worker.
      const program = (await import(file.href)) as { readonly start: () => void };
      program.start();
    });
}

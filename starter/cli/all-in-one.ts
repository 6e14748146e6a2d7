import type { Command } from 'commander';
import type { ConfigSources } from '../../platform/config/config.ts';

/**
 * `headroom all-in-one`: worker and starter in this process, until it is stopped.
 *
 * @param sourcesWith the sources of the configuration with further flags.
 */
export function addAllInOneCommand(program: Command, sourcesWith: (flags: readonly string[]) => ConfigSources): void {
  program
    .command('all-in-one')
    .description('run worker and starter in one process, to try Headroom on a small cluster')
    .argument('[flags...]', 'settings, as the worker and the starter take them; --help lists them')
    .allowUnknownOption()
    .helpOption(false)
    .action(async (flags: readonly string[]) => {
      const { env, argv } = sourcesWith(flags);
      Object.assign(process.env, env);
      process.argv.splice(2, Infinity, ...argv);
      // A program beside this one: no other command is to load a worker.
      const file = new URL('all-in-one.js', import.meta.url);
      const program = (await import(file.href)) as { readonly start: () => void };
      program.start();
    });
}

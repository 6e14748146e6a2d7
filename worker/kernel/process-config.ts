import { type Config, loadConfig } from './config.ts';
import { ConfigError } from './config-problem.ts';
import { configurationHelp } from './config-table.ts';
import { exitCodes } from './exit-codes.ts';

/**
 * The configuration of this process, from its environment and its arguments. `--help` prints what may be set and ends the
 * process; a configuration that is not usable ends it with every problem on standard error.
 */
export function readProcessConfig(program: 'worker' | 'starter', argv = process.argv.slice(2)): Config {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(`${configurationHelp(program)}\n`);
    process.exit(exitCodes.stopped);
  }
  try {
    return loadConfig({ env: process.env, argv, writesToGitHub: program === 'worker' });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(exitCodes.configuration);
  }
}

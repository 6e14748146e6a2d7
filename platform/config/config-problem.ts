import type { ConfigProblem } from '../../domain/kernel/settings/setting.ts';
import { scrub } from '../log/redaction.ts';

/**
 * The configuration is invalid; the message lists all problems, one per line. Texts that look like credentials are
 * removed, in case a token was written into the wrong variable.
 */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
    const lines = problems.map((problem) => `  - ${problem.where}: ${problem.message}`);
    super(scrub([`The configuration has ${count}:`, ...lines].join('\n')));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** @throws {ConfigError} for controllers that the arguments name and the configuration has off: nothing of them would run. */
export function refuseSwitchedOff(controllers: readonly string[]): void {
  if (controllers.length === 0) return;
  throw new ConfigError(
    controllers.map((name) => ({
      where: `"${name}"`,
      message: 'is not switched on: switch it on in the configuration, or leave it out of the arguments',
    })),
  );
}

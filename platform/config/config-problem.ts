import type { ConfigProblem } from '../../domain/kernel/settings/setting.ts';
import { scrub } from '../log/redaction.ts';

/**
 * The configuration is not usable; the message has all its problems, one a line. Nothing with the form of a credential
 * is in it, even where a token was written into the wrong variable.
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

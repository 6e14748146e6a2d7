import { scrub } from '../log/redaction.ts';

/** A value as a user wrote it, and where. */
export interface WrittenValue {
  readonly text: string;
  /** The name that the user used: the environment variable, the flag, or the path in the file. */
  readonly where: string;
  /** `environment`, `command line`, or the file with its line. */
  readonly layer: string;
}

/** One thing that is wrong with the configuration. */
export interface ConfigProblem {
  /** The name that the user used, with its layer where the name does not tell it. */
  readonly where: string;
  readonly message: string;
}

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

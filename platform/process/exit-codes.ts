/** The exit codes of processes and commands; docs/command-line.md has them in one table. */
export const exitCodes = {
  /** Stopped on request, in time. */
  stopped: 0,
  /** An unhandled error, which was logged. */
  failed: 1,
  /** The configuration is invalid or names something that does not exist; a restart does not help. */
  configuration: 2,
  /** Stopped on request, but something did not end within the grace time. */
  graceExceeded: 3,
  /** A command found nothing wrong, and could not look at everything. */
  incomplete: 4,
} as const;

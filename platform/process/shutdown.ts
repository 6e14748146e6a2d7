import { constants } from 'node:os';
import { exitCodes } from './exit-codes.ts';
import type { Log } from '../log/log.ts';

export interface ShutdownOptions {
  readonly log: Log;
  /** The time limit for all steps together, in milliseconds. */
  readonly graceMs: number;
}

/** The shutdown of a process. */
export interface Shutdown {
  /** Aborted as soon as the process begins to stop. */
  readonly signal: AbortSignal;
  /** Adds a step. Steps run in sequence, the last added first: parts that depend on others stop before them. */
  readonly onStop: (name: string, step: () => Promise<void> | void) => void;
  /** Begins to stop for a reason other than a signal. With an error the exit code is 1. */
  readonly stop: (reason: string, error?: unknown) => void;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

// Ctrl-C sends a signal to all processes of the terminal's group, and npm forwards it to its child as well: two signals
// for one request.
const SAME_WISH_MS = 500;

/**
 * Handles SIGTERM, SIGINT and unhandled errors. The first one stops the process in order: the signal is aborted, the
 * steps run, and the exit code is 0, 1 after an error (including a failed step), or 3 when the grace time was not
 * enough. A second signal, unless it directly follows the first, ends the process at once with 128 + its number.
 */
export function installShutdown({ log, graceMs }: ShutdownOptions): Shutdown {
  const controller = new AbortController();
  const steps: { readonly name: string; readonly run: () => Promise<void> | void }[] = [];
  let failed = false;
  let inProgress = 'nothing';

  const runStepsAndExit = async (): Promise<never> => {
    for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
      inProgress = step.name;
      log.debug({ step: step.name }, `stopping: ${step.name}`);
      try {
        await step.run();
      } catch (error) {
        failed = true;
        log.error({ step: step.name, err: error }, `could not stop in order: ${step.name}`);
      }
    }
    log.info(failed ? 'stopped after an error' : 'stopped');
    process.exit(failed ? exitCodes.failed : exitCodes.stopped);
  };

  const stop = (reason: string, error?: unknown): void => {
    if (error !== undefined) {
      failed = true;
      log.error({ err: error }, reason);
    }
    if (controller.signal.aborted) return;
    log.info({ graceMs }, `stopping: ${reason}`);
    controller.abort(new Error(`stopping: ${reason}`));
    setTimeout(() => {
      log.error({ graceMs, step: inProgress }, `did not stop within ${graceMs} ms: ${inProgress} is not done`);
      process.exit(exitCodes.graceExceeded);
    }, graceMs);
    void runStepsAndExit();
  };

  let firstSignalAt: number | undefined;
  for (const name of SIGNALS) {
    process.on(name, () => {
      firstSignalAt ??= performance.now();
      if (controller.signal.aborted) {
        if (performance.now() - firstSignalAt < SAME_WISH_MS) return;
        log.warn(`${name} again: stopping at once`);
        process.exit(128 + constants.signals[name]);
      }
      stop(name);
    });
  }
  // Node turns an unhandled rejection into an uncaught exception, so this handles both.
  process.on('uncaughtException', (error) => {
    const { reason } = controller.signal;
    // Waits that end because the process stops are no failure.
    if (controller.signal.aborted && (error === reason || error.cause === reason)) return;
    stop('an error that nothing handled', error);
  });

  return {
    signal: controller.signal,
    onStop: (name, run) => {
      steps.push({ name, run });
    },
    stop,
  };
}

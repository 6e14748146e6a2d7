import { constants } from 'node:os';
import { exitCodes } from './exit-codes.ts';
import type { Log } from '../log/log.ts';

export interface ShutdownOptions {
  readonly log: Log;
  /** How long all steps together may take, in milliseconds. */
  readonly graceMs: number;
}

/** The one way in which a process ends. */
export interface Shutdown {
  /** Aborted as soon as the process is to stop. */
  readonly signal: AbortSignal;
  /** Adds a step. Steps run one after the other, the last one added first: what was built on others goes before them. */
  readonly onStop: (name: string, step: () => Promise<void> | void) => void;
  /** Begins to stop, for a reason other than a signal. An error makes the exit code 1. */
  readonly stop: (reason: string, error?: unknown) => void;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

// Ctrl-C reaches every process of the terminal's group, and npm hands it on to its child as well: one wish, two signals.
const SAME_WISH_MS = 500;

/**
 * Takes over SIGTERM, SIGINT and errors that nothing handled. The first one ends the process in order: the signal is
 * aborted, the steps run, and the exit code is 0, 1 after an error (a failed step counts), or 3 when the grace was not
 * enough. A second signal, unless it comes with the first, ends it at once, with 128 + its number.
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
  // Node turns an unhandled rejection into an uncaught exception, so it comes here, too.
  process.on('uncaughtException', (error) => {
    const { reason } = controller.signal;
    // Whatever was waiting when the process was told to stop ends with this reason; that is no failure.
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

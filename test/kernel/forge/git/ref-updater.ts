import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { gitEnvironment } from './command.ts';

/** A ref did not have the value that the update expected. */
export class RefMovedError extends Error {}

// What `git update-ref --stdin` says to the four lines of one transaction.
const DONE = 'start: ok\nprepare: ok\ncommit: ok\n';

/**
 * A `git update-ref --stdin` that stays alive, so that moving a ref costs no process start. Each update is a transaction
 * of its own, and they run one after the other. Git ends the process when a transaction fails; the next one starts it
 * again.
 */
export class RefUpdater {
  readonly #gitDir: string;
  #child: ChildProcessWithoutNullStreams | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(gitDir: string) {
    this.#gitDir = gitDir;
  }

  /**
   * Runs one command of `git update-ref --stdin`, such as `update REF NEW OLD`.
   * @throws RefMovedError when git refuses it: the ref has another value, or its name is in the way of another
   */
  run(command: string): Promise<void> {
    const mine = this.#last.then(() => this.#transaction(command));
    this.#last = mine.catch(() => {});
    return mine;
  }

  async close(): Promise<void> {
    await this.#last;
    const child = this.#child;
    if (!child) return;
    await new Promise<void>((resolve) => {
      child.on('close', () => resolve());
      child.stdin.end();
    });
  }

  #transaction(command: string): Promise<void> {
    const child = (this.#child ??= this.#start());
    return new Promise((resolve, reject) => {
      let stdout = '';
      let stderr = '';
      const onOutput = (chunk: Buffer): void => {
        stdout += chunk.toString();
        if (stdout === DONE) finish();
      };
      const onComplaint = (chunk: Buffer): void => {
        stderr += chunk.toString();
      };
      const onClose = (): void => {
        finish(new RefMovedError(`git did not ${command}: ${stderr.trim()}`));
      };
      const finish = (failure?: Error): void => {
        child.stdout.off('data', onOutput);
        child.stderr.off('data', onComplaint);
        child.off('close', onClose);
        if (failure) reject(failure);
        else resolve();
      };
      child.stdout.on('data', onOutput);
      child.stderr.on('data', onComplaint);
      child.on('close', onClose);
      child.stdin.write(`start\n${command}\nprepare\ncommit\n`);
    });
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawn('git', ['--git-dir', this.#gitDir, 'update-ref', '--stdin'], {
      env: gitEnvironment(),
      stdio: 'pipe',
    });
    child.stdin.on('error', () => {});
    // A process that could not be started closes as well.
    child.on('error', () => {});
    child.on('close', () => {
      if (this.#child === child) this.#child = undefined;
    });
    return child;
  }
}

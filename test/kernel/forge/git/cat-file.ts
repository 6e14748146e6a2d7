import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { gitEnvironment } from './command.ts';

/** One object of the repository as `git cat-file` answers it. */
export interface GitObject {
  readonly sha: string;
  readonly type: string;
  readonly size: number;
  /** Empty when only the header was asked for. */
  readonly content: Buffer;
}

interface Waiting {
  resolve(object: GitObject | undefined): void;
  reject(cause: Error): void;
}

/**
 * A `git cat-file` that stays alive and answers one question after the other, so that reading an object or resolving a
 * name costs no process start. Names may be SHAs, refs, or any revision without white space.
 */
export class CatFile {
  readonly #mode: '--batch' | '--batch-check';
  readonly #gitDir: string;
  readonly #waiting: Waiting[] = [];
  #child: ChildProcessWithoutNullStreams | undefined;
  #chunks: Buffer[] = [];
  #buffered = 0;
  #wanted = 0;

  constructor(gitDir: string, mode: '--batch' | '--batch-check') {
    this.#gitDir = gitDir;
    this.#mode = mode;
  }

  /** The object that a name stands for, or undefined when there is none. */
  async read(name: string): Promise<GitObject | undefined> {
    // White space would end the question early, and what follows would be taken for another one.
    if (name === '' || /[\s\0]/.test(name)) return undefined;
    const child = (this.#child ??= this.#start());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      child.stdin.write(`${name}\n`);
    });
  }

  /** Ends the process; questions still open are rejected. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    await new Promise<void>((resolve) => {
      child.on('close', () => resolve());
      child.stdin.end();
    });
  }

  #start(): ChildProcessWithoutNullStreams {
    const child = spawn('git', ['--git-dir', this.#gitDir, 'cat-file', this.#mode], {
      env: gitEnvironment(),
      stdio: 'pipe',
    });
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    child.stderr.resume();
    child.stdin.on('error', () => {});
    const ended = (): void => {
      if (this.#child !== child) return;
      this.#child = undefined;
      this.#chunks = [];
      this.#buffered = 0;
      this.#wanted = 0;
      for (const question of this.#waiting.splice(0))
        question.reject(new Error(`git cat-file in ${this.#gitDir} ended`));
    };
    child.on('error', ended);
    child.on('close', ended);
    return child;
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#buffered += chunk.length;
    // A large blob comes in many chunks: they are joined once there are enough of them.
    if (this.#buffered < this.#wanted) return;
    let buffer = Buffer.concat(this.#chunks);
    for (;;) {
      const end = buffer.indexOf(10);
      if (end < 0) {
        this.#wanted = 0;
        break;
      }
      const header = buffer.toString('utf8', 0, end);
      const found = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(header);
      let next = end + 1;
      let object: GitObject | undefined;
      if (found) {
        const [, sha = '', type = '', length = '0'] = found;
        const size = Number(length);
        if (this.#mode === '--batch') {
          next = end + 1 + size + 1;
          if (buffer.length < next) {
            this.#wanted = next;
            break;
          }
          object = { sha, type, size, content: Buffer.from(buffer.subarray(end + 1, end + 1 + size)) };
        } else {
          object = { sha, type, size, content: Buffer.alloc(0) };
        }
      }
      buffer = buffer.subarray(next);
      this.#waiting.shift()?.resolve(object);
    }
    this.#chunks = buffer.length > 0 ? [buffer] : [];
    this.#buffered = buffer.length;
  }
}

import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ReaperReport, ReaperRequest } from './reaper-protocol.ts';

/** How a process ended: one of the two is null. */
interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ProcessOptions {
  /** What messages call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  /** Added to `process.env`; undefined takes a variable away. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The user and group to run as, where this program is root. */
  readonly uid?: number | undefined;
  /** Standard output and error are appended here. */
  readonly logFile: string;
}

/** A process that does not outlive the program that started it. While it runs, the program's event loop stays up. */
export interface SupervisedProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  /** Settles when the process has ended, for any reason. Never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** How it ended, or undefined while it runs. */
  exit: () => ProcessExit | undefined;
  /** Sends a signal to the process alone. */
  signal: (signal: NodeJS.Signals) => void;
  /** SIGKILL to the process and all that it started, and waits for the end. */
  kill: () => Promise<ProcessExit>;
  /** SIGTERM, then SIGKILL after `graceMilliseconds` (10,000); waits for the end. */
  stop: (graceMilliseconds?: number) => Promise<ProcessExit>;
}

/**
 * Starts a process that is ended, at the latest, when this program ends: normally, by Ctrl-C, by an exception, by SIGKILL.
 * @throws Error when the command cannot be started.
 */
export async function startProcess(options: ProcessOptions): Promise<SupervisedProcess> {
  const reaper = await runningReaper();
  return reaper.start(options);
}

/** A new empty folder that is removed, at the latest, when this program ends in whatever way. */
export async function temporaryDirectory(name: string): Promise<string> {
  const reaper = await runningReaper();
  return mkdtemp(join(reaper.directory, `${name}-`));
}

/** The end of a process's log, for a message that explains why it did not do what was expected. */
export async function logTail(logFile: string, lines = 15): Promise<string> {
  const text = await readFile(logFile, 'utf8').catch(() => '');
  return text.trimEnd().split('\n').slice(-lines).join('\n');
}

let reaperOfThisProgram: Promise<Reaper> | undefined;

function runningReaper(): Promise<Reaper> {
  reaperOfThisProgram ??= Reaper.launch().catch((error: unknown) => {
    // One that could not be started once is no reason for every later one to fail.
    reaperOfThisProgram = undefined;
    throw error;
  });
  return reaperOfThisProgram;
}

interface Supervised {
  readonly started: (pid: number) => void;
  readonly failed: (error: Error) => void;
  readonly exited: (exit: ProcessExit) => void;
}

/** This program's side of the channel to its reaper. */
class Reaper {
  readonly directory: string;
  readonly #channel: ChildProcess;
  readonly #processes = new Map<number, Supervised>();
  #lastId = 0;

  private constructor(channel: ChildProcess, directory: string) {
    this.#channel = channel;
    this.directory = directory;
    channel.on('message', (report: ReaperReport) => {
      this.#receive(report);
    });
    channel.once('exit', () => {
      // Its children may live on, but nobody can say so any more: better a loud failure than a silent leftover.
      reaperOfThisProgram = undefined;
      for (const supervised of this.#processes.values()) {
        supervised.failed(new Error('the reaper of the test servers ended; see whether something killed it'));
        supervised.exited({ code: null, signal: 'SIGKILL' });
      }
      this.#processes.clear();
    });
    this.#holdEventLoop();
  }

  static async launch(): Promise<Reaper> {
    const channel = fork(new URL('./reaper.ts', import.meta.url), [], {
      detached: true,
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const directory = await new Promise<string>((resolve, reject) => {
      channel.once('message', (report: ReaperReport) => {
        if (report.type === 'ready') {
          resolve(report.directory);
        }
      });
      channel.once('error', reject);
      channel.once('exit', (code) => {
        reject(new Error(`the reaper of the test servers ended with ${code} before it was ready`));
      });
    });
    return new Reaper(channel, directory);
  }

  async start(options: ProcessOptions): Promise<SupervisedProcess> {
    this.#lastId += 1;
    const id = this.#lastId;
    let exit: ProcessExit | undefined;
    let onExit: (exit: ProcessExit) => void = () => {};
    const exited = new Promise<ProcessExit>((resolve) => {
      onExit = resolve;
    });
    const pid = await new Promise<number>((resolve, reject) => {
      this.#processes.set(id, {
        started: resolve,
        failed: (error) => {
          reject(new Error(`${options.name} could not be started: ${error.message}`, { cause: error }));
        },
        exited: (how) => {
          exit = how;
          onExit(how);
        },
      });
      this.#holdEventLoop();
      this.#request({
        type: 'start',
        id,
        command: options.command,
        args: options.args,
        cwd: options.cwd,
        uid: options.uid,
        env: { ...process.env, ...options.env },
        logFile: options.logFile,
      });
    });
    const signal = (name: NodeJS.Signals, wholeGroup: boolean) => {
      if (exit === undefined) {
        this.#request({ type: 'signal', id, signal: name, wholeGroup });
      }
    };
    const kill = () => {
      signal('SIGKILL', true);
      return exited;
    };
    return {
      name: options.name,
      pid,
      logFile: options.logFile,
      exited,
      exit: () => exit,
      signal: (name) => {
        signal(name, false);
      },
      kill,
      stop: async (graceMilliseconds = 10_000) => {
        signal('SIGTERM', false);
        const patience = new AbortController();
        const grace = delay(graceMilliseconds, undefined, { signal: patience.signal }).then(kill, () => exited);
        const how = await Promise.race([exited, grace]);
        patience.abort();
        return how;
      },
    };
  }

  #request(request: ReaperRequest): void {
    // A reaper that has ended meanwhile answers nothing; what it had started is told by its end.
    this.#channel.send(request, (error) => {
      if (error !== null && request.type === 'start') {
        this.#receive({ type: 'failed', id: request.id, message: error.message });
      }
    });
  }

  #receive(report: ReaperReport): void {
    if (report.type === 'ready') {
      return;
    }
    const supervised = this.#processes.get(report.id);
    if (report.type === 'started') {
      supervised?.started(report.pid);
      return;
    }
    this.#processes.delete(report.id);
    this.#holdEventLoop();
    if (report.type === 'failed') {
      supervised?.failed(new Error(report.message));
    } else {
      supervised?.exited({ code: report.code, signal: report.signal });
    }
  }

  /** As with a child process of one's own: the program stays up as long as one of them runs, and no longer. */
  #holdEventLoop(): void {
    if (this.#processes.size > 0) {
      this.#channel.ref();
      this.#channel.channel?.ref();
    } else {
      this.#channel.unref();
      this.#channel.channel?.unref();
    }
  }
}

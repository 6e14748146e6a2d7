import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';

/** What a shell says of a program that the signal ended: 128 and its number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Ending = keyof typeof EXIT_CODES;
/** After it, whoever has not ended by itself is ended; the servers of tests end with the processes that started them. */
const GRACE_MS = 10_000;

let endedBy: Ending | undefined;
let running: number | undefined;

/** Sends a signal to the running command and all that it started: it has a process group of its own. */
function signalGroup(signal: NodeJS.Signals): void {
  if (running === undefined) return;
  try {
    process.kill(-running, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** From now on a signal to this program ends the running command, with all that it started. */
export function passSignalsOn(): void {
  // One that is sent to this program alone would leave the tests running, and what they had done until then is still summed up.
  for (const signal of Object.keys(EXIT_CODES) as Ending[]) {
    process.on(signal, () => {
      if (endedBy !== undefined) return signalGroup('SIGKILL');
      endedBy = signal;
      signalGroup(signal);
      setTimeout(() => signalGroup('SIGKILL'), GRACE_MS).unref();
    });
  }
}

/** The exit code of a program that a signal asked to end; undefined as long as none did. */
export function signalExitCode(): number | undefined {
  return endedBy === undefined ? undefined : EXIT_CODES[endedBy];
}

/**
 * Runs a command, shows what it prints, and keeps that in a file; its exit code, or null when it could not run or a signal
 * ended it. One at a time.
 */
export function run(
  command: string,
  args: readonly string[],
  { env = {}, logFile }: { readonly env?: NodeJS.ProcessEnv; readonly logFile?: string } = {},
): Promise<number | null> {
  return new Promise((resolve) => {
    // Nobody reads from the terminal: a process group in the background would be stopped for it.
    const output = logFile === undefined ? 'inherit' : 'pipe';
    const colour = output === 'pipe' && process.stdout.isTTY ? { FORCE_COLOR: '1' } : {};
    const child = spawn(command, args, {
      stdio: ['ignore', output, output],
      detached: true,
      env: { ...process.env, ...colour, ...env },
    });
    running = child.pid;
    if (logFile !== undefined) keepOutput(child, logFile);
    child.once('error', (error) => {
      console.error(`${command} could not be started: ${error.message}`);
      resolve(null);
    });
    child.once('close', (code) => {
      // What it started and left behind, such as the worker of a vitest that was killed.
      if (endedBy !== undefined) signalGroup('SIGKILL');
      running = undefined;
      resolve(code);
    });
  });
}

function keepOutput(child: ChildProcess, logFile: string): void {
  const log = createWriteStream(logFile);
  child.stdout?.on('data', (text: Buffer) => {
    process.stdout.write(text);
    log.write(text);
  });
  child.stderr?.on('data', (text: Buffer) => {
    process.stderr.write(text);
    log.write(text);
  });
  child.once('close', () => log.end());
}

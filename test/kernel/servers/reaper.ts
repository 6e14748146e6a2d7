import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReaperReport, ReaperRequest } from './reaper-protocol.ts';

/**
 * The reaper: a process that starts the servers for a program, and that ends them and removes their files when the program
 * ends in whatever way, because the kernel then closes the channel between the two.
 *
 * The servers are the reaper's own children, so no moment exists in which a server runs and nobody is bound to end it, and
 * a process id that was reused by a stranger is never signalled. The reaper runs in a session of its own: Ctrl-C in a
 * terminal reaches the program, not the servers, so that the program can still use them while it shuts down.
 */

const children = new Map<number, ChildProcess>();
const directory = mkdtempSync(join(tmpdir(), 'headroom-'));
let ending = false;

function report(message: ReaperReport): void {
  if (process.connected) {
    process.send?.(message);
  }
}

function start(request: Extract<ReaperRequest, { type: 'start' }>): void {
  const { id } = request;
  try {
    const log = openSync(request.logFile, 'a');
    // A process group of its own, so that what the server starts can be ended with it.
    const child = spawn(request.command, request.args, {
      cwd: request.cwd,
      env: request.env,
      ...(request.uid === undefined ? {} : { uid: request.uid, gid: request.uid }),
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    if (child.pid !== undefined) {
      // At once, not on a later event: the program may end in between.
      children.set(id, child);
      report({ type: 'started', id, pid: child.pid });
    }
    child.once('error', (error) => {
      report({ type: 'failed', id, message: error.message });
    });
    child.once('exit', (code, signal) => {
      signalGroup(child, 'SIGKILL'); // what it started and left behind
      children.delete(id);
      report({ type: 'exited', id, code, signal });
      endWhenAlone();
    });
  } catch (error) {
    report({ type: 'failed', id, message: error instanceof Error ? error.message : String(error) });
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) {
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    const gone = error instanceof Error && 'code' in error && error.code === 'ESRCH';
    if (!gone) {
      throw error;
    }
  }
}

function end(): void {
  ending = true;
  for (const child of children.values()) {
    signalGroup(child, 'SIGKILL');
  }
  endWhenAlone();
}

/** The files go last: a server that still runs would write new ones. */
function endWhenAlone(): void {
  if (ending && children.size === 0) {
    void rm(directory, { recursive: true, force: true, maxRetries: 5 }).finally(() => process.exit(0));
  }
}

process.on('message', (request: ReaperRequest) => {
  if (ending) {
    return;
  }
  if (request.type === 'start') {
    start(request);
    return;
  }
  const child = children.get(request.id);
  if (child === undefined) {
    return;
  }
  if (request.wholeGroup) {
    signalGroup(child, request.signal);
  } else {
    child.kill(request.signal);
  }
});
process.once('disconnect', end);
process.once('SIGTERM', end);
report({ type: 'ready', directory });

import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** How often a waiting process asks for the lock again, in milliseconds. A build takes tens of seconds. */
const RETRY_MILLISECONDS = 200;

/** SQLite's result code for "another connection holds the lock". */
const SQLITE_BUSY = 5;

/**
 * Runs `work` while holding a lock that at most one process on this machine has.
 *
 * The lock is an exclusive SQLite transaction on an empty file, which SQLite in turn holds as a file lock of the kernel.
 * The kernel gives it back when its holder ends in any way, SIGKILL included, so there is no stale lock to recognise:
 * a file with a process id in it can be stale, misread, or taken from its new owner by a second process that waits too.
 *
 * @param file where the lock lives; its folder must exist. The file stays.
 * @param onWait called once if somebody else holds the lock.
 */
export async function withBuildLock<Result>(
  file: string,
  onWait: () => void,
  work: () => Promise<Result>,
): Promise<Result> {
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    for (let waits = 0; !tryLock(database); waits += 1) {
      if (waits === 0) {
        onWait();
      }
      await delay(RETRY_MILLISECONDS);
    }
    return await work();
  } finally {
    database.close();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) {
      return false;
    }
    throw error;
  }
}

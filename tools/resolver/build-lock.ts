import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';

/** How often a waiting process asks for the lock again, in milliseconds. A build takes tens of seconds. */
const RETRY_MILLISECONDS = 200;

/** SQLite's result code for "another connection holds the lock". */
const SQLITE_BUSY = 5;

/**
 * Runs `work` while holding a lock that at most one process on this machine has.
 *
 * The lock is an exclusive SQLite transaction on an empty file, for which SQLite holds a file lock of the kernel. The
 * kernel releases it when its holder ends in any way, including SIGKILL, so there is no stale lock to detect. A file
 * with a process id could be stale, misread, or taken from its new owner by a second waiting process.
 *
 * @param file the lock file; its folder must exist. The file stays.
 * @param onWait called once if another process holds the lock.
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

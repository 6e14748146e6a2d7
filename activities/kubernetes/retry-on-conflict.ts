import { failure } from '../kernel/failure.ts';
import { statusCode } from './failure.ts';

/** A write that lost against another one reads again and tries again, this often in one attempt of an activity. */
const WRITE_ATTEMPTS = 5;

/**
 * Reads and writes an object until no other write came in between.
 *
 * @param what the object, for the message of the failure.
 * @throws {ApplicationFailure} KubernetesUnavailable when others were faster every time.
 */
export async function retryOnConflict<T>(what: string, readAndWrite: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readAndWrite();
    } catch (error) {
      if (statusCode(error) !== 409) throw error;
      if (attempt < WRITE_ATTEMPTS) continue;
      throw failure({
        type: 'KubernetesUnavailable',
        message: `${what} was changed by others ${WRITE_ATTEMPTS} times in a row while it was being written`,
        cause: error as Error,
      });
    }
  }
}

import { failure } from '../kernel/failure.ts';
import { statusCode } from './failure.ts';

/** How often an attempt of an activity repeats a write after a conflict. */
const WRITE_ATTEMPTS = 5;

/**
 * Reads and writes an object until there is no conflict.
 *
 * @param what the object, for the message of the failure.
 * @throws {ApplicationFailure} KubernetesUnavailable when all attempts had conflicts.
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

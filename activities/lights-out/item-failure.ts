import { ApiException } from '@kubernetes/client-node';
import { apiMessage } from '../kubernetes/failure.ts';
import { SetBack } from './write-object.ts';

/** Answers that say nothing of the object: the credentials are refused, too much is asked, the server is starting. */
const OF_THE_SERVER = new Set([401, 429, 503]);

/**
 * Why one workload could not be written, in the API server's own words; null where the error is about the server as a whole,
 * so that everything is to be tried again. An admission webhook answers with any code it likes, and what it denies is one
 * workload's matter.
 */
export function itemFailure(error: unknown): string | null {
  if (error instanceof ApiException) {
    const message = apiMessage(error);
    const isDenied = message?.includes('denied the request') === true;
    if (OF_THE_SERVER.has(error.code) && !isDenied) return null;
    return message ?? `the Kubernetes API answered ${error.code} without a message`;
  }
  if (error instanceof SetBack) return error.message;
  // One request may be slow because of a webhook; a server that is away does not even take the connection.
  if (error instanceof Error && error.name === 'TimeoutError') return 'the Kubernetes API did not answer in time';
  return null;
}

import { ApiException } from '@kubernetes/client-node';
import { apiMessage } from '../kubernetes/failure.ts';
import { UnscaledOwner } from './owners.ts';
import { SetBack } from './write-object.ts';

/**
 * Responses that say nothing about the object: the credentials are rejected, the server limits requests, or it is
 * starting.
 */
const OF_THE_SERVER = new Set([401, 429, 503]);

/**
 * Why one workload could not be written, in the API server's words; null when the error concerns the whole server, so
 * that everything is tried again. An admission webhook may respond with any code, and its denial concerns only one
 * workload.
 */
export function itemFailure(error: unknown): string | null {
  if (error instanceof ApiException) {
    const message = apiMessage(error);
    const isDenied = message?.includes('denied the request') === true;
    if (OF_THE_SERVER.has(error.code) && !isDenied) return null;
    return message ?? `the Kubernetes API answered ${error.code} without a message`;
  }
  if (error instanceof SetBack || error instanceof UnscaledOwner) return error.message;
  // A timeout of one request may be caused by a slow webhook; a server that is down does not accept the connection at
  // all.
  if (error instanceof Error && error.name === 'TimeoutError') return 'the Kubernetes API did not answer in time';
  return null;
}

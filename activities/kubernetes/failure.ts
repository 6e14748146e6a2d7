import { ApiException } from '@kubernetes/client-node';
import type { ApplicationFailure } from '@temporalio/common';
import {
  kubernetesMessage,
  type KubernetesStatus,
  readKubernetesStatus,
} from '../../domain/kernel/kubernetes-status.ts';
import { failure } from '../kernel/failure.ts';

/**
 * A missing permission is granted by a person, so asking more often only fills the API server's log; but one that has just
 * started refuses everybody for a moment, until it has read its roles.
 */
const FORBIDDEN_RETRY_MS = 10_000;
/** A missing system namespace is made by a person as well. */
const NOT_FOUND_RETRY_MS = 60_000;

/** The HTTP status of an error of the API server; undefined for every other error. */
export function statusCode(error: unknown): number | undefined {
  return error instanceof ApiException ? error.code : undefined;
}

/** The answer, or null where the object does not exist. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (statusCode(error) === 404) return null;
    throw error;
  }
}

/** Whether a write was refused because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    statusCode(error) === 403 &&
    (statusOf(error).details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}

/** Runs an activity with the API server's errors turned into failures that say who must move. */
export function withKubernetesFailures<A extends unknown[], R>(
  activity: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await activity(...args);
    } catch (error) {
      throw kubernetesFailure(error);
    }
  };
}

/**
 * The failure of a request to the API server.
 *
 * - no connection, a time-out, 5xx and 429: `KubernetesUnavailable`, retried (429 and 503 after the server's Retry-After);
 * - 401: `KubernetesUnavailable` too, since an expired token is replaced without us;
 * - 403: `KubernetesForbidden`, retried every ten seconds, so that a corrected role takes effect;
 * - an object that changed under us (409) or a missing system namespace (404): retried;
 * - anything else that the server refuses: `InvalidInput`, not retried.
 *
 * An error that is no answer of the API server is returned as it is.
 */
export function kubernetesFailure(error: unknown): unknown {
  if (!(error instanceof ApiException)) {
    return isConnectionError(error)
      ? unavailable(`the Kubernetes API does not answer: ${connectionReason(error)}`, error)
      : error;
  }
  const answer = statusOf(error).message ?? `HTTP ${error.code}`;
  const { code } = error;
  if (code === 401) {
    const message = `the Kubernetes API refuses the credentials (401): ${answer}; tried again with the credentials as they are then`;
    return unavailable(message, error);
  }
  if (code === 403) {
    const message = `${answer}; one of the roles in deploy/ allows it, see whether it is applied and bound`;
    return failure({ type: 'KubernetesForbidden', message, cause: error, nextRetryDelayMs: FORBIDDEN_RETRY_MS });
  }
  if (code === 429 || code >= 500) {
    const message = `the Kubernetes API cannot answer now (${code}): ${answer}`;
    return unavailable(message, error, retryAfter(error));
  }
  if (code === 404) {
    return unavailable(`not found: ${answer}`, error, NOT_FOUND_RETRY_MS);
  }
  if (code === 409 || code === 410) {
    return unavailable(`the object changed meanwhile (${code}): ${answer}`, error);
  }
  const message = `the Kubernetes API refuses the request (${code}): ${answer}`;
  return failure({ type: 'InvalidInput', message, nonRetryable: true, cause: error });
}

/** Retried, after `retryAfterMs` where the server or the case names a time. */
function unavailable(message: string, cause: Error, retryAfterMs?: number): ApplicationFailure {
  return failure({ type: 'KubernetesUnavailable', message, cause, nextRetryDelayMs: retryAfterMs });
}

/** What the API server said to a request that it refused, in one line; undefined where it said nothing. */
export function apiMessage({ body }: ApiException<unknown>): string | undefined {
  return kubernetesMessage(body);
}

function statusOf(error: unknown): KubernetesStatus {
  return error instanceof ApiException ? readKubernetesStatus(error.body) : {};
}

/** Retry-After in milliseconds; the API server sends whole seconds. */
function retryAfter(error: ApiException<unknown>): number | undefined {
  const seconds = Number(error.headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}

/** fetch throws a TypeError for every broken connection, and the signal's own error for a time-out. */
function isConnectionError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  if (error instanceof TypeError) return error.message === 'fetch failed' || error.message === 'terminated';
  // A token file or an exec plugin that is away for a moment: an error of the operating system.
  return 'syscall' in error;
}

function connectionReason(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

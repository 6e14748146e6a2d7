import { ApiException } from '@kubernetes/client-node';
import type { ApplicationFailure } from '@temporalio/common';
import {
  kubernetesMessage,
  type KubernetesStatus,
  readKubernetesStatus,
} from '../../domain/kernel/kubernetes-status.ts';
import { pauseReason } from '../../domain/kernel/pause.ts';
import { failure } from '../kernel/failure.ts';
import { WritesHeld } from './writes-held.ts';

/**
 * A person has to grant a missing permission, so frequent retries are useless; but an API server that has just started
 * denies everything for a moment, until it has read its roles.
 */
const FORBIDDEN_RETRY_MS = 10_000;

/** The HTTP status of an error of the API server; undefined for every other error. */
export function statusCode(error: unknown): number | undefined {
  return error instanceof ApiException ? error.code : undefined;
}

/** The response, or null when the object does not exist. */
export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (statusCode(error) === 404) return null;
    throw error;
  }
}

/** Whether a write was denied because its namespace is being deleted. */
export function isNamespaceTerminating(error: unknown): boolean {
  return (
    statusCode(error) === 403 &&
    (statusOf(error).details?.causes ?? []).some((cause) => cause.reason === 'NamespaceTerminating')
  );
}

/** Runs an activity and converts the API server's errors to failures that say who has to act. */
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
 * - no connection, a timeout, 5xx and 429: `KubernetesUnavailable`, retried (429 and 503 after the server's
 * Retry-After);
 * - 401: `KubernetesUnavailable` too, because an expired token is replaced without our help;
 * - 403: `KubernetesForbidden`, retried every ten seconds, so that a corrected role takes effect;
 * - a conflict (409), or an object that was deleted between the read and the write (404): retried soon, as the next attempt
 * reads what is there now;
 * - any other rejection by the server: `InvalidInput`, not retried;
 * - a write that was not sent (`WritesHeld`): that of a pause of everything, which a workflow waits out.
 *
 * An error that is not a response of the API server is returned unchanged.
 */
export function kubernetesFailure(error: unknown): unknown {
  if (error instanceof WritesHeld) {
    const { pause, message } = error;
    return failure({ type: pauseReason(pause), nonRetryable: true, message, details: [pause], cause: error });
  }
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
    const message = `${answer}; one of the roles of the chart allows it, see whether it is applied and bound`;
    return failure({ type: 'KubernetesForbidden', message, cause: error, nextRetryDelayMs: FORBIDDEN_RETRY_MS });
  }
  if (code === 429 || code >= 500) {
    const message = `the Kubernetes API cannot answer now (${code}): ${answer}`;
    return unavailable(message, error, retryAfter(error));
  }
  if (code === 404) {
    return unavailable(`not found: ${answer}`, error);
  }
  if (code === 409 || code === 410) {
    return unavailable(`the object changed meanwhile (${code}): ${answer}`, error);
  }
  const message = `the Kubernetes API refuses the request (${code}): ${answer}`;
  return failure({ type: 'InvalidInput', message, nonRetryable: true, cause: error });
}

/** Retried, after `retryAfterMs` if there is one. */
function unavailable(message: string, cause: Error, retryAfterMs?: number): ApplicationFailure {
  return failure({ type: 'KubernetesUnavailable', message, cause, nextRetryDelayMs: retryAfterMs });
}

/** The API server's message about a rejected request, on one line; undefined when there is none. */
export function apiMessage({ body }: ApiException<unknown>): string | undefined {
  return kubernetesMessage(body);
}

function statusOf(error: unknown): KubernetesStatus {
  return error instanceof ApiException ? readKubernetesStatus(error.body) : {};
}

/** Retry-After in milliseconds; the API server sends whole seconds. */
export function retryAfter(error: ApiException<unknown>): number | undefined {
  const seconds = Number(error.headers['retry-after']);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}

/** fetch throws a TypeError for a broken connection, and the signal's own error for a timeout. */
function isConnectionError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return true;
  if (error instanceof TypeError) return error.message === 'fetch failed' || error.message === 'terminated';
  // An operating system error, such as a token file or an exec plugin that is temporarily missing.
  return 'syscall' in error;
}

function connectionReason(error: Error): string {
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

import { isGrpcServiceError } from '@temporalio/client';

/** gRPC's INVALID_ARGUMENT: among others, Temporal returns it for a workflow that has reached its limit of signals. */
const INVALID_ARGUMENT = 3;

/** Whether Temporal would reject the same reconcile request for ever, and not only because it is unavailable. */
export function isHopelessRequest(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isGrpcServiceError(cause)) return false;
  const code: number = cause.code;
  return code === INVALID_ARGUMENT;
}

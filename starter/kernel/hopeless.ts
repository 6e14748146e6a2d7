import { isGrpcServiceError } from '@temporalio/client';

/** gRPC's INVALID_ARGUMENT: Temporal says so of a workflow that has reached its limit of signals, among others. */
const INVALID_ARGUMENT = 3;

/** Whether Temporal would refuse the same reconcile request for ever, and not because it is away. */
export function isHopelessRequest(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!isGrpcServiceError(cause)) return false;
  const code: number = cause.code;
  return code === INVALID_ARGUMENT;
}

import type { GraphQLError } from 'graphql';
import { ApiError } from '../api-error.ts';

/** GitHub's kinds of errors; they stand beside the message, not in its extensions. */
export type FailureType =
  | 'NOT_FOUND'
  | 'STALE_DATA'
  | 'UNPROCESSABLE'
  | 'FORBIDDEN'
  | 'MISSING_PAGINATION_BOUNDARIES'
  | 'EXCESSIVE_PAGINATION'
  | 'BRANCH_PROTECTION_RULE_VIOLATION';

/** A field that cannot be answered: the others of the same request are. */
export class GraphQLFailure extends Error {
  readonly type: FailureType;

  constructor(type: FailureType, message: string) {
    super(message);
    this.type = type;
  }
}

/** An error of the answer as GitHub writes it. */
export function shownError(error: GraphQLError): Record<string, unknown> {
  const type = typeOf(error.originalError);
  return {
    ...(type === undefined ? {} : { type }),
    ...(error.path === undefined ? {} : { path: error.path }),
    ...(error.locations === undefined ? {} : { locations: error.locations }),
    message: error.message,
  };
}

function typeOf(cause: Error | undefined): FailureType | undefined {
  if (cause instanceof GraphQLFailure) return cause.type;
  if (!(cause instanceof ApiError)) return undefined;
  return cause.status === 404 ? 'NOT_FOUND' : cause.status === 403 ? 'FORBIDDEN' : 'UNPROCESSABLE';
}

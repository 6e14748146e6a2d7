import { GraphQLFailure } from './errors.ts';

export interface PageArguments {
  readonly first?: number | null;
  readonly last?: number | null;
  /** The cursor of the page before: how many nodes came so far. */
  readonly after?: string | null;
}

/** GitHub gives no connection of any length, and no page of more than a hundred. */
export function connection(
  name: string,
  all: readonly Readonly<Record<string, unknown>>[],
  { first, last, after }: PageArguments,
): Readonly<Record<string, unknown>> {
  const length = first ?? last ?? null;
  if (length === null) {
    const message = `You must provide a \`first\` or \`last\` value to properly paginate the \`${name}\` connection.`;
    throw new GraphQLFailure('MISSING_PAGINATION_BOUNDARIES', message);
  }
  if (length > 100) {
    const message = `Requesting ${length} records on the \`${name}\` connection exceeds the \`first\` limit of 100 records.`;
    throw new GraphQLFailure('EXCESSIVE_PAGINATION', message);
  }
  const start = first == null ? Math.max(0, all.length - length) : Number(after ?? 0);
  const end = Math.min(start + length, all.length);
  return {
    totalCount: all.length,
    nodes: all.slice(start, end),
    pageInfo: {
      hasNextPage: end < all.length,
      hasPreviousPage: start > 0,
      startCursor: String(start),
      endCursor: String(end),
    },
  };
}

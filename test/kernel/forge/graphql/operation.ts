import { type DocumentNode, getOperationAST, Kind, OperationTypeNode, parse } from 'graphql';

/** What a GraphQL request asks for, as far as its text tells. */
export interface Operation {
  readonly mutates: boolean;
  /** The fields of its root: `createCommitOnBranch`. */
  readonly fields: readonly string[];
}

/** A GraphQL request's body. */
export interface GraphQLRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName: string | undefined;
}

/** Reads a request's body; undefined when it is no JSON object with a query. */
export function requestIn(text: string): GraphQLRequest | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof body !== 'object' || body === null) return undefined;
  const { query, variables, operationName } = body as Record<string, unknown>;
  if (typeof query !== 'string') return undefined;
  return {
    query,
    variables: typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : {},
    operationName: typeof operationName === 'string' ? operationName : undefined,
  };
}

/** What a request asks for; a request that cannot be read asks for nothing and changes nothing. */
export function operationIn(text: string): Operation {
  const nothing = { mutates: false, fields: [] };
  const request = requestIn(text);
  if (!request) return nothing;
  let document: DocumentNode;
  try {
    document = parse(request.query);
  } catch {
    return nothing;
  }
  const operation = getOperationAST(document, request.operationName);
  if (!operation) return nothing;
  const fields = operation.selectionSet.selections.flatMap((selection) =>
    selection.kind === Kind.FIELD ? [selection.name.value] : [],
  );
  return { mutates: operation.operation === OperationTypeNode.MUTATION, fields };
}

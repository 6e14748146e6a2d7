import { buildSchema, type GraphQLSchema } from 'graphql';

let loading: Promise<GraphQLSchema> | undefined;

/** GitHub's published GraphQL schema, read once for the process: building it takes most of a second. */
export function publishedSchema(): Promise<GraphQLSchema> {
  loading ??= (async () => {
    // Read when the first request comes: most runs of a forge never need its megabytes.
    const { schema } = await import('@octokit/graphql-schema');
    return buildSchema(schema.idl, { assumeValidSDL: true });
  })();
  return loading;
}

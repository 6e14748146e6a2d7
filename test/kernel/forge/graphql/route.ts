import { execute, GraphQLError, parse, validate } from 'graphql';
import { ApiError } from '../api-error.ts';
import type { FieldFault } from '../http/faults.ts';
import { type Answer, type Call, ok, type Route } from '../http/route.ts';
import { GraphQLFailure, shownError } from './errors.ts';
import { actor, type GraphQLObject } from './git-objects.ts';
import { branchIn, mutationsOf } from './mutations.ts';
import { nodeObject, repositoryNamed } from './node.ts';
import { repositoryObject } from './objects.ts';
import { operationIn, requestIn } from './operation.ts';
import { publishedSchema } from './schema.ts';

/** GitHub's GraphQL API: requests and answers are held to the published schema by its executor. */
export const graphqlRoute: Route = {
  method: 'POST',
  path: '/graphql',
  docs: 'graphql',
  async handle(call): Promise<Answer> {
    const request = requestIn(call.text);
    if (!request) throw new ApiError(400, 'A query attribute must be specified and must be a string.');
    const schema = await publishedSchema();
    const refused = (errors: readonly GraphQLError[]): Answer => ok({ errors: errors.map(shownError) });
    let document: ReturnType<typeof parse>;
    try {
      document = parse(request.query);
    } catch (cause) {
      if (cause instanceof GraphQLError) return refused([cause]);
      throw cause;
    }
    const invalid = validate(schema, document);
    if (invalid.length > 0) return refused(invalid);
    const branch = branchIn(request.variables);
    const { data, errors } = await execute({
      schema,
      document,
      rootValue: withFault(rootOf(call), call.fieldFault),
      variableValues: request.variables,
      ...(request.operationName === undefined ? {} : { operationName: request.operationName }),
    });
    return {
      ...ok({ ...(data === undefined ? {} : { data }), ...(errors ? { errors: errors.map(shownError) } : {}) }),
      effect: hasEffect(call.text, data, call.fieldFault),
      ...(branch === undefined ? {} : { branch }),
    };
  },
};

/** The fields of `Query` and `Mutation` that the forge answers. Any other is null or an error, as its type wants. */
function rootOf(caller: Call): GraphQLObject {
  const { forge: first, user, credential } = caller;
  const { site } = first;
  return {
    viewer: () => ({ ...actor(first, user), __typename: 'User' }),
    rateLimit: () => {
      const { limit, remaining, used, reset } = site.limits.core(credential);
      return { limit, remaining, used, cost: 1, nodeCount: 0, resetAt: new Date(reset * 1000).toISOString() };
    },
    repository: ({ owner, name }: { owner: string; name: string }) =>
      repositoryObject(repositoryNamed(site, `${owner}/${name}`, caller), caller),
    node: ({ id }: { id: string }) => nodeObject(site, id, caller),
    nodes: ({ ids }: { ids: readonly string[] }) => {
      if (ids.length > 100) {
        throw new GraphQLFailure('EXCESSIVE_PAGINATION', `${ids.length} ids are more than the 100 that are allowed.`);
      }
      return ids.map(async (id) => await nodeObject(site, id, caller));
    },
    ...mutationsOf(site, caller),
  };
}

/** The fields with one that goes wrong by itself: before or after its effect, and the others as they are. */
function withFault(root: GraphQLObject, fault: FieldFault | undefined): GraphQLObject {
  if (fault === undefined) return root;
  const { field, type, message, after } = fault;
  const resolve = root[field] as (args: unknown) => unknown;
  const failing = async (args: unknown): Promise<never> => {
    if (after === true) await resolve(args);
    throw type === undefined ? new Error(message) : new GraphQLFailure(type, message);
  };
  return { ...root, [field]: failing };
}

/** Whether a mutation changed something: a field that has an answer did, whatever became of the others. */
function hasEffect(text: string, data: unknown, fault: FieldFault | undefined): boolean {
  if (!operationIn(text).mutates) return false;
  return fault?.after === true || Object.values(data ?? {}).some((field) => field !== null);
}

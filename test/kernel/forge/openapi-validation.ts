import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';

/** A request and its answer, as they went over the wire. */
export interface Exchange {
  readonly method: string;
  /** The path template in the description. */
  readonly template: string;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly requestBody: unknown;
  readonly status: number;
  readonly contentType: string;
  readonly responseBody: unknown;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema?: object;
}

interface Media {
  readonly schema?: object;
}

interface Operation {
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

interface CompiledOperation {
  readonly parameters: readonly { readonly parameter: Parameter; readonly valid: ValidateFunction | undefined }[];
  readonly requestBody: { readonly required: boolean; readonly valid: ValidateFunction } | undefined;
  /** The fields that a request body may have, where the description lists them all. */
  readonly knownFields: ReadonlySet<string> | undefined;
  readonly responses: ReadonlyMap<number, ValidateFunction | undefined>;
}

// GitHub answers these on every endpoint, described there or not: no JSON, bad credentials, limits, and what is not there.
const EVERYWHERE = new Set([400, 401, 403, 404, 429]);

// GitHub answers these with 422 for a commit that it cannot find or a field that is wrong, and does not describe it.
const UNDESCRIBED_422 = new Set([
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls',
  'POST /repos/{owner}/{repo}/check-runs',
  'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}',
  'POST /repos/{owner}/{repo}/statuses/{sha}',
]);

const BASIC_ERROR = {
  type: 'object',
  required: ['message', 'documentation_url'],
  properties: { message: { type: 'string' }, documentation_url: { type: 'string' }, status: { type: 'string' } },
};

/**
 * Checks exchanges against GitHub's published OpenAPI description. It is read when the first exchange comes, and the
 * schemas of an operation are compiled when it is first used.
 */
export class OpenApiValidation {
  /** One sentence for every exchange that is not as described. */
  readonly violations: string[] = [];
  readonly #compiled = new Map<string, CompiledOperation | undefined>();

  /** Checks one exchange; what is wrong with it is added to `violations`. */
  async check(exchange: Exchange): Promise<void> {
    const name = `${exchange.method} ${exchange.template}`;
    const description = await describedOperations();
    if (!this.#compiled.has(name)) {
      const operation = operationOf(description, exchange);
      this.#compiled.set(name, operation && compile(description, operation));
    }
    const operation = this.#compiled.get(name);
    if (!operation) {
      this.violations.push(`${name}: GitHub has no such operation`);
      return;
    }
    // A request that is wrong and refused is as it should be; one that is wrong and accepted is not.
    if (exchange.status < 400) this.#checkRequest(name, operation, exchange);
    if (exchange.status < 500) this.#checkResponse(name, operation, exchange);
  }

  #checkRequest(name: string, operation: CompiledOperation, exchange: Exchange): void {
    const { parameters, requestBody, knownFields } = operation;
    for (const { parameter, valid } of parameters) {
      const text =
        parameter.in === 'path'
          ? exchange.params[parameter.name]
          : (exchange.url.searchParams.get(parameter.name) ?? undefined);
      // The forge's templates leave out a trailing parameter where GitHub allows it to be empty.
      if (text !== undefined && valid && !accepts(valid, text)) {
        this.#add(name, `parameter ${parameter.name} = ${JSON.stringify(text)}`, valid.errors);
      }
      if (text === undefined && parameter.required && parameter.in === 'query') {
        this.violations.push(`${name}: the query parameter ${parameter.name} is missing`);
      }
    }
    const names = new Set(
      parameters.filter(({ parameter }) => parameter.in === 'query').map((one) => one.parameter.name),
    );
    for (const given of exchange.url.searchParams.keys()) {
      if (!names.has(given)) this.violations.push(`${name}: GitHub knows no query parameter ${given}`);
    }
    const body = exchange.requestBody;
    if (body === undefined) {
      if (requestBody?.required) this.violations.push(`${name}: the request has no body`);
    } else if (requestBody && !requestBody.valid(body)) {
      this.#add(name, 'request body', requestBody.valid.errors);
    }
    if (knownFields && typeof body === 'object' && body !== null && !Array.isArray(body)) {
      for (const field of Object.keys(body)) {
        if (!knownFields.has(field))
          this.violations.push(`${name}: GitHub knows no field ${field} in the request body`);
      }
    }
  }

  #checkResponse(name: string, operation: CompiledOperation, exchange: Exchange): void {
    const { status, responseBody, contentType } = exchange;
    if (!operation.responses.has(status)) {
      if (!EVERYWHERE.has(status) && !(status === 422 && UNDESCRIBED_422.has(name))) {
        this.violations.push(`${name}: GitHub describes no answer ${status}`);
        return;
      }
      if (!basicError(responseBody)) this.#add(name, `${status} answer`, basicError.errors);
      return;
    }
    const valid = operation.responses.get(status);
    if (!valid || !contentType.includes('application/json')) return;
    if (!valid(responseBody)) this.#add(name, `${status} answer`, valid.errors);
  }

  #add(name: string, what: string, errors: readonly ErrorObject[] | null | undefined): void {
    const reasons = (errors ?? []).slice(0, 5).map((error) => `${error.instancePath || '/'} ${error.message}`);
    this.violations.push(`${name}: ${what}: ${reasons.join('; ')}`);
  }
}

const newAjv = (): Ajv => {
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false, validateSchema: false, coerceTypes: false });
  formats.default(ajv);
  return ajv;
};

const basicError = newAjv().compile(BASIC_ERROR);

let loading: Promise<Description> | undefined;

/** The description, read once for the process. */
function describedOperations(): Promise<Description> {
  loading ??= (async () => {
    const require = createRequire(import.meta.url);
    const path = require.resolve('@octokit/openapi/generated/api.github.com.json');
    return JSON.parse(await readFile(path, 'utf8')) as Description;
  })();
  return loading;
}

function operationOf(description: Description, { method, template }: Exchange): Operation | undefined {
  // The address of a folder may end in a slash or not; the description has it with a path only.
  const path = template.replace(/\/contents\/?$/, '/contents/{path}');
  return description.paths[path]?.[method.toLowerCase()];
}

function compile(description: Description, operation: Operation): CompiledOperation {
  const schemas = new SchemaCompiler(description);
  const body = operation.requestBody && (follow(description, operation.requestBody) as { required?: boolean });
  const bodySchema = body && jsonSchema(body);
  return {
    parameters: (operation.parameters ?? []).map((one) => {
      const parameter = follow(description, one) as Parameter;
      return { parameter, valid: parameter.schema && schemas.compile(parameter.schema) };
    }),
    requestBody: bodySchema && { required: body.required === true, valid: schemas.compile(bodySchema) },
    knownFields: bodySchema && fieldsOf(follow(description, bodySchema)),
    responses: new Map(
      Object.entries(operation.responses).map(([status, response]) => {
        const schema = jsonSchema(follow(description, response));
        return [Number(status), schema && schemas.compile(schema)];
      }),
    ),
  };
}

/** Turns the description's OpenAPI 3.0 schemas into JSON Schema and compiles them, each with what it refers to. */
class SchemaCompiler {
  readonly #description: Description;
  readonly #ajv = newAjv();

  constructor(description: Description) {
    this.#description = description;
  }

  compile(schema: object): ValidateFunction {
    const definitions = new Map<string, unknown>();
    const root = this.#convert(schema, definitions) as object;
    return this.#ajv.compile({ ...root, $defs: Object.fromEntries(definitions) });
  }

  #convert(schema: unknown, definitions: Map<string, unknown>): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.#convert(item, definitions));
    if (typeof schema !== 'object' || schema === null) return schema;
    const source = schema as Record<string, unknown>;
    if (typeof source['$ref'] === 'string') {
      const name = source['$ref'].replace(/\W+/g, '_');
      if (!definitions.has(name)) {
        // Set before it is converted: a schema may refer to itself.
        definitions.set(name, true);
        definitions.set(name, this.#convert(follow(this.#description, source), definitions));
      }
      return { $ref: `#/$defs/${name}` };
    }
    const result: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(source)) {
      if (key === 'properties') {
        result[key] = Object.fromEntries(
          Object.entries(value as object).map(([name, one]) => [name, this.#convert(one, definitions)]),
        );
      } else if (key === 'oneOf') {
        // Several of GitHub's alternatives overlap, so that a real answer fits more than one of them.
        result['anyOf'] = this.#convert(value, definitions);
      } else if (key === 'enum') {
        result[key] = value;
      } else if (!['nullable', 'discriminator', 'example', 'examples', 'description', 'title', 'xml'].includes(key)) {
        result[key] = this.#convert(value, definitions);
      }
    }
    return source['nullable'] === true ? { anyOf: [result, { type: 'null' }] } : result;
  }
}

/** What a reference stands for; anything else is returned as it is. */
function follow(description: Description, value: object): object {
  const reference = (value as { $ref?: unknown }).$ref;
  if (typeof reference !== 'string') return value;
  let target: unknown = description;
  for (const part of reference.slice(2).split('/')) {
    target = (target as Record<string, unknown>)[part.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return follow(description, target as object);
}

function jsonSchema(holder: object): object | undefined {
  return (holder as { content?: Record<string, Media> }).content?.['application/json']?.schema;
}

function fieldsOf(schema: object): ReadonlySet<string> | undefined {
  const { properties, oneOf, anyOf, allOf } = schema as Record<string, unknown>;
  if (typeof properties !== 'object' || properties === null || oneOf || anyOf || allOf) return undefined;
  return new Set(Object.keys(properties));
}

/** Whether a text from an address is a value of the schema: as a text, a number or a boolean. */
function accepts(valid: ValidateFunction, text: string): boolean {
  if (valid(text)) return true;
  if (/^-?\d+$/.test(text) && valid(Number(text))) return true;
  return (text === 'true' || text === 'false') && valid(text === 'true');
}

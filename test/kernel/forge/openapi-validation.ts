import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import type { Message } from './webhooks/delivery.ts';

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
  /** By event and action: `pull-request-opened`. */
  readonly 'x-webhooks': Readonly<Record<string, Readonly<Record<string, Operation>>>>;
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
 * Checks exchanges, and the payloads of webhooks, against GitHub's published OpenAPI description. It is read when the
 * first exchange comes, and the schemas of an operation are compiled when it is first used.
 */
export class OpenApiValidation {
  /** One sentence for every exchange that is not as described. */
  readonly violations: string[] = [];
  readonly #described: DescriptionName;

  constructor(described: DescriptionName = 'api.github.com') {
    this.#described = described;
  }

  /** Checks one exchange; what is wrong with it is added to `violations`. */
  async check(exchange: Exchange): Promise<void> {
    const name = `${exchange.method} ${exchange.template}`;
    const operation = (await described(this.#described)).operation(exchange);
    if (!operation) {
      this.violations.push(`${name}: GitHub has no such operation`);
      return;
    }
    // A request that is wrong and refused is as it should be; one that is wrong and accepted is not.
    if (exchange.status < 400) this.#checkRequest(name, operation, exchange);
    if (exchange.status < 500) this.#checkResponse(name, operation, exchange);
  }

  /** Checks the payload of a webhook; what is wrong with it is added to `violations`. */
  async checkWebhook({ event, action, payload }: Message): Promise<void> {
    const name = [event, action]
      .filter((part) => part !== null)
      .join('-')
      .replaceAll('_', '-');
    const key = `webhook ${name}`;
    const valid = (await described(this.#described)).webhook(name);
    if (!valid) this.violations.push(`${key}: GitHub has no such webhook`);
    else if (!valid(JSON.parse(JSON.stringify(payload)))) this.#add(key, 'payload', valid.errors);
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
      parameters.filter(({ parameter }) => parameter.in === 'query').map((query) => query.parameter.name),
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
  const ajv = new Ajv({
    strict: false,
    allErrors: false,
    logger: false,
    validateSchema: false,
    coerceTypes: false,
    // Most of the functions run a few times: what they could be faster by costs more than it saves.
    code: { optimize: false },
  });
  formats.default(ajv);
  // The addresses that GitHub itself gives to apps have brackets, `1+headroom[bot]@users.noreply.github.com`, which no
  // e-mail address may have.
  const email = ajv.formats['email'];
  if (!(email instanceof RegExp)) throw new Error('the format of e-mail addresses is no regular expression');
  ajv.addFormat('email', (text: string) => email.test(text.replace('[bot]@', '@')));
  return ajv;
};

const basicError = newAjv().compile(BASIC_ERROR);

/** Which of GitHub's descriptions: that of github.com, or that of a GitHub Enterprise Server. */
export type DescriptionName = 'api.github.com' | 'ghes-3.19';

/** A description with what was compiled of it so far; a process reads and compiles each part once. */
class Described {
  readonly #description: Description;
  readonly #schemas: SchemaCompiler;
  readonly #operations = new Map<string, CompiledOperation | undefined>();
  readonly #webhooks = new Map<string, ValidateFunction | undefined>();

  constructor(description: Description) {
    this.#description = description;
    this.#schemas = new SchemaCompiler(description);
  }

  operation(exchange: Exchange): CompiledOperation | undefined {
    const name = `${exchange.method} ${exchange.template}`;
    if (!this.#operations.has(name)) {
      const operation = operationOf(this.#description, exchange);
      this.#operations.set(name, operation && compile(this.#description, this.#schemas, operation));
    }
    return this.#operations.get(name);
  }

  /** The schema of a webhook's payload by event and action: `pull-request-opened`. */
  webhook(name: string): ValidateFunction | undefined {
    if (!this.#webhooks.has(name)) {
      const body = this.#description['x-webhooks'][name]?.['post']?.requestBody;
      const schema = body && jsonSchema(body);
      this.#webhooks.set(name, schema && this.#schemas.compile(schema));
    }
    return this.#webhooks.get(name);
  }
}

const require = createRequire(import.meta.url);

const descriptionFiles: Readonly<Record<DescriptionName, string>> = {
  'api.github.com': require.resolve('@octokit/openapi/generated/api.github.com.json'),
  'ghes-3.19': require.resolve('@octokit/openapi/generated/ghes-3.19.json'),
};

const loading = new Map<DescriptionName, Promise<Described>>();

function described(name: DescriptionName): Promise<Described> {
  const existing = loading.get(name);
  if (existing) return existing;
  const read = (async () => {
    return new Described(JSON.parse(await readFile(descriptionFiles[name], 'utf8')) as Description);
  })();
  loading.set(name, read);
  return read;
}

function operationOf(description: Description, { method, template }: Exchange): Operation | undefined {
  // The address of a folder may end in a slash or not; the description has it with a path only.
  const path = template.replace(/\/contents\/?$/, '/contents/{path}');
  return description.paths[path]?.[method.toLowerCase()];
}

function compile(description: Description, schemas: SchemaCompiler, operation: Operation): CompiledOperation {
  const body = operation.requestBody && (follow(description, operation.requestBody) as { required?: boolean });
  const bodySchema = body && jsonSchema(body);
  return {
    parameters: (operation.parameters ?? []).map((declared) => {
      const parameter = follow(description, declared) as Parameter;
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

/**
 * Turns the description's OpenAPI 3.0 schemas into JSON Schema and compiles them. What schemas refer to is compiled once
 * for all of them: an answer with a pull request refers to half of the description.
 */
class SchemaCompiler {
  readonly #description: Description;
  readonly #ajv = newAjv();
  readonly #converted = new Set<string>();

  constructor(description: Description) {
    this.#description = description;
  }

  compile(schema: object): ValidateFunction {
    return this.#ajv.compile(this.#convert(schema) as object);
  }

  #convert(schema: unknown): unknown {
    if (Array.isArray(schema)) return schema.map((item) => this.#convert(item));
    if (typeof schema !== 'object' || schema === null) return schema;
    const source = schema as Record<string, unknown>;
    if (typeof source['$ref'] === 'string') {
      const name = source['$ref'].replace(/\W+/g, '_');
      if (!this.#converted.has(name)) {
        // Known before it is converted: a schema may refer to itself.
        this.#converted.add(name);
        this.#ajv.addSchema(this.#convert(follow(this.#description, source)) as object, name);
      }
      return { $ref: name };
    }
    const result: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(source)) {
      if (key === 'properties') {
        result[key] = Object.fromEntries(
          Object.entries(value as object).map(([name, nested]) => [name, this.#convert(nested)]),
        );
      } else if (key === 'oneOf' || (key === 'allOf' && isUserOrEnterprise(value))) {
        // Several of GitHub's alternatives overlap, so that a real answer fits more than one of them.
        result['anyOf'] = this.#convert(value);
      } else if (key === 'enum') {
        result[key] = value;
      } else if (!['nullable', 'discriminator', 'example', 'examples', 'description', 'title', 'xml'].includes(key)) {
        result[key] = this.#convert(value);
      }
    }
    return source['nullable'] === true ? { anyOf: [result, { type: 'null' }] } : result;
  }
}

/** The account of a listed installation: described as a user and an enterprise at once, where each is one of them. */
function isUserOrEnterprise(value: unknown): boolean {
  const titles = Array.isArray(value) ? value.map((alternative: { title?: unknown }) => alternative.title) : [];
  return titles.join() === 'Simple User,Enterprise';
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

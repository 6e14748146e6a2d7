/** The schemas of custom resources, generated from zod types. */
import { z } from 'zod';

/** A part of a JSON schema, as zod generates it and Kubernetes accepts it. */
export interface Schema {
  readonly [keyword: string]: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

/** An entry of `x-kubernetes-validations`. */
export interface Rule {
  /** A CEL expression; `self` is the value at the rule's place. */
  readonly rule: string;
  /** What would be right; the API server adds the place and the value. */
  readonly message: string;
}

/** Additions for Kubernetes, by path: `spec.exceptions[].from`. */
export type SchemaAdditions = Readonly<Record<string, Schema>>;

/** Keywords that zod generates and a structural schema does not allow. */
const UNSUPPORTED_KEYWORDS: ReadonlySet<string> = new Set(['$schema', 'propertyNames']);

/** zod limits every integer to what a double holds exactly; Kubernetes' integers need no such bounds. */
function isSafetyBound(keyword: string, value: unknown): boolean {
  return (
    (keyword === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
    (keyword === 'minimum' && value === Number.MIN_SAFE_INTEGER)
  );
}

/** `z.union([z.int(), z.string()])` in the one form that Kubernetes has for it; undefined for any other schema. */
function intOrString({ anyOf, ...keywords }: Schema): Schema | undefined {
  if (!Array.isArray(anyOf)) return undefined;
  const parts = anyOf as readonly Schema[];
  if (parts.map(({ type }) => type).join() !== 'integer,string') return undefined;
  const pattern = parts[1]?.['pattern'];
  return {
    ...keywords,
    'x-kubernetes-int-or-string': true,
    anyOf: [{ type: 'integer' }, { type: 'string' }],
    ...(pattern === undefined ? {} : { pattern }),
  };
}

/** Converts zod's schema to a structural schema, with the additions at each path. */
function structural(schema: Schema, path: string, additions: SchemaAdditions, added: Set<string>): Schema {
  const addition = additions[path];
  if (addition !== undefined) added.add(path);
  const { properties, items, additionalProperties, ...keywords } = intOrString(schema) ?? schema;
  const inner = (part: Schema, place: string): Schema => structural(part, `${path}${place}`, additions, added);
  const kept = Object.entries(keywords).filter(
    ([keyword, value]) => !UNSUPPORTED_KEYWORDS.has(keyword) && !isSafetyBound(keyword, value),
  );
  return {
    ...Object.fromEntries(kept),
    ...addition,
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, part]) => [name, inner(part, `.${name}`)]),
          ),
        }),
    // Beside `properties`, Kubernetes takes none: fields that are not listed are pruned.
    ...(additionalProperties === undefined || properties !== undefined
      ? {}
      : { additionalProperties: inner(additionalProperties as Schema, '{}') }),
    ...(items === undefined ? {} : { items: inner(items, '[]') }),
  };
}

/**
 * The schemas of the parts of an object, such as its spec and status.
 *
 * @param what the object, for the error.
 * @throws Error for an addition at a path without a field.
 */
export function structuralSchemas<Part extends string>(
  what: string,
  types: Readonly<Record<Part, z.ZodType>>,
  additions: SchemaAdditions,
): Readonly<Record<Part, Schema>> {
  const added = new Set<string>();
  const parts = Object.entries<z.ZodType>(types).map(([part, type]) => {
    // The schema of the input: a field with a default is optional.
    const read = z.toJSONSchema(type, { io: 'input' }) as Schema;
    return [part, structural(read, part, additions, added)] as const;
  });
  const lost = Object.keys(additions).filter((path) => !added.has(path));
  if (lost.length > 0) throw new Error(`${what} has no ${lost.join(' and no ')}`);
  return Object.fromEntries(parts) as Record<Part, Schema>;
}

/** Which keys of a case nobody reads: a case that has one is not judged by the others. */
import * as z from 'zod';

type Issue = z.core.$ZodIssue;

function at(path: readonly PropertyKey[]): string {
  return path.map((part) => (typeof part === 'number' ? '[]' : `.${String(part)}`)).join('');
}

/** The keys that a strict schema does not have, as `.pods[].colour`; none where something else is wrong. */
export function unknownKeys(issues: readonly Issue[], parent: readonly PropertyKey[] = []): readonly string[] {
  return issues.flatMap((issue) => {
    const path = [...parent, ...issue.path];
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => at([...path, key]));
    if (issue.code === 'invalid_key') return [at(path)];
    return issue.code === 'invalid_union' ? unknownToAll(issue.errors, path) : [];
  });
}

/** A union knows a key that one of its members knows. A member of another type, such as a text, knows nothing of keys. */
function unknownToAll(members: readonly (readonly Issue[])[], path: readonly PropertyKey[]): readonly string[] {
  const objects = members.filter((issues) => !issues.some(isOfOtherType));
  const unknown = objects.map((issues) => unknownKeys(issues, path));
  return unknown.toSorted((a, b) => a.length - b.length)[0] ?? [];
}

function isOfOtherType({ code, path }: Issue): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema inside of what only adds a default, a null or a transformation. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return unwrapped(schema.unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrapped(schema.in) : schema;
}

function undeclared(
  schema: z.core.$ZodType,
  value: unknown,
  path: readonly PropertyKey[],
): readonly (readonly PropertyKey[])[] {
  const type = unwrapped(schema);
  if (type instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => undeclared(type.element, item, [...path, index]));
  }
  if (type instanceof z.ZodRecord && isRecord(value)) {
    return Object.entries(value).flatMap(([key, part]) => undeclared(type.valueType, part, [...path, key]));
  }
  if (!(type instanceof z.ZodObject) || !isRecord(value)) return [];
  return Object.entries(value).flatMap(([key, part]) => {
    const declared: z.core.$ZodType | undefined = type.shape[key];
    if (declared !== undefined) return undeclared(declared, part, [...path, key]);
    // Headroom hands on whole what a loose object has.
    return type.def.catchall instanceof z.ZodUnknown ? [] : [[...path, key]];
  });
}

/** Any value, right or wrong, but for keys that nobody knows, given by their paths. */
export function withoutUnknown<T>(unknown: (value: T) => readonly (readonly PropertyKey[])[]): z.ZodType<T, T> {
  return z.custom<T>().superRefine((value, context) => {
    for (const path of unknown(value)) {
      const keys = path.slice(-1).map(String);
      context.addIssue({ code: 'unrecognized_keys', keys, path: path.slice(0, -1) });
    }
  });
}

/** What Headroom reads by this type of its own: what is wrong with it is Headroom's to say, and not the adapter's. */
export function keysOf<T extends z.ZodType>(type: T): z.ZodType<z.input<T>, z.input<T>> {
  return withoutUnknown((value) => undeclared(type, value, []));
}

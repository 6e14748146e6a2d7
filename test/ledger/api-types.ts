/** The types of the API as the API server describes them (OpenAPI v3). */
import * as z from 'zod';

export interface ApiField {
  /** The type of the field, or of its items; null for a plain value. */
  readonly type: string | null;
  /** All values that it may have; empty where there is no list of them. */
  readonly values: readonly string[];
}

/** The fields of each type that has some, by the type's short name, such as `core.v1.PodSpec`. */
export type ApiTypes = ReadonlyMap<string, Readonly<Record<string, ApiField>>>;

interface Schema {
  readonly enum?: readonly string[] | undefined;
  readonly $ref?: string | undefined;
  readonly allOf?: readonly Schema[] | undefined;
  readonly items?: Schema | undefined;
  readonly additionalProperties?: Schema | boolean | undefined;
  readonly properties?: Readonly<Record<string, Schema>> | undefined;
}

const schema: z.ZodType<Schema> = z.lazy(() =>
  z.object({
    enum: z.array(z.string()).optional(),
    $ref: z.string().optional(),
    allOf: z.array(schema).optional(),
    items: schema.optional(),
    additionalProperties: z.union([z.boolean(), schema]).optional(),
    properties: z.record(z.string(), schema).optional(),
  }),
);
const document = z.object({
  components: z.object({
    schemas: z.record(
      z.string(),
      z.intersection(
        schema,
        z.object({
          'x-kubernetes-group-version-kind': z
            .array(z.object({ group: z.string(), version: z.string(), kind: z.string() }))
            .optional(),
        }),
      ),
    ),
  }),
});

export interface ApiDocument {
  readonly types: ApiTypes;
  /** The type of a kind; undefined where the document has none. */
  readonly typeOfKind: (kind: {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }) => string | undefined;
}

/** Reads what the API server says of a group and version. */
export function readApi(text: unknown): ApiDocument {
  const { schemas } = document.parse(text).components;
  const types = new Map(
    Object.entries(schemas).flatMap(([name, { properties }]) =>
      properties === undefined
        ? []
        : [
            [
              shortName(name),
              Object.fromEntries(Object.entries(properties).map(([field, of]) => [field, fieldOf(of, schemas)])),
            ] as const,
          ],
    ),
  );
  return {
    types,
    typeOfKind: ({ group, version, kind }) => {
      const found = Object.entries(schemas).find(([, { 'x-kubernetes-group-version-kind': kinds = [] }]) =>
        kinds.some((one) => one.group === group && one.version === version && one.kind === kind),
      );
      return found === undefined ? undefined : shortName(found[0]);
    },
  };
}

function fieldOf(of: Schema, schemas: Readonly<Record<string, Schema>>): ApiField {
  const { $ref, enum: values = [] } = innermost(of);
  const name = $ref?.split('/').at(-1);
  return { type: name === undefined || schemas[name]?.properties === undefined ? null : shortName(name), values };
}

/** Of a list or a map, its items. */
function innermost(of: Schema): Schema {
  const { allOf, items, additionalProperties: map } = of;
  const inner = allOf?.[0] ?? items ?? (typeof map === 'object' ? map : undefined);
  return inner === undefined ? of : innermost(inner);
}

/** `io.k8s.api.core.v1.PodSpec` is `core.v1.PodSpec`. */
function shortName(name: string): string {
  return name.split('.').slice(-3).join('.');
}

import type { z } from 'zod';

/** A field that an object of Kubernetes may leave out, or write as null. */
export function optionalField<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

import { z } from 'zod';
import { optionalField } from './optional-field.ts';

/** The object, a GitRepository for one, that a Flux object takes its files from. */
export const fluxSourceRef = optionalField(
  z.object({ kind: z.string(), name: z.string(), namespace: optionalField(z.string()) }),
);

export type FluxSourceRef = NonNullable<z.infer<typeof fluxSourceRef>>;
